//! Tables of the `mysql-auto-increment` store: names, permitted keys, and the statements that read them.

use sequent_core::{ErrorKind, Key, SlotIndex, SourceError};

use crate::{
    mysql::{connection::Connection, tables::quoted},
    net::{CodeTables, ServerOptions, SlotTables, TableFormat},
};

/// The longest table name of MySQL and MariaDB, in characters.
const NAME_LENGTH_MAX: usize = 64;

/// Names of a slot's tables, and what may be done to them.
pub(super) struct KeyTables {
    pub(super) slot: SlotIndex,
    pub(super) create: bool,
    pub(super) settings: CodeTables,
    ring: Option<SlotTables>,
}

/// The table of one key.
pub(super) struct KeyTable<'a> {
    /// The tables that it is among.
    pub(super) tables: &'a KeyTables,
    pub(super) key: &'a Key,
    /// The table's name without its database.
    pub(super) bare_name: String,
    /// The table's name, quoted for SQL.
    pub(super) sql: String,
}

impl KeyTables {
    pub(super) fn new(slot: SlotIndex, options: &ServerOptions) -> Self {
        let (settings, ring) = (options.code_tables.clone(), options.slot_tables.clone());
        Self { slot, create: options.create, settings, ring }
    }

    /// The tables of the ring's slots, if tables of another program may count.
    pub(super) fn adopting_ring(&self) -> Option<&SlotTables> {
        self.ring.as_ref().filter(|_| self.settings.adopt)
    }

    /// The table of a key. An error concerns this key alone, and callers do not try it again.
    pub(super) fn of<'a>(
        &'a self,
        connection: &Connection,
        key: &'a Key,
    ) -> Result<KeyTable<'a>, SourceError> {
        let bare_name = self.name(key, connection.settings.folds_names())?;
        let sql = match self.settings.names.database() {
            Some(database) => format!("{}.{}", quoted(database), quoted(&bare_name)),
            None => quoted(&bare_name),
        };
        Ok(KeyTable { tables: self, key, bare_name, sql })
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
            None | Some("") => None,
            Some(rest) => {
                match rest.strip_prefix("|~").filter(|generation| generation.parse::<u64>().is_ok()) {
                    Some(generation) => Some(generation),
                    None => return Err("it has a period or partitions".to_owned()),
                }
            }
        };
        let sound = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ':' | '-');
        if let Some(found) = owner.chars().find(|c| !sound(*c)) {
            return Err(format!("{found:?} is not allowed in its name"));
        }
        let names: &TableFormat = &self.settings.names;
        let name = names.table(owner, self.slot, generation);
        if folded && name.chars().any(|c| c.is_ascii_uppercase()) {
            return Err("the server folds capitals in names of tables".to_owned());
        }
        if name.len() > NAME_LENGTH_MAX {
            let length = name.len();
            return Err(format!(
                "its table's name would have {length} characters, at most {NAME_LENGTH_MAX} are allowed"
            ));
        }
        Ok(name)
    }
}

impl KeyTable<'_> {
    /// The database that it is in; `None`: the connection's own.
    pub(super) fn database(&self) -> Option<&str> {
        self.tables.settings.names.database()
    }

    /// The table's name, for operators.
    pub(super) fn name(&self) -> String {
        match self.database() {
            Some(database) => format!("{database}.{}", self.bare_name),
            None => self.bare_name.clone(),
        }
    }

    /// Reads the highest id through fence and anchor: `(k, epoch)`.
    pub(super) fn highest_of_epoch(&self) -> String {
        format!(
            "SELECT (SELECT MAX(m.id) FROM {table} m) FROM sequent_cells c JOIN {table} a ON a.id = c.v \
            WHERE c.k = ? AND c.epoch = ? AND c.open = 1",
            table = self.sql
        )
    }

    /// Reads the highest id, with or without an anchor; NULL in an empty table. COALESCE of an unsigned id and 0 would be a
    /// decimal.
    pub(super) fn highest_of_all(&self) -> String {
        format!("SELECT MAX(id) FROM {}", self.sql)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_bounded_and_keys_without_one_are_told_why() {
        let options = ServerOptions::from_url("mysql://shop@db/shop").unwrap();
        let tables = KeyTables::new(3, &options);
        let name = |key: &str, folded| tables.name(&Key::from_stored(key), folded);
        assert_eq!(name("shop.Order:x-1", false).unwrap(), "shop.Order:x-1_code_3");
        assert_eq!(name("order|~2", false).unwrap(), "order_code_3~2");
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
    }
}
