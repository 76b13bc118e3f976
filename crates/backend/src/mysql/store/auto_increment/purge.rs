//! Purge of old rows of tables that this store made. It deletes only below an existing id, so the newest row stays, and never the anchor.

use sequent_core::Block;

use super::{fence::Counter, shape::Shape};
use crate::{
    mysql::connection::Connection,
    net::{Fault, KeepRows},
    sql::SqlSession,
};

/// The most rows that one take deletes. With blocks up to this size, a table stays small.
const ROWS_PURGED_MAX: u64 = 8192;

/// Ids between two purges of a table. Whoever is given the last of them purges, so that servers do not purge at once.
const IDS_A_PURGE: u64 = 1024;

/// Whether a take of this block purges.
pub(super) fn is_due(block: Block) -> bool {
    block.last() / IDS_A_PURGE != (block.first() - 1) / IDS_A_PURGE
}

impl Counter<'_> {
    /// Deletes some rows below an id. A failure is ignored, since the next purge deletes them, unless the connection
    /// broke.
    pub(super) async fn purge(
        &self,
        connection: &mut Connection,
        below: u64,
        keep: KeepRows,
    ) -> Result<(), Fault> {
        match self.delete(connection, below, keep).await {
            Err(fault @ Fault::Broken(..)) => Err(fault),
            _ => Ok(()),
        }
    }

    async fn delete(&self, connection: &mut Connection, below: u64, keep: KeepRows) -> Result<(), Fault> {
        // Rows of a table that another program made are its records.
        if keep == KeepRows::All
            || !Shape::read(connection, &self.table).await?.is_some_and(|shape| shape.is_ours())
        {
            return Ok(());
        }
        let (below, age) = match keep {
            KeepRows::All | KeepRows::Newest => (below, String::new()),
            KeepRows::Days(days) => (
                below.min(self.end_of_oldest(connection).await?),
                format!("AND generate_time < CURRENT_TIMESTAMP(3) - INTERVAL {days} DAY "),
            ),
        };
        let sql = format!(
            "DELETE FROM {} WHERE id < ? AND id <> (SELECT c.v FROM sequent_cells c WHERE c.k = ?) {age}\
            ORDER BY id LIMIT {ROWS_PURGED_MAX}",
            self.table.sql
        );
        connection.execute(&sql, vec![below.into(), self.cell.key.as_str().into()]).await?;
        Ok(())
    }

    /// The id behind the oldest rows. Without it, a purge that finds no row old enough would read the whole table.
    async fn end_of_oldest(&self, connection: &mut Connection) -> Result<u64, Fault> {
        let sql = format!(
            "SELECT COALESCE(MAX(o.id), 0) FROM (SELECT id FROM {} ORDER BY id LIMIT {ROWS_PURGED_MAX}) o",
            self.table.sql
        );
        Ok(connection.only(&sql, Vec::new()).await?.count()?.saturating_add(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_the_blocks_of_a_table_one_in_so_many_ids_purges() {
        for count in [1, 3, 500, IDS_A_PURGE] {
            let (mut first, mut purges) = (1, 0);
            while first <= 10 * IDS_A_PURGE {
                let block = Block::new(first, 1, count).unwrap();
                purges += u64::from(is_due(block));
                first += count;
            }
            assert_eq!(purges, 10, "blocks of {count}");
        }
        assert!(is_due(Block::new(5, 1, 8 * IDS_A_PURGE).unwrap()));
    }
}
