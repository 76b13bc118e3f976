//! The keys of a shard that counts in tables with `AUTO_INCREMENT`.

use std::collections::BTreeMap;

use sequent_backend::net::{CodeTables, KeepRows, SlotTables, TableFormat};
use sequent_core::SlotIndex;

use crate::config::{
    Place, ServerPlace, ShardPart,
    reading::{
        section,
        setting::{parsed, switch},
    },
};

/// The error text for other kinds.
const ONLY: &str = "only store = \"mysql-auto-increment\" has such tables";

section! {
    /// The tables of a shard of kind `mysql-auto-increment`.
    pub(crate) struct CodeTablesSection(section, has_tables: bool) {
        /// Only `mysql-auto-increment`: the names of [its tables](../operating/stores/mysql.md#auto-increment). `%s` is the
        /// sequence, `%d` the slot. A database of the same server may come first: `shop.%s_code_%d`.
        table_name: Option<TableFormat> = parsed("table_name").allowed("`%s`, then `%d`")
            .or_else(Some(TableFormat::default()), "\"%s_code_%d\"").only_if(has_tables, ONLY),

        /// Only `mysql-auto-increment`: whether [tables of another program](../operating/stores/mysql.md#adopting-tables) are
        /// counted in. Otherwise they are refused.
        adopt_tables: bool = switch("adopt_tables").only_if(has_tables, ONLY),

        /// Only `mysql-auto-increment`: which rows are kept: the newest, all, or those of so many days. Rows of another
        /// program's tables are always kept.
        keep_rows: Option<KeepRows> = parsed("keep_rows").allowed("\"purge\", \"all\", \"30 days\"")
            .or_else(Some(KeepRows::default()), "\"purge\"").only_if(has_tables, ONLY),
    }
}

impl CodeTablesSection {
    pub(super) fn tables(self) -> CodeTables {
        let Self { table_name, adopt_tables, keep_rows } = self;
        let (names, keep) = (table_name.unwrap_or_default(), keep_rows.unwrap_or_default());
        CodeTables { names, adopt: adopt_tables, keep }
    }
}

/// Tells each store with such tables which slots have theirs in the same database, in a ring of so many slots.
pub(crate) fn compare_with_ring(parts: &mut [ShardPart], slots: SlotIndex) {
    let mut together: BTreeMap<String, Vec<SlotIndex>> = BTreeMap::new();
    for part in &*parts {
        if let Some(database) = database_of(&part.place) {
            together.entry(database).or_default().push(part.slot);
        }
    }
    for part in parts {
        let together = database_of(&part.place).and_then(|database| together.get(&database).cloned());
        if let (Place::Server(server), Some(together)) = (&mut part.place, together) {
            server.options.slot_tables = Some(SlotTables { slots, together });
        }
    }
}

/// The database that the tables are in, with its server.
fn database_of(place: &Place) -> Option<String> {
    let Place::Server(server) = place else { return None };
    let ServerPlace { kind, options } = &**server;
    let names = Some(&options.code_tables.names).filter(|_| kind.has_code_tables())?;
    let own = options.url.identity();
    Some(match (names.database(), own.rsplit_once('/')) {
        (Some(database), Some((server, _))) => format!("{server}/{database}"),
        _ => own,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that can't go on has failed")]
mod tests {
    use sequent_backend::{
        kinds::{Kind, Role},
        net::ServerOptions,
    };

    use super::*;

    fn part(slot: SlotIndex, kind: &str, url: &str, names: &str) -> Option<ShardPart> {
        let kind = Kind::named(Role::Store, kind).filter(|kind| kind.is_built_in())?;
        let mut options = ServerOptions::from_url(url).ok()?;
        options.code_tables.names = names.parse().unwrap();
        Some(ShardPart { slot, place: Place::Server(Box::new(ServerPlace { kind, options })) })
    }

    #[test]
    fn slots_with_tables_in_one_database_know_each_other() {
        let counting = "mysql-auto-increment";
        let parts = [
            part(0, counting, "mysql://u@a/zero", "shop.%s_code_%d"),
            part(1, counting, "mysql://u@b/zero", "shop.%s_code_%d"),
            part(2, counting, "mysql://u@a/two", "shop.%s_code_%d"),
            part(3, counting, "mysql://u@a/shop", "%s_code_%d"),
            part(4, "mysql-row", "mysql://u@a/four", "%s_code_%d"),
        ];
        // A build without MySQL has no such tables.
        let Some(mut parts) = parts.into_iter().collect::<Option<Vec<_>>>() else { return };
        compare_with_ring(&mut parts, 8);
        let together = |part: &ShardPart| match &part.place {
            Place::Server(server) => server.options.slot_tables.clone().map(|tables| tables.together),
            _ => None,
        };
        let found: Vec<_> = parts.iter().map(together).collect();
        let beside = Some(vec![0, 2, 3]);
        assert_eq!(found, [beside.clone(), Some(vec![1]), beside.clone(), beside, None]);
    }
}
