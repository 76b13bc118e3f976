//! Old rows go: below an id that exists, so that the newest row stays, and never the anchor.

use std::sync::{Mutex, PoisonError};

use sequent_core::{Block, Key};

use super::table::Code;
use crate::mysql::{fault::Fault, link::Link};

/// How many rows one take removes at most: with blocks up to this size a table stays small.
const ROWS_PURGED_MAX: u64 = 8192;

/// How many rows may have come since the last purge.
const ROWS_KEPT: u64 = 1024;

/// For how many keys it is remembered what has come.
const PLACES: usize = 64;

pub(super) struct Purge<'a> {
    pub(super) code: &'a Code,
    pub(super) key: &'a Key,
    pub(super) below: u64,
}

impl Purge<'_> {
    /// Removes some rows. What can't be removed now goes later: a take does not fail for it, unless the line broke.
    pub(super) async fn run(&self, link: &mut Link) -> Result<(), Fault> {
        let sql = format!(
            "DELETE FROM {} WHERE id < ? AND id <> (SELECT c.v FROM sequent_cells c WHERE c.k = ?) \
            ORDER BY id LIMIT {ROWS_PURGED_MAX}",
            self.code.sql()
        );
        match link.exec(&sql, (self.below, self.key.as_str())).await {
            Err(fault @ Fault::Broken(..)) => Err(fault),
            _ => Ok(()),
        }
    }
}

/// What has come into the tables that were used last.
pub(super) struct Due([Mutex<Option<Grown>>; PLACES]);

struct Grown {
    key: Key,
    rows: u64,
    newest: u64,
}

impl Default for Due {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Mutex::default()))
    }
}

impl Due {
    /// Notes a block; who comes next is told below which id to purge, if it is time.
    pub(super) fn note(&self, key: &Key, block: Block) {
        let mut place = self.place(key).lock().unwrap_or_else(PoisonError::into_inner);
        let grown = place.take().filter(|grown| grown.key == *key);
        let (rows, newest) = grown.map_or((0, 0), |grown| (grown.rows, grown.newest));
        let rows = rows.saturating_add(block.count());
        *place = Some(Grown { key: key.clone(), rows, newest: newest.max(block.last()) });
    }

    /// Whether a block of this key was noted, and none since of a key that has the same place.
    pub(super) fn knows(&self, key: &Key) -> bool {
        let place = self.place(key).lock().unwrap_or_else(PoisonError::into_inner);
        place.as_ref().is_some_and(|grown| grown.key == *key)
    }

    /// Below which id to purge, if it is time; one caller is told.
    pub(super) fn take(&self, key: &Key) -> Option<u64> {
        let mut place = self.place(key).lock().unwrap_or_else(PoisonError::into_inner);
        let grown = place.as_mut().filter(|grown| grown.key == *key && grown.rows >= ROWS_KEPT)?;
        grown.rows = grown.rows.saturating_sub(ROWS_PURGED_MAX);
        Some(grown.newest)
    }

    fn place(&self, key: &Key) -> &Mutex<Option<Grown>> {
        &self.0[super::super::place_of(key, PLACES)]
    }
}
