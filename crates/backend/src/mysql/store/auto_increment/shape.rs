//! Shape of a key's table: created if it is missing, and checked if another program may have made it.
//!
//! A table that can't count is a fault of its key alone. The other keys of the slot have tables of their own.

use std::fmt::Display;

use sequent_core::{ErrorKind, SourceError};

use super::table::KeyTable;
use crate::{
    mysql::connection::Connection,
    net::Fault,
    sql::{SqlRow, SqlSession, Value},
};

/// The comment by which a table that this store made is told from those of other programs.
pub(super) const MADE_BY_US: &str = "sequent";

/// A column as the server describes it.
struct Column {
    name: String,
    data_type: String,
    key: String,
    extra: String,
    is_nullable: bool,
    has_default: bool,
}

/// A table as the server describes it.
pub(super) struct Shape {
    engine: String,
    comment: String,
    columns: Vec<Column>,
}

impl Shape {
    /// Reads the shape; `None` if there is no table that this user can see.
    pub(super) async fn read(
        connection: &mut Connection,
        table: &KeyTable<'_>,
    ) -> Result<Option<Self>, Fault> {
        // The server opens this table alone only if all names are compared with constants, and the tables are not joined by them.
        let sql = "SELECT c.table_name, c.column_name, c.data_type, c.column_key, c.extra, c.is_nullable = 'YES', \
            c.column_default IS NOT NULL, t.engine, t.table_comment FROM information_schema.columns c \
            CROSS JOIN information_schema.tables t \
            WHERE c.table_schema = COALESCE(?, DATABASE()) AND c.table_name = ? \
            AND t.table_schema = COALESCE(?, DATABASE()) AND t.table_name = ? \
            AND CAST(t.table_name AS BINARY) = CAST(c.table_name AS BINARY)";
        let (database, name) = (Value::maybe_text(table.database()), table.bare_name.as_str());
        let params = vec![database.clone(), name.into(), database, name.into()];
        let mut shape = Self { engine: String::new(), comment: String::new(), columns: Vec::new() };
        for mut row in connection.rows(sql, params).await? {
            // The server may compare names without regard to capitals.
            if row.text()? != name {
                continue;
            }
            shape.columns.push(column(&mut row)?);
            shape.engine = row.maybe_text()?.unwrap_or_default();
            shape.comment = row.maybe_text()?.unwrap_or_default();
        }
        Ok((!shape.columns.is_empty()).then_some(shape))
    }

    /// Whether this store made the table.
    pub(super) fn is_ours(&self) -> bool {
        self.comment == MADE_BY_US
    }

    /// What keeps the table from counting, and what to do; `None` if it can count.
    fn fault(&self) -> Option<String> {
        let column = |name: &str| self.columns.iter().find(|column| column.name.eq_ignore_ascii_case(name));
        if !self.engine.eq_ignore_ascii_case("InnoDB") {
            let engine = if self.engine.is_empty() { "none, as of a view" } else { &self.engine };
            return Some(format!("its engine is {engine}, expected InnoDB: ALTER TABLE … ENGINE = InnoDB"));
        }
        let is_alone = self.columns.iter().filter(|column| column.key == "PRI").count() == 1;
        let counts = column("id").is_some_and(|id| {
            let is_unique = id.key == "UNI" || (id.key == "PRI" && is_alone);
            id.data_type.eq_ignore_ascii_case("bigint") && id.extra.contains("auto_increment") && is_unique
        });
        if !counts {
            let text = "column id is not BIGINT AUTO_INCREMENT with a unique key of its own: ALTER TABLE … MODIFY id BIGINT \
                NOT NULL AUTO_INCREMENT, with PRIMARY KEY (id)";
            return Some(text.to_owned());
        }
        let is_time =
            |column: &Column| ["datetime", "timestamp"].contains(&&*column.data_type.to_ascii_lowercase());
        if !column("generate_time").is_some_and(is_time) {
            let text = "column generate_time is no TIMESTAMP or DATETIME: ALTER TABLE … ADD generate_time TIMESTAMP NOT NULL \
                DEFAULT CURRENT_TIMESTAMP";
            return Some(text.to_owned());
        }
        let others = |column: &&Column| !column.name.eq_ignore_ascii_case("generate_time");
        let demands = self.columns.iter().filter(others).find(|column| column.demands_a_value());
        demands.map(|column| {
            format!("column {} needs a value: give it a default, allow NULL in it, or drop it", column.name)
        })
    }
}

impl Column {
    /// Whether an insertion that leaves it out is refused.
    fn demands_a_value(&self) -> bool {
        let extra = self.extra.to_ascii_lowercase();
        let is_filled = extra.contains("auto_increment") || extra.contains("generated");
        !self.is_nullable && !self.has_default && !is_filled
    }
}

fn column(row: &mut SqlRow) -> Result<Column, Fault> {
    Ok(Column {
        name: row.text()?,
        data_type: row.text()?,
        key: row.text()?,
        extra: row.text()?,
        is_nullable: row.int()? != 0,
        has_default: row.int()? != 0,
    })
}

