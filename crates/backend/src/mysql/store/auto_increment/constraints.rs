//! Indexes and triggers of a key's table by which insertions of this store fail, or get other ids than it hears of.

use super::{fence::Counter, table::KeyTable};
use crate::{
    mysql::{connection::Connection, fault::ER_NO_SUCH_TABLE},
    net::{Cause, Fault},
    sql::{SqlSession, Value},
    store::sql::cell,
};

/// A unique index in which two rows of ours may be the same: without the id, and without a column that is NULL in them.
const INDEX: &str = "SELECT s.index_name FROM information_schema.statistics s \
    JOIN information_schema.columns c ON c.column_name = s.column_name \
    WHERE s.table_schema = COALESCE(?, DATABASE()) AND s.table_name = ? \
    AND c.table_schema = COALESCE(?, DATABASE()) AND c.table_name = ? AND s.non_unique = 0 GROUP BY s.index_name \
    HAVING MAX(c.column_name = 'id' OR (c.column_name <> 'generate_time' AND c.is_nullable = 'YES' AND c.extra = '' \
    AND COALESCE(c.column_default, 'NULL') = 'NULL')) = 0";

/// The triggers that may change a row before it is inserted. Without the privilege
/// TRIGGER, MariaDB shows a user their names alone, and MySQL nothing.
const TRIGGERS: &str = "SELECT trigger_name, action_statement FROM information_schema.triggers \
    WHERE event_object_schema = COALESCE(?, DATABASE()) AND event_object_table = ? AND action_timing = 'BEFORE' \
    AND event_manipulation = 'INSERT'";

/// Fails for a table with such an index or trigger.
pub(super) async fn check(connection: &mut Connection, table: &KeyTable<'_>) -> Result<(), Fault> {
    let named = || [Value::maybe_text(table.database()), (&*table.bare_name).into()];
    if let Some(mut row) = connection.row(INDEX, [named(), named()].concat()).await? {
        let index = row.text()?;
        let why = format!(
            "its unique index {index} has no id: ALTER TABLE … DROP INDEX {index}, or make it an index that is not unique"
        );
        return Err(table.unfit(why).into());
    }
    for mut row in connection.rows(TRIGGERS, named().to_vec()).await? {
        let (trigger, statement) = (row.maybe_text()?.unwrap_or_default(), row.maybe_text()?);
        let why = match statement {
            None => format!(
                "its trigger {trigger} can't be read, and must not set id: GRANT TRIGGER on the table to this user, or drop it"
            ),
            Some(statement) if names_id(&statement) => {
                format!(
                    "its trigger {trigger} sets id: DROP TRIGGER {trigger}, AUTO_INCREMENT alone gives ids"
                )
            }
            Some(_) => continue,
        };
        return Err(table.unfit(why).into());
    }
    Ok(())
}

impl Counter<'_> {
    /// The fault of a statement for which a table is missing: this one, or one that a trigger of it uses.
    pub(super) async fn missing_table(&self, connection: &mut Connection, cause: &Cause) -> Fault {
        // Fails if the table of fences is the one.
        if let Err(fault) = cell(connection, self.cell.key).await {
            return fault;
        }
        match connection.only(&self.table.highest_of_all(), Vec::new()).await {
            Err(fault) if fault.is(ER_NO_SUCH_TABLE) => self.regressed(connection).await,
            Err(fault) => self.table.fault(fault),
            Ok(_) => self.table.unfit(format_args!("a trigger of it uses another table: {cause}")).into(),
        }
    }
}

/// Whether a trigger's statement has `NEW.id`, which is read before the server gives the id.
fn names_id(statement: &str) -> bool {
    let is_end = |c: char| !c.is_alphanumeric() && !matches!(c, '_' | '$');
    let words: Vec<&str> = statement.split(is_end).filter(|word| !word.is_empty()).collect();
    words.windows(2).any(|pair| pair[0].eq_ignore_ascii_case("new") && pair[1].eq_ignore_ascii_case("id"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trigger_that_names_the_new_id_is_told_from_others() {
        for statement in ["SET NEW.id = 7", "begin\nset new . `ID`:=f();end", "SELECT 1 INTO NEW.id"] {
            assert!(names_id(statement), "{statement}");
        }
        for statement in ["SET NEW.who = 'x'", "SET NEW.id_card = 1", "SET @id = 1", ""] {
            assert!(!names_id(statement), "{statement}");
        }
    }
}
