//! The keys of a shard that counts in tables with `AUTO_INCREMENT`.

use sequent_backend::net::{CodeTables, KeepRows, TableFormat};

use crate::config::reading::{
    section,
    setting::{parsed, switch},
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