/// Creates a missing table, and fails for one that can't count, or may not.
pub(super) async fn settle(connection: &mut Connection, table: &KeyTable<'_>) -> Result<(), Fault> {
    if check(connection, table).await? { Ok(()) } else { make(connection, table).await }
}

/// Whether there is a table. Fails for one that can't count, or may not.
pub(super) async fn check(connection: &mut Connection, table: &KeyTable<'_>) -> Result<bool, Fault> {
    let Some(shape) = Shape::read(connection, table).await? else { return Ok(false) };
    if !shape.is_ours() && !table.tables.settings.adopt {
        let why = "another program made it; adopt_tables = true of the shard lets it count here, too: read \"Adopting \
            tables\" in docs/operating/stores/mysql.md first";
        return Err(table.unfit(why).into());
    }
    shape.fault().map_or(Ok(true), |why| Err(table.unfit(why).into()))
}

/// Creates the table. It begins above its first anchor.
async fn make(connection: &mut Connection, table: &KeyTable<'_>) -> Result<(), Fault> {
    if !table.tables.create {
        return Err(table.unfit("it is missing, and none may be made").into());
    }
    let sql = format!(
        "CREATE TABLE IF NOT EXISTS {} (
            id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
            generate_time DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3)
        ) ENGINE = InnoDB COMMENT = '{MADE_BY_US}'",
        table.sql
    );
    connection.text(&sql).await.map_err(|fault| table.fault(fault))?;
    Ok(())
}

impl KeyTable<'_> {
    /// The error for a table that can't count its key.
    pub(super) fn unfit(&self, why: impl Display) -> SourceError {
        let context = format!("table {} can't count {}: {why}", self.name(), self.key);
        SourceError::new(ErrorKind::Unfit, context)
    }

    /// A fault of a statement on the table, as the key's own if it is about columns, values or privileges.
    pub(super) fn fault(&self, fault: Fault) -> Fault {
        match fault {
            Fault::Denied(cause) => self.unfit(cause).into(),
            Fault::Server(code, _, cause) if OF_A_TABLE.contains(&code) => self.unfit(cause).into(),
            fault => fault,
        }
    }
}

/// Codes about one table:
/// - an unknown column, a value that is demanded, one that does not fit, and one that may not be NULL;
/// - privileges on columns, and on a function that a trigger or a default calls;
/// - a table that takes no writes, and a view that takes none;
/// - triggers: a refusal of theirs, a table that they use, and an author who is gone;
/// - rules: CHECK of MySQL and of MariaDB, a foreign key, no partition for the row.
const OF_A_TABLE: [i32; 17] =
    [1054, 1364, 1366, 1406, 1048, 1143, 1370, 1036, 1471, 1356, 1644, 1442, 1449, 3819, 4025, 1452, 1526];

#[cfg(test)]
mod tests {
    use super::*;

    fn column(name: &str, data_type: &str, key: &str, extra: &str) -> Column {
        let [name, data_type, key, extra] = [name, data_type, key, extra].map(str::to_owned);
        Column { name, data_type, key, extra, is_nullable: false, has_default: false }
    }

    /// The seed's table.
    fn seed() -> Shape {
        let columns = vec![
            column("id", "bigint", "PRI", "auto_increment"),
            column("generate_time", "timestamp", "", ""),
        ];
        Shape { engine: "InnoDB".to_owned(), comment: String::new(), columns }
    }

    #[test]
    fn tables_of_the_seed_count_and_others_are_told_what_to_do() {
        assert!(seed().fault().is_none() && !seed().is_ours());
        let changed = |change: fn(&mut Shape)| {
            let mut shape = seed();
            change(&mut shape);
            shape.fault().expect("refused")
        };
        let without_time = changed(|shape| drop(shape.columns.pop()));
        assert!(without_time.contains("ADD generate_time TIMESTAMP"), "{without_time}");
        assert!(changed(|shape| shape.engine = "MyISAM".to_owned()).contains("MyISAM, expected InnoDB"));
        for change in [
            (|shape| shape.columns[0].data_type = "int".to_owned()) as fn(&mut Shape),
            |shape| shape.columns[0].extra.clear(),
            |shape| shape.columns[0].key = "MUL".to_owned(),
            |shape| shape.columns.push(column("site", "int", "PRI", "")),
        ] {
            assert!(changed(change).contains("MODIFY id BIGINT"));
        }
        let flagged = changed(|shape| shape.columns.push(column("f", "tinyint", "", "")));
        assert!(flagged.contains("column f needs a value"), "{flagged}");
    }

    #[test]
    fn columns_that_fill_themselves_are_no_fault() {
        let mut shape = seed();
        shape.columns.push(Column { is_nullable: true, ..column("a", "int", "", "") });
        shape.columns.push(Column { has_default: true, ..column("b", "int", "", "") });
        shape.columns.push(column("c", "int", "", "STORED GENERATED"));
        assert_eq!(shape.fault(), None);
    }
}
