//! The judge of the one promise that counts: no number twice.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    sync::{Mutex, MutexGuard, PoisonError},
};

use sequent_core::{Block, Blocks};

/// Numbers a page of the bitset: 512 bytes each, so that dense ranges cost a bit a number and sparse ones little.
const PAGE_NUMBERS: u64 = 4096;

/// Remembers every number that was handed out, and by whom.
///
/// ```
/// use sequent_testkit::Oracle;
/// let oracle = Oracle::new();
/// oracle.add(7, "server a")?;
/// let repeat = oracle.add(7, "server b").unwrap_err();
/// assert_eq!(repeat.to_string(), "number 7 was handed out twice: by server a, then by server b");
/// # Ok::<(), sequent_testkit::Repeat>(())
/// ```
#[derive(Debug, Default)]
pub struct Oracle {
    seen: Mutex<Seen>,
}

/// A number that was handed out twice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repeat {
    /// The number.
    pub number: u64,
    /// Who handed it out first.
    pub first: String,
    /// Who handed it out again.
    pub second: String,
}

impl std::fmt::Display for Repeat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { number, first, second } = self;
        write!(f, "number {number} was handed out twice: by {first}, then by {second}")
    }
}

impl std::error::Error for Repeat {}

#[derive(Debug, Default)]
struct Seen {
    pages: BTreeMap<u64, Box<Page>>,
    takers: Vec<String>,
    /// Who took what, in order; neighbours of one taker are one entry. Read only to name the first taker of a repeat.
    log: Vec<(usize, Block)>,
    count: u64,
}

#[derive(Debug)]
struct Page([u64; (PAGE_NUMBERS / 64) as usize]);

impl Oracle {
    /// Nothing has been handed out yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Notes a number; fails where it was noted before.
    pub fn add(&self, number: u64, taker: &str) -> Result<(), Repeat> {
        match Block::new(number, 1, 1) {
            Ok(block) => self.add_block(block, taker),
            Err(error) => Err(Repeat { number, first: error.to_string(), second: taker.to_owned() }),
        }
    }

    /// Notes every number of a block; fails at the first that was noted before.
    pub fn add_block(&self, block: Block, taker: &str) -> Result<(), Repeat> {
        let mut seen = self.seen();
        if let Some(number) = block.iter().find(|&number| !seen.set(number)) {
            return Err(seen.repeat(number, taker));
        }
        let taker = seen.taker(taker);
        seen.remember(taker, block);
        Ok(())
    }

    /// Notes every number of some blocks.
    pub fn add_blocks(&self, blocks: &Blocks, taker: &str) -> Result<(), Repeat> {
        blocks.as_slice().iter().try_for_each(|&block| self.add_block(block, taker))
    }

    /// How many different numbers were noted.
    pub fn count(&self) -> u64 {
        self.seen().count
    }

    /// The highest number noted.
    pub fn highest(&self) -> Option<u64> {
        self.seen().log.iter().map(|(_, block)| block.last()).max()
    }

    /// Whether a number was noted.
    pub fn contains(&self, number: u64) -> bool {
        self.seen().get(number)
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seen {
    fn get(&self, number: u64) -> bool {
        let (page, word, bit) = place(number);
        self.pages.get(&page).is_some_and(|page| page.0[word] & bit != 0)
    }

    /// Whether the number is new.
    fn set(&mut self, number: u64) -> bool {
        let (page, word, bit) = place(number);
        let page = match self.pages.entry(page) {
            Entry::Occupied(page) => page.into_mut(),
            Entry::Vacant(place) => place.insert(Box::new(Page([0; (PAGE_NUMBERS / 64) as usize]))),
        };
        let new = page.0[word] & bit == 0;
        page.0[word] |= bit;
        self.count += u64::from(new);
        new
    }

    fn taker(&mut self, name: &str) -> usize {
        self.takers.iter().position(|known| known == name).unwrap_or_else(|| {
            self.takers.push(name.to_owned());
            self.takers.len() - 1
        })
    }

    fn remember(&mut self, taker: usize, block: Block) {
        if let Some((last_taker, last)) = self.log.last_mut()
            && *last_taker == taker
            && last.step() == 1
            && block.step() == 1
            && last.last() + 1 == block.first()
            && let Ok(both) = Block::new(last.first(), 1, last.count() + block.count())
        {
            *last = both;
            return;
        }
        self.log.push((taker, block));
    }

    fn repeat(&self, number: u64, second: &str) -> Repeat {
        let first = self.log.iter().find(|(_, block)| block.contains(number));
        // Not in the log: the block at hand holds the number twice, which a block cannot.
        let first = first.map_or(second, |(taker, _)| &self.takers[*taker]).to_owned();
        Repeat { number, first, second: second.to_owned() }
    }
}

#[allow(clippy::cast_possible_truncation, reason = "below PAGE_NUMBERS / 64")]
const fn place(number: u64) -> (u64, usize, u64) {
    let within = number % PAGE_NUMBERS;
    (number / PAGE_NUMBERS, (within / 64) as usize, 1 << (within % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_that_touches_another_in_one_number_is_found() {
        let oracle = Oracle::new();
        oracle.add_block(Block::new(1, 1, 5000).unwrap(), "a").unwrap();
        oracle.add_block(Block::new(5001, 2, 10).unwrap(), "b").unwrap();
        let repeat = oracle.add_block(Block::new(5018, 1, 9).unwrap(), "c").unwrap_err();
        assert_eq!(repeat, Repeat { number: 5019, first: "b".into(), second: "c".into() });
        assert_eq!(oracle.add(4096, "c").unwrap_err().first, "a");
        assert!(oracle.contains(5000) && !oracle.contains(5002));
    }

    #[test]
    fn the_ends_of_the_range_fit_and_nothing_beyond() {
        let oracle = Oracle::new();
        oracle.add(Block::NUMBER_MAX, "a").unwrap();
        oracle.add(1, "a").unwrap();
        oracle.add(0, "a").unwrap();
        assert!(oracle.add(0, "b").is_err() && oracle.add(Block::NUMBER_MAX + 1, "a").is_err());
        assert_eq!((oracle.count(), oracle.highest()), (3, Some(Block::NUMBER_MAX)));
    }
}
