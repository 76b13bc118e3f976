//! Every id that left a server, by counter: the judge of repeats.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use sequent_core::{Blocks, ledger::Counter};
use sequent_testkit::Oracle;

/// Who got what. A repeat ends the test, unless it is what the test is about.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    tolerant: bool,
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    oracles: BTreeMap<Counter, Oracle>,
    repeats: Vec<String>,
}

impl Numbers {
    /// Repeats are counted, and end nothing.
    pub(crate) fn tolerant() -> Self {
        Self { tolerant: true, ..Self::default() }
    }

    /// Notes what left `server`.
    pub(crate) fn note(&self, counter: &Counter, blocks: &Blocks, server: &str) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let noted = held.oracles.entry(counter.clone()).or_default().add_blocks(blocks, server);
        if let Err(repeat) = noted {
            let text = format!("slot {} key {}: {repeat}", counter.slot, counter.key);
            assert!(self.tolerant, "{text}");
            held.repeats.push(text);
        }
    }

    /// The repeats found.
    pub(crate) fn repeats(&self) -> Vec<String> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).repeats.clone()
    }

    /// The highest id that left for a counter, 0 if none did.
    pub(crate) fn highest(&self, counter: &Counter) -> u64 {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.oracles.get(counter).and_then(Oracle::highest).unwrap_or(0)
    }
}
