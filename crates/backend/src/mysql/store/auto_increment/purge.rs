//! Purge of old rows of tables that this store made. It deletes only below an existing id, so the newest row stays, and never the anchor.

use std::sync::{Mutex, MutexGuard, PoisonError};

use sequent_core::{Block, Key};

use super::{FAR, shape::Shape, table::KeyTable};
use crate::{
    mysql::{connection::Connection, store::place_of},
    net::{Fault, KeepRows},
    sql::SqlSession,
};

/// The most rows that one take deletes. With blocks up to this size, a table stays small.
const ROWS_PURGED_MAX: u64 = 8192;

/// Rows added before the next purge.
const ROWS_KEPT: u64 = 1024;

/// Keys whose growth is remembered: number of buckets, and keys per bucket.
const PLACES: usize = 64;
const KEYS_A_PLACE: usize = 8;

pub(super) struct Purge<'a> {
    pub(super) table: &'a KeyTable,
    pub(super) key: &'a Key,
    pub(super) below: u64,
    pub(super) keep: KeepRows,
}

impl Purge<'_> {
    /// Deletes some rows. A failure is ignored, since the next purge deletes them, unless the connection broke.
    pub(super) async fn run(&self, connection: &mut Connection) -> Result<(), Fault> {
        match self.delete(connection).await {
            Err(fault @ Fault::Broken(..)) => Err(fault),
            _ => Ok(()),
        }
    }

    async fn delete(&self, connection: &mut Connection) -> Result<(), Fault> {
        // Rows of a table that another program made are its records.
        if !Shape::read(connection, self.table).await?.is_some_and(|shape| shape.is_ours()) {
            return Ok(());
        }
        let (below, age) = match self.keep {
            KeepRows::All => return Ok(()),
            KeepRows::Newest => (self.below, String::new()),
            KeepRows::Days(days) => (
                self.below.min(self.end_of_oldest(connection).await?),
                format!("AND generate_time < CURRENT_TIMESTAMP(3) - INTERVAL {days} DAY "),
            ),
        };
        let sql = format!(
            "DELETE FROM {} WHERE id < ? AND id <> (SELECT c.v FROM sequent_cells c WHERE c.k = ?) {age}\
            ORDER BY id LIMIT {ROWS_PURGED_MAX}",
            self.table.sql()
        );
        connection.execute(&sql, vec![below.into(), self.key.as_str().into()]).await?;
        Ok(())
    }

    /// The id behind the oldest rows. Without it, a purge that finds no row old enough would read the whole table.
    async fn end_of_oldest(&self, connection: &mut Connection) -> Result<u64, Fault> {
        let sql = format!(
            "SELECT COALESCE(MAX(o.id), 0) FROM (SELECT id FROM {} ORDER BY id LIMIT {ROWS_PURGED_MAX}) o",
            self.table.sql()
        );
        Ok(connection.only(&sql, Vec::new()).await?.count()?.saturating_add(1))
    }
}

/// The growth of the tables used last.
pub(super) struct Due([Mutex<Vec<Grown>>; PLACES]);

struct Grown {
    key: Key,
    rows: u64,
    newest: u64,
    /// The length of the last block.
    last: u64,
}

impl Default for Due {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Mutex::default()))
    }
}

impl Due {
    /// Records a block. When a purge is due, [`take`](Self::take) returns its bound.
    pub(super) fn note(&self, key: &Key, block: Block) {
        let mut place = self.place(key);
        let at = place.iter().position(|grown| grown.key == *key);
        let mut grown = at.map_or_else(|| Grown::new(key), |at| place.remove(at));
        grown.rows = grown.rows.saturating_add(block.count());
        grown.newest = grown.newest.max(block.last());
        grown.last = block.count();
        if place.len() >= KEYS_A_PLACE {
            // The key not used for longest.
            place.remove(0);
        }
        place.push(grown);
    }

    /// Whether the last block of this key had the same length, far from the end of the range.
    pub(super) fn again(&self, key: &Key, count: u64) -> bool {
        let same = |grown: &Grown| grown.key == *key && grown.last == count && grown.newest <= FAR;
        self.place(key).iter().any(same)
    }

    /// The id below which to purge, if a purge is due. Only one caller gets it.
    pub(super) fn take(&self, key: &Key) -> Option<u64> {
        let mut place = self.place(key);
        let grown = place.iter_mut().find(|grown| grown.key == *key && grown.rows >= ROWS_KEPT)?;
        grown.rows = grown.rows.saturating_sub(ROWS_PURGED_MAX);
        Some(grown.newest)
    }

    fn place(&self, key: &Key) -> MutexGuard<'_, Vec<Grown>> {
        let place = &self.0[place_of(key, PLACES)];
        place.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Grown {
    fn new(key: &Key) -> Self {
        Self { key: key.clone(), rows: 0, newest: 0, last: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_share_a_place_are_counted_each_by_itself() {
        let (due, block) = (Due::default(), |first| Block::new(first, 1, 1).unwrap());
        // There are more keys than buckets, so some share one.
        let keys: Vec<Key> = (0..=PLACES).map(|key| Key::from_stored(&format!("key{key}"))).collect();
        for first in 1..=ROWS_KEPT {
            for key in &keys {
                due.note(key, block(first));
            }
        }
        for key in &keys {
            assert!(due.again(key, 1) && !due.again(key, 2));
            assert_eq!((due.take(key), due.take(key)), (Some(ROWS_KEPT), None), "{key}: one caller is told");
        }
        assert!(!due.again(&Key::from_stored("other"), 1));
        due.note(&keys[0], block(FAR + 1));
        assert!(!due.again(&keys[0], 1), "the end of the range is near");
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let due = Due::default();
        for key in 0..10_000 {
            due.note(&Key::from_stored(&format!("key{key}")), Block::new(1, 1, 1).unwrap());
        }
        assert!(due.0.iter().all(|place| place.lock().unwrap().len() <= KEYS_A_PLACE));
        assert!(due.again(&Key::from_stored("key9999"), 1), "the newest is");
    }
}
