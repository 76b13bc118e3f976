//! The last block of each busy key. A statement that is repeated is prepared, and others are not.

use std::sync::{Mutex, MutexGuard, PoisonError};

use sequent_core::{Block, Key};

use super::FAR;
use crate::mysql::store::place_of;

/// Number of places. Keys that share one make each other's statements unprepared, which is slower.
const PLACES: usize = 1024;

/// The last blocks.
pub(super) struct LastBlocks(Vec<Mutex<Option<(Key, Block)>>>);

impl Default for LastBlocks {
    fn default() -> Self {
        Self((0..PLACES).map(|_| Mutex::default()).collect())
    }
}

impl LastBlocks {
    /// Whether the last block of this key had the same length, far from the end of the range.
    pub(super) fn is_again(&self, key: &Key, count: u64) -> bool {
        let same = |(own, block): &(Key, Block)| own == key && block.count() == count && block.last() <= FAR;
        self.place(key).as_ref().is_some_and(same)
    }

    /// Records a block.
    pub(super) fn note(&self, key: &Key, block: Block) {
        *self.place(key) = Some((key.clone(), block));
    }

    fn place(&self, key: &Key) -> MutexGuard<'_, Option<(Key, Block)>> {
        self.0[place_of(key, PLACES)].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_as_long_as_the_last_one_of_its_key_is_told_until_the_end_is_near() {
        let (last, key) = (LastBlocks::default(), Key::from_stored("order"));
        let block = |first| Block::new(first, 1, 1).unwrap();
        last.note(&key, block(1));
        assert!(last.is_again(&key, 1) && !last.is_again(&key, 2));
        for other in 0..10 * PLACES {
            let other = Key::from_stored(&format!("key{other}"));
            assert!(!last.is_again(&other, 1), "{other}");
            last.note(&other, block(1));
            assert!(last.is_again(&other, 1), "the newest is");
        }
        last.note(&key, block(FAR + 1));
        assert!(!last.is_again(&key, 1), "the end of the range is near");
    }
}
