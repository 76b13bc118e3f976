//! Block: an arithmetic progression of numbers, the unit in which numbers pass from layer to layer.

use std::fmt;

/// `count` numbers `first, first + step, …`: never empty, all within `0 ..= i64::MAX`. Raw ids begin at 1; numbers of a
/// sequence begin at its start, which may be 0.
///
/// Every operation is checked, because Rust's `<<` drops high bits silently and a wrapped number is a repeated number.
///
/// ```
/// use sequent_core::Block;
/// let block = Block::new(4, 2, 3)?;
/// assert_eq!(block.iter().collect::<Vec<_>>(), [4, 6, 8]);
/// assert!(Block::new(i64::MAX as u64, 1, 2).is_err());
/// # Ok::<(), sequent_core::BlockError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Block {
    first: u64,
    step: u64,
    count: u64,
}

/// Invalid block: empty, with a step of 0, or with a number outside `0 ..= i64::MAX`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BlockError {
    /// The count was 0.
    #[error("empty block (first {first}): count must be at least 1")]
    Empty {
        /// The first number asked for.
        first: u64,
    },
    /// The step was 0: the block would repeat one number.
    #[error("block with step 0 (first {first}): step must be at least 1")]
    StandsStill {
        /// The first number asked for.
        first: u64,
    },
    /// A number of the block is above `i64::MAX`.
    #[error("block first {first} step {step} count {count} leaves 0..=9223372036854775807")]
    OutOfRange {
        /// The first number asked for.
        first: u64,
        /// The distance between neighbours.
        step: u64,
        /// How many numbers were asked for.
        count: u64,
    },
}

impl Block {
    /// The highest number of any block: the maximum of a signed 64-bit column.
    pub const NUMBER_MAX: u64 = i64::MAX as u64;

    /// A progression, checked against `0 ..= i64::MAX`.
    pub const fn new(first: u64, step: u64, count: u64) -> Result<Self, BlockError> {
        if count == 0 {
            return Err(BlockError::Empty { first });
        }
        if step == 0 {
            return Err(BlockError::StandsStill { first });
        }
        let last = first as u128 + step as u128 * (count as u128 - 1);
        if last > Self::NUMBER_MAX as u128 {
            return Err(BlockError::OutOfRange { first, step, count });
        }
        Ok(Self { first, step, count })
    }

    /// The `count` raw ids that end with `last`: the result of raising a counter to `last`. Counters begin at 1.
    pub const fn ending_at(last: u64, count: u64) -> Result<Self, BlockError> {
        match (last + 1).checked_sub(count) {
            Some(first) if first > 0 => Self::new(first, 1, count),
            _ => Err(BlockError::OutOfRange { first: 0, step: 1, count }),
        }
    }

    /// The lowest number.
    pub const fn first(&self) -> u64 {
        self.first
    }

    /// The distance between neighbours, at least 1.
    pub const fn step(&self) -> u64 {
        self.step
    }

    /// How many numbers, at least 1.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The highest number.
    pub const fn last(&self) -> u64 {
        self.first + self.step * (self.count - 1)
    }

    /// The number at `offset`, or `None` past the end.
    pub const fn get(&self, offset: u64) -> Option<u64> {
        if offset < self.count { Some(self.first + self.step * offset) } else { None }
    }

    /// Whether the block contains `number`.
    pub const fn contains(&self, number: u64) -> bool {
        number >= self.first && number <= self.last() && (number - self.first).is_multiple_of(self.step)
    }

    /// The first `count` numbers, and the rest. An empty side is `None`.
    ///
    /// ```
    /// # use sequent_core::Block;
    /// let (head, tail) = Block::new(1, 1, 5)?.split_at(2);
    /// assert_eq!((head, tail), (Some(Block::new(1, 1, 2)?), Some(Block::new(3, 1, 3)?)));
    /// # Ok::<(), sequent_core::BlockError>(())
    /// ```
    pub const fn split_at(self, count: u64) -> (Option<Self>, Option<Self>) {
        if count == 0 {
            return (None, Some(self));
        }
        if count >= self.count {
            return (Some(self), None);
        }
        let head = Self { count, ..self };
        let tail = Self { first: self.first + self.step * count, step: self.step, count: self.count - count };
        (Some(head), Some(tail))
    }

    /// The part of this block that is at most `limit`; `None` if there is none.
    pub const fn up_to(self, limit: u64) -> Option<Self> {
        if self.first > limit {
            return None;
        }
        let count = (limit - self.first) / self.step + 1;
        Some(if count < self.count { Self { count, ..self } } else { self })
    }

    /// Every number, ascending.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = u64> + use<> {
        let Self { first, step, count } = *self;
        (0..count).map(move |offset| first + step * offset)
    }
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.step {
            1 => write!(f, "{}..={}", self.first, self.last()),
            step => write!(f, "{}..={} by {step}", self.first, self.last()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn refuses_what_a_counter_cannot_give() {
        assert_eq!(Block::new(0, 1, 2).unwrap().iter().collect::<Vec<_>>(), [0, 1]);
        assert!(matches!(Block::new(1, 0, 2), Err(BlockError::StandsStill { .. })));
        assert!(matches!(Block::new(1, 1, 0), Err(BlockError::Empty { .. })));
        assert!(matches!(Block::new(2, u64::MAX, u64::MAX), Err(BlockError::OutOfRange { .. })));
        assert!(Block::new(Block::NUMBER_MAX, u64::MAX, 1).is_ok());
        assert!(Block::ending_at(4, 5).is_err(), "0 is no raw id");
        assert_eq!(Block::ending_at(5, 5), Block::new(1, 1, 5));
    }

    proptest! {
        #[test]
        fn a_split_loses_nothing(first in 0..1000_u64, step in 1..50_u64, count in 1..200_u64, at in 0..250_u64) {
            let block = Block::new(first, step, count).unwrap();
            let (head, tail) = block.split_at(at);
            let joined: Vec<u64> = head.iter().chain(&tail).flat_map(Block::iter).collect();
            prop_assert_eq!(joined, block.iter().collect::<Vec<_>>());
        }

        #[test]
        fn up_to_keeps_exactly_what_fits(first in 0..1000_u64, step in 1..50_u64, count in 1..200_u64, limit in 0..12_000_u64) {
            let block = Block::new(first, step, count).unwrap();
            let kept: Vec<u64> = block.up_to(limit).iter().flat_map(Block::iter).collect();
            prop_assert_eq!(kept, block.iter().filter(|n| *n <= limit).collect::<Vec<_>>());
        }

        #[test]
        fn contains_agrees_with_iter(first in 1..100_u64, step in 1..9_u64, count in 1..20_u64, number in 0..400_u64) {
            let block = Block::new(first, step, count).unwrap();
            prop_assert_eq!(block.contains(number), block.iter().any(|n| n == number));
        }
    }
}
