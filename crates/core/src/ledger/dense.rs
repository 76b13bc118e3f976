//! Dense counters: one row each, in the ledger alone; they count in order, without gaps.

use super::{Answer, Pass};
use crate::{Block, BoxFuture, Key, SourceError};

/// An ask of a dense counter: all of it, or nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DenseAsk {
    /// The key.
    pub key: Key,
    /// How many; none takes nothing, and is told how far the counter is.
    pub count: u64,
    /// The highest that the key may give.
    pub limit: u64,
    /// The highest that the caller was given, 0 where it does not say: a counter below that gives nothing.
    pub above: u64,
}

/// What became of a [`DenseAsk`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DenseTaken {
    /// As many as were asked for, this one the last of them; the first of a key is 1.
    Last(u64),
    /// Nothing: there are fewer left below the limit, or none was asked for.
    Spent {
        /// What the counter has given.
        at: u64,
    },
    /// Nothing: the caller was given more than the counter has given.
    Behind {
        /// What the counter has given.
        at: u64,
    },
    /// Nothing: the counter's period is over for good, and it has no row, or none any more.
    Over,
    /// Nothing: somebody else holds the counter's row. Other counters of the call have not waited for it.
    Locked,
}

impl DenseAsk {
    /// What it gets of a counter that has given `value`: the same for every engine.
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

/// A dense counter as the ledger holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DenseRow {
    /// The key.
    pub key: Key,
    /// What it has given: everything from 1 to this, but for answers that were lost and for losses that an operator named.
    pub value: u64,
    /// When it gave its first, by the ledger's clock, in milliseconds since 1970.
    pub begun_at_ms: u64,
}

/// Dense counters.
pub trait Dense: Send + Sync {
    /// Answers asks in their order, in one transaction: two of one key follow each other. A counter without a row has
    /// given the floor that a recovery left, 0 by default; behind its [fence](super::Fence) it begins no more, which
    /// is looked at in that transaction, so that one that was [forgotten](super::Retention::forget_dense) gives nothing
    /// again, whoever asks. What it answers is durable.
    ///
    /// The version goes up by one where anything was given, so that it can be left on a store before the numbers leave. At
    /// most 4096 asks; none are a look whether the ledger knows the caller.
    fn count<'a>(
        &'a self,
        pass: Pass<'a>,
        asks: &'a [DenseAsk],
    ) -> BoxFuture<'a, Result<Answer<Vec<DenseTaken>>, SourceError>>;

    /// The counters whose key is `under`, or `under` and more parts: of a sequence's name, those of its keys; of a whole key, that
    /// key's first of all. Those of all sequences where it is `None`; at most `most`, ascending by key.
    fn dense<'a>(
        &'a self,
        under: Option<&'a str>,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<DenseRow>, SourceError>>;
}
