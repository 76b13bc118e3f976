//! Which numbers have been given: a bit each, in chunks, so that dense numbers cost an eighth of a byte.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError, RwLock,
        atomic::{AtomicU64, Ordering},
    },
};

/// Numbers a chunk: 8 KiB of bits, so that a take rarely leaves the chunk it is in.
const CHUNK_NUMBERS: u64 = 1 << 16;

/// The most chunks, 512 MiB of bits; numbers beyond are counted as unchecked.
const CHUNKS_MAX: usize = 1 << 16;

/// The most repeated numbers that are listed one by one.
pub(crate) const LISTED_MAX: usize = 100;

type Chunk = [AtomicU64; (CHUNK_NUMBERS / 64) as usize];

/// The numbers given so far, shared by all tasks.
#[derive(Default)]
pub(crate) struct Seen {
    chunks: RwLock<BTreeMap<u64, Arc<Chunk>>>,
    duplicates: AtomicU64,
    unchecked: AtomicU64,
    listed: Mutex<Vec<u64>>,
}

impl Seen {
    /// How many numbers came that had come before.
    pub(crate) fn duplicates(&self) -> u64 {
        self.duplicates.load(Ordering::Relaxed)
    }

    /// The first [`LISTED_MAX`] of those, ascending.
    pub(crate) fn listed(&self) -> Vec<u64> {
        let mut listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner).clone();
        listed.sort_unstable();
        listed
    }

    /// How many numbers found no room among the bits.
    pub(crate) fn unchecked(&self) -> u64 {
        self.unchecked.load(Ordering::Relaxed)
    }

    fn chunk(&self, index: u64) -> Option<Arc<Chunk>> {
        let found = self.chunks.read().unwrap_or_else(PoisonError::into_inner).get(&index).cloned();
        if found.is_some() {
            return found;
        }
        let mut chunks = self.chunks.write().unwrap_or_else(PoisonError::into_inner);
        if chunks.len() >= CHUNKS_MAX && !chunks.contains_key(&index) {
            return None;
        }
        let chunk = chunks.entry(index).or_insert_with(|| Arc::new([const { AtomicU64::new(0) }; _]));
        Some(Arc::clone(chunk))
    }

    fn note_duplicate(&self, number: u64) {
        self.duplicates.fetch_add(1, Ordering::Relaxed);
        let mut listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        if listed.len() < LISTED_MAX {
            listed.push(number);
        }
    }
}

/// One task's way to [`Seen`]: it keeps the chunk that it was in last.
pub(crate) struct Checker {
    seen: Arc<Seen>,
    last: Option<(u64, Arc<Chunk>)>,
}

impl Checker {
    /// A way to `seen` for one task.
    pub(crate) fn new(seen: &Arc<Seen>) -> Self {
        Self { seen: Arc::clone(seen), last: None }
    }

    /// Notes that `number` was given, now for the first time or again.
    pub(crate) fn add(&mut self, number: u64) {
        let index = number / CHUNK_NUMBERS;
        if self.last.as_ref().is_none_or(|(held, _)| *held != index) {
            self.last = self.seen.chunk(index).map(|chunk| (index, chunk));
        }
        let Some((_, chunk)) = &self.last else {
            self.seen.unchecked.fetch_add(1, Ordering::Relaxed);
            return;
        };
        let bit = number % CHUNK_NUMBERS;
        #[allow(clippy::cast_possible_truncation, reason = "below CHUNK_NUMBERS / 64")]
        let word = &chunk[(bit / 64) as usize];
        let mask = 1 << (bit % 64);
        if word.fetch_or(mask, Ordering::Relaxed) & mask != 0 {
            self.seen.note_duplicate(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_comes_again_is_named_and_others_are_not() {
        let seen = Arc::new(Seen::default());
        let (mut one, mut other) = (Checker::new(&seen), Checker::new(&seen));
        for number in 1..=200_000 {
            one.add(number);
        }
        other.add(200_001);
        other.add(65_536);
        one.add(3);
        assert_eq!((seen.duplicates(), seen.listed(), seen.unchecked()), (2, vec![3, 65_536], 0));
    }

    #[test]
    fn a_flood_of_repeats_is_counted_whole_and_listed_in_part() {
        let seen = Arc::new(Seen::default());
        let mut checker = Checker::new(&seen);
        for _ in 0..500 {
            checker.add(9);
        }
        assert_eq!((seen.duplicates(), seen.listed().len()), (499, LISTED_MAX));
    }

    #[test]
    fn tasks_at_once_miss_no_repeat() {
        let seen = Arc::new(Seen::default());
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let mut checker = Checker::new(&seen);
                    for number in 1..=50_000 {
                        checker.add(number);
                    }
                });
            }
        });
        assert_eq!(seen.duplicates(), 150_000);
    }
}
