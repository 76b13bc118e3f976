//! A set of numbers as disjoint ranges: large blocks cost as little as small ones.

use std::collections::BTreeMap;

use sequent_core::Block;

/// Numbers that were given, as ranges from first to last.
#[derive(Debug, Default)]
pub(crate) struct Given(BTreeMap<u64, u64>);

impl Given {
    /// Adds a block; the first number of it that was there already, if one was.
    pub(crate) fn add(&mut self, block: Block) -> Option<u64> {
        if block.step() == 1 {
            return self.add_range(block.first(), block.last());
        }
        block.iter().find_map(|number| self.add_range(number, number))
    }

    /// The highest number, 0 if there is none.
    pub(crate) fn highest(&self) -> u64 {
        self.0.last_key_value().map_or(0, |(_, last)| *last)
    }

    fn add_range(&mut self, mut first: u64, mut last: u64) -> Option<u64> {
        let mut twice = None;
        while let Some((&start, &end)) = self.0.range(..=last.saturating_add(1)).next_back() {
            if end.saturating_add(1) < first {
                break;
            }
            if start.max(first) <= end.min(last) {
                twice = Some(start.max(first));
            }
            self.0.remove(&start);
            (first, last) = (first.min(start), last.max(end));
        }
        self.0.insert(first, last);
        twice
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_join_and_overlaps_are_found() {
        let mut given = Given::default();
        let block = |first, count| Block::new(first, 1, count).unwrap();
        assert_eq!(given.add(block(10, 5)), None);
        assert_eq!(given.add(block(1, 9)), None);
        assert_eq!(given.0.len(), 1, "neighbours are one range");
        assert_eq!(given.add(block(14, 2)), Some(14));
        assert_eq!(given.add(block(17, 2)), None);
        assert_eq!(given.add(block(16, 1)), None);
        assert_eq!(given.add(Block::new(20, 3, 3).unwrap()), None);
        assert_eq!(given.add(block(22, 2)), Some(23));
        assert_eq!(given.highest(), 26);
    }
}
