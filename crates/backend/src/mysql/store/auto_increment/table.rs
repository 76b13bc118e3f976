//! Tables of the `mysql-auto-increment` store: names, permitted keys, and creation.

use sequent_core::{Condition, ErrorKind, Key, SourceError};

use crate::{
    mysql::{connection::Connection, tables::quoted},
    net::{Cause, Fault},
};

/// The longest table name of MySQL and MariaDB, in characters.
const NAME_LENGTH_MAX: usize = 64;

/// The longest suffix, in characters.
const SUFFIX_LENGTH_MAX: usize = 16;

/// Names of a store's tables, and whether missing ones may be created.
pub(super) struct TableNames {
    suffix: String,
    create: bool,
}

/// The table of one key.
pub(super) struct KeyTable {
    name: String,
    sql: String,
    create: bool,
}

impl TableNames {
    /// Names that end with `_code_<suffix>`.
    pub(super) fn new(suffix: &str, create: bool) -> Result<Self, SourceError> {
        let sound = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if suffix.len() > SUFFIX_LENGTH_MAX || !suffix.chars().all(sound) {
            let context = format!(
                "suffix of tables is {suffix:?}: at most {SUFFIX_LENGTH_MAX} of A-Z a-z 0-9 _ are allowed"
            );
            return Err(SourceError::new(ErrorKind::Refused, context));
        }
        Ok(Self { suffix: suffix.to_owned(), create })
    }

    /// The table of a key. An error concerns this key alone, and callers do not try it again.
    pub(super) fn of(&self, connection: &Connection, key: &Key) -> Result<KeyTable, SourceError> {
        let name = self.name(key, connection.settings().folds_names())?;
        Ok(KeyTable { sql: quoted(&name), name, create: self.create })
    }

    /// The name of a key's table, if the key can be part of one.
    pub(super) fn name(&self, key: &Key, folded: bool) -> Result<String, SourceError> {
        self.built(key, folded).map_err(|why| {
            let context = format!(
                "key {key} can't be held by mysql-auto-increment, which has a table a key: {why}; mysql-row and \
                 mysql-segment can"
            );
            SourceError::new(ErrorKind::Exhausted, context)
        })
    }

    fn built(&self, key: &Key, folded: bool) -> Result<String, String> {
        let owner = key.sequence();
        // After a resize, the key contains the generation of the layout, and so does the table's name.
        let generation = match key.as_str().strip_prefix(owner) {
            None | Some("") => String::new(),
            Some(rest) => {
                match rest.strip_prefix("|~").filter(|generation| generation.parse::<u64>().is_ok()) {
                    Some(generation) => format!("_{generation}"),
                    None => return Err("it has a period or partitions".to_owned()),
                }
            }
        };
        let sound = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ':' | '-');
        if let Some(found) = owner.chars().find(|c| !sound(*c)) {
            return Err(format!("{found:?} is not allowed in its name"));
        }
        if folded && owner.chars().any(|c| c.is_ascii_uppercase()) {
            return Err("the server folds capitals in names of tables".to_owned());
        }
        let name = format!("{owner}_code_{}{generation}", self.suffix);
        if name.len() > NAME_LENGTH_MAX {
            let length = name.len();
            return Err(format!(
                "its table's name would have {length} characters, at most {NAME_LENGTH_MAX} are allowed"
            ));
        }
        Ok(name)
    }
}

impl KeyTable {
    /// The table's name, for operators.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The table's name, quoted for SQL.
    pub(super) fn sql(&self) -> &str {
        &self.sql
    }

    /// Reads the highest id through fence and anchor: `(k, epoch)`.
    pub(super) fn highest_of_epoch(&self) -> String {
        format!(
            "SELECT (SELECT MAX(m.id) FROM {table} m) FROM sequent_cells c JOIN {table} a ON a.id = c.v \
            WHERE c.k = ? AND c.epoch = ? AND c.open = 1",
            table = self.sql
        )
    }

    /// Reads the highest id, with or without an anchor.
    pub(super) fn highest_of_all(&self) -> String {
        format!("SELECT COALESCE(MAX(id), 0) FROM {}", self.sql)
    }

    /// Creates the table. A new one begins above its first anchor.
    pub(super) async fn make(&self, connection: &mut Connection) -> Result<(), Fault> {
        if !self.create {
            let cause = Cause::from(format!("table {} is missing, and none may be made", self.name));
            return Err(Fault::refused(cause.with(Condition::NeverMade)));
        }
        let sql = format!(
            "CREATE TABLE IF NOT EXISTS {} (
                id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
                f TINYINT NOT NULL,
                generate_time DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3)
            ) ENGINE = InnoDB",
            self.sql
        );
        connection.text(&sql).await?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_bounded_and_keys_without_one_are_told_why() {
        let tables = TableNames::new("3", true).unwrap();
        let name = |key: &str, folded| tables.name(&Key::from_stored(key), folded);
        assert_eq!(name("shop.Order:x-1", false).unwrap(), "shop.Order:x-1_code_3");
        assert_eq!(name("order|~2", false).unwrap(), "order_code_3_2");
        assert_eq!(name(&"x".repeat(57), false).unwrap().len(), NAME_LENGTH_MAX);
        for (key, folded) in [
            ("order|8:20170304", false),
            ("order|0:|3:010", false),
            ("or der", false),
            ("or`der", false),
            ("单号", false),
            ("Order", true),
        ] {
            assert!(name(key, folded).is_err(), "{key}");
        }
        assert!(name(&"x".repeat(58), false).is_err());
        assert!(TableNames::new("a`b", true).is_err());
        assert!(TableNames::new(&"x".repeat(17), true).is_err());
    }
}
