//! Monotonicity check: whether the counter went backwards, compared with what this process had seen when the take began.

use std::collections::BTreeMap;

use sequent_core::{Block, Rule, Rules};

/// Ticket of a take: what its block must exceed, noted before the store is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ticket {
    floor: u64,
    number: u64,
}

/// Ids that completed takes returned, as far as takes still in flight could repeat them.
#[derive(Debug, Default)]
pub(crate) struct Monotonicity {
    floor: u64,
    next_ticket: u64,
    /// Takes in flight, by ticket. Each has the blocks, as (first, last), that completed since it began.
    flights: BTreeMap<u64, Vec<(u64, u64)>>,
}

/// Why a block cannot come from an unbroken counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Backwards {
    /// It is not above everything seen when its take began.
    Below {
        /// The highest id seen by then.
        floor: u64,
    },
    /// It overlaps ids that completed since its take began.
    Overlaps {
        /// The first id of the block it overlaps.
        first: u64,
    },
}

impl std::fmt::Display for Backwards {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Below { floor } => write!(f, "not above {floor}, which was seen before the take began"),
            Self::Overlaps { first } => write!(f, "overlaps ids from {first} that were taken meanwhile"),
        }
    }
}

impl Monotonicity {
    /// Begins a take.
    pub(crate) fn begin(&mut self) -> Ticket {
        let number = self.next_ticket;
        self.next_ticket += 1;
        self.flights.insert(number, Vec::new());
        Ticket { floor: self.floor, number }
    }

    /// Ends a take without a block.
    pub(crate) fn abandon(&mut self, ticket: Ticket) {
        self.flights.remove(&ticket.number);
    }

    /// Ends a take with a block: counts the block as seen, or returns why it is refused.
    pub(crate) fn complete(&mut self, ticket: Ticket, block: Block, rules: Rules) -> Result<(), Backwards> {
        let since = self.flights.remove(&ticket.number).unwrap_or_default();
        // R17
        if block.first() <= ticket.floor && rules.keep(Rule::Order) {
            return Err(Backwards::Below { floor: ticket.floor });
        }
        let overlap = since.into_iter().find(|&(first, last)| block.first() <= last && first <= block.last());
        // R19
        if let Some((first, _)) = overlap
            && rules.keep(Rule::OrderDisjoint)
        {
            return Err(Backwards::Overlaps { first });
        }
        for others in self.flights.values_mut() {
            others.push((block.first(), block.last()));
        }
        self.floor = self.floor.max(block.last());
        Ok(())
    }

    /// Notes ids taken by others. Takes that begin from now on must be above them.
    pub(crate) fn saw(&mut self, id: u64) {
        self.floor = self.floor.max(id);
    }

    /// The floor of a take that would begin now.
    pub(crate) fn floor(&self) -> u64 {
        self.floor
    }

    /// Begins a new epoch: ids of the ended one that never left do not count.
    pub(crate) fn restart(&mut self, floor: u64) {
        self.floor = floor;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(first: u64, count: u64) -> Block {
        Block::new(first, 1, count).unwrap()
    }

    #[test]
    fn a_block_not_above_what_was_seen_is_a_regression() {
        let mut order = Monotonicity::default();
        let first = order.begin();
        assert_eq!(order.complete(first, block(5, 2), Rules::ALL), Ok(()));
        let second = order.begin();
        assert_eq!(order.complete(second, block(6, 1), Rules::ALL), Err(Backwards::Below { floor: 6 }));
    }

    #[test]
    fn takes_in_flight_together_may_end_in_any_order_but_not_overlap() {
        let mut order = Monotonicity::default();
        let (a, b, c) = (order.begin(), order.begin(), order.begin());
        assert_eq!(order.complete(b, block(10, 5), Rules::ALL), Ok(()));
        assert_eq!(order.complete(a, block(5, 5), Rules::ALL), Ok(()), "below, but taken before");
        assert_eq!(order.complete(c, block(14, 1), Rules::ALL), Err(Backwards::Overlaps { first: 10 }));
        assert!(order.flights.is_empty());
    }

    #[test]
    fn what_others_saw_counts_for_takes_that_begin_later() {
        let mut order = Monotonicity::default();
        let early = order.begin();
        order.saw(100);
        assert_eq!(order.complete(early, block(50, 1), Rules::ALL), Ok(()));
        let late = order.begin();
        assert_eq!(order.complete(late, block(60, 1), Rules::ALL), Err(Backwards::Below { floor: 100 }));
    }
}
