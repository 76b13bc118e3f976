//! How much: a tenth in the test command, all of it in the long one.

use std::{ops::Range, time::Duration};

use crate::fault::Fault;

/// What the environment asks for.
pub(crate) struct Scale {
    /// Whether each slot fails in each way, and servers are killed twenty times.
    full: bool,
    /// How many numbers are checked.
    pub(crate) numbers: u64,
}

impl Scale {
    /// `SEQUENT_FAILOVER=full` and `SEQUENT_NUMBERS`; by default 10^6 numbers.
    pub(crate) fn from_environment() -> Self {
        let given = std::env::var("SEQUENT_NUMBERS").ok();
        let numbers = given.map_or(1_000_000, |count| count.parse().expect("SEQUENT_NUMBERS is a number"));
        let full = match std::env::var("SEQUENT_FAILOVER") {
            Ok(word) => {
                assert_eq!(word, "full", "SEQUENT_FAILOVER: only \"full\" is known");
                true
            }
            Err(_) => false,
        };
        Self { full, numbers }
    }

    /// Which slot fails how: every slot in every way, or every way on some slot, and every slot in some way.
    pub(crate) fn plan(&self) -> Vec<(usize, Fault)> {
        let all = |slot| Fault::ALL.map(|fault| (slot, fault));
        if self.full {
            return (0..4).flat_map(all).collect();
        }
        (0..).map(|at| at % 4).zip(Fault::ALL).collect()
    }

    /// For how long the ledger is away.
    pub(crate) fn without_ledger(&self) -> Duration {
        Duration::from_secs(if self.full { 60 } else { 8 })
    }

    /// For how long it is away at most, as the servers are configured.
    pub(crate) fn ledger_outage(&self) -> Duration {
        Duration::from_secs(if self.full { 600 } else { 30 })
    }

    /// For how long the pace is steady before that.
    pub(crate) fn before_outage(&self) -> Duration {
        Duration::from_secs(if self.full { 120 } else { 25 })
    }

    /// Sequences of which twice as many numbers are asked for meanwhile.
    pub(crate) fn doubling(&self, keys: usize) -> Range<usize> {
        if self.full { 0..0 } else { 0..keys / 2 }
    }

    /// How often servers are killed.
    pub(crate) fn kills(&self) -> usize {
        if self.full { 20 } else { 2 }
    }
}
