//! Dense counters: gapless counters, one row each, kept in the ledger alone.

use super::{Answer, Pass};
use crate::{Block, Key, Reply};

/// Request to a dense counter. It gets all its numbers or none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DenseAsk {
    /// The key.
    pub key: Key,
    /// How many numbers. 0 takes none and returns the counter's value.
    pub count: u64,
    /// The highest number that the key may give.
    pub limit: u64,
    /// The highest number that the caller was given; 0 if it does not say. A counter below it gives nothing.
    pub above: u64,
}

/// Result of a [`DenseAsk`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DenseTaken {
    /// The numbers were given, and this is the last of them. The first number of a key is 1.
    Last(u64),
    /// Nothing was given: too few numbers are left below the limit, or none was requested.
    Spent {
        /// The counter's value.
        at: u64,
    },
    /// Nothing was given: the caller's `above` exceeds the counter's value.
    Behind {
        /// The counter's value.
        at: u64,
    },
    /// Nothing was given: the counter's period is over for good, and it has no row (any more).
    Over,
    /// Nothing was given: another transaction locks the counter's row. The call's other counters did not wait for it.
    Locked,
}

impl DenseAsk {
    /// The result on a counter whose value is `value`; the same for every engine.
    ///
    /// ```
    /// use sequent_core::{Key, ledger::{DenseAsk, DenseTaken}};
    /// let ask = DenseAsk { key: Key::from_stored("invoice"), count: 3, limit: 9, above: 5 };
    /// assert_eq!(ask.of(5), DenseTaken::Last(8));
    /// assert_eq!(ask.of(7), DenseTaken::Spent { at: 7 });
    /// assert_eq!(ask.of(4), DenseTaken::Behind { at: 4 });
    /// ```
    pub fn of(&self, value: u64) -> DenseTaken {
        if value < self.above {
            return DenseTaken::Behind { at: value };
        }
        let limit = self.limit.min(Block::NUMBER_MAX);
        match value.checked_add(self.count) {
            Some(last) if last <= limit && self.count > 0 => DenseTaken::Last(last),
            _ => DenseTaken::Spent { at: value },
        }
    }
}

/// Row of a dense counter in the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DenseRow {
    /// The key.
    pub key: Key,
    /// The value: all numbers from 1 to it were given. Exceptions are lost replies and losses that an operator named.
    pub value: u64,
    /// When the first number was given, by the ledger's clock, in milliseconds since 1970.
    pub begun_at_ms: u64,
}

/// Dense counters.
pub trait Dense: Send + Sync {
    /// Answers the requests in their order, in one durable transaction; two of one key follow each other. At most 4096
    /// requests; an empty list only checks that the ledger accepts the caller.
    ///
    /// A counter without a row starts at the floor that a recovery left, 0 by default. Behind its [fence](super::Fence) it does
    /// not start. The fence is read in the same transaction, so a [forgotten](super::Retention::forget_dense) counter never
    /// gives numbers again.
    ///
    /// The version goes up by one if any number was given, so that the version can be marked on a store before the numbers
    /// leave.
    fn count<'a>(&'a self, pass: Pass<'a>, asks: &'a [DenseAsk]) -> Reply<'a, Answer<Vec<DenseTaken>>>;

    /// The counters whose key is `under` or starts with it, at most `most`, ascending by key. A sequence's name selects all its
    /// keys. A whole key selects that key first, then its extensions. `None` selects all sequences.
    fn dense<'a>(&'a self, under: Option<&'a str>, most: usize) -> Reply<'a, Vec<DenseRow>>;
}
