//! Set of the numbers given: one bit each, in chunks, so that dense numbers cost an eighth of a byte.

use std::collections::{HashMap, hash_map::Entry};

/// Numbers a chunk: 8 KiB of bits.
const CHUNK_NUMBERS: u64 = 1 << 16;

/// The most chunks, 512 MiB of bits; numbers beyond are counted as unchecked.
const CHUNKS_MAX: usize = if cfg!(test) { 1 << 6 } else { 1 << 16 };

/// The most repeated numbers that are listed one by one.
pub(super) const LISTED_MAX: usize = 100;

type Chunk = [u64; (CHUNK_NUMBERS / 64) as usize];

/// The numbers given so far.
#[derive(Default)]
pub(super) struct Seen {
    chunks: HashMap<u64, Box<Chunk>>,
    /// How many numbers repeated an earlier one.
    pub(super) duplicates: u64,
    /// The first [`LISTED_MAX`] of those.
    pub(super) listed: Vec<u64>,
    /// How many numbers could not be checked because the bits were full.
    pub(super) unchecked: u64,
}

impl Seen {
    /// Records that `number` was given.
    pub(super) fn add(&mut self, number: u64) {
        let is_full = self.chunks.len() >= CHUNKS_MAX;
        let chunk = match self.chunks.entry(number / CHUNK_NUMBERS) {
            Entry::Vacant(_) if is_full => {
                self.unchecked += 1;
                return;
            }
            entry => entry.or_insert_with(|| Box::new([0; _])),
        };
        let bit = number % CHUNK_NUMBERS;
        #[allow(clippy::cast_possible_truncation, reason = "below CHUNK_NUMBERS / 64")]
        let word = &mut chunk[(bit / 64) as usize];
        let mask = 1 << (bit % 64);
        if *word & mask != 0 {
            self.duplicates += 1;
            if self.listed.len() < LISTED_MAX {
                self.listed.push(number);
            }
        }
        *word |= mask;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(numbers: impl IntoIterator<Item = u64>) -> Seen {
        let mut seen = Seen::default();
        numbers.into_iter().for_each(|number| seen.add(number));
        seen
    }

    #[test]
    fn a_number_that_comes_again_is_named_and_others_are_not() {
        let seen = seen((0..=200_000).chain([200_001, 65_536, 3, u64::MAX]));
        assert_eq!((seen.duplicates, seen.listed, seen.unchecked), (2, vec![65_536, 3], 0));
    }

    #[test]
    fn a_flood_of_repeats_is_counted_whole_and_listed_in_part() {
        let seen = seen(std::iter::repeat_n(9, 500));
        assert_eq!((seen.duplicates, seen.listed.len()), (499, LISTED_MAX));
    }

    #[test]
    fn numbers_beyond_the_room_are_counted_as_unchecked() {
        let mut seen = seen([7]);
        let far = |chunk: usize| u64::MAX - chunk as u64 * CHUNK_NUMBERS;
        for chunk in 1..CHUNKS_MAX {
            seen.add(far(chunk));
        }
        for number in [7, 8, CHUNK_NUMBERS, CHUNK_NUMBERS] {
            seen.add(number);
        }
        assert_eq!((seen.duplicates, seen.unchecked), (1, 2));
    }
}
