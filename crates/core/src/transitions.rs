//! Legal transitions of a state machine, checked where debug assertions are on: in tests and in the simulation.

use std::{collections::BTreeSet, sync::Mutex};

use crate::sync;

/// The names of two states: the one before and the one after.
type Pair = (&'static str, &'static str);

/// The legal transitions of a state machine. Staying in a state is none.
///
/// An illegal one is a program error, and panics in builds with debug assertions. Other builds do not look: no rule about
/// uniqueness rests on this table.
#[derive(Debug)]
pub struct Transitions {
    of: &'static str,
    legal: &'static [Pair],
    /// Those that happened since the process began, in builds with debug assertions.
    seen: Mutex<BTreeSet<Pair>>,
}

impl Transitions {
    /// The table of a kind of machine.
    pub const fn new(of: &'static str, legal: &'static [Pair]) -> Self {
        Self { of, legal, seen: Mutex::new(BTreeSet::new()) }
    }

    /// All of them.
    pub const fn legal(&self) -> &'static [Pair] {
        self.legal
    }

    /// Notes a transition. In builds with debug assertions it panics if the transition is illegal.
    pub fn check(&self, from: &'static str, to: &'static str) {
        if cfg!(debug_assertions) && from != to {
            let is_legal = self.legal.contains(&(from, to));
            debug_assert!(is_legal, "{}: no transition leads from {from} to {to}", self.of);
            sync::lock(&self.seen).insert((from, to));
        }
    }

    /// Those that have not happened in this process: all of them, in builds without debug assertions.
    pub fn unseen(&self) -> Vec<Pair> {
        let seen = sync::lock(&self.seen);
        self.legal.iter().copied().filter(|pair| !seen.contains(pair)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(not(debug_assertions), ignore = "transitions are checked where debug assertions are on")]
    fn what_happened_is_seen_and_staying_is_no_transition() {
        let lamp = Transitions::new("lamp", &[("off", "on"), ("on", "off")]);
        lamp.check("off", "off");
        lamp.check("off", "on");
        assert_eq!(lamp.unseen(), [("on", "off")]);
    }

    #[test]
    #[cfg_attr(not(debug_assertions), ignore = "transitions are checked where debug assertions are on")]
    #[should_panic(expected = "lamp: no transition leads from off to broken")]
    fn an_illegal_one_panics() {
        Transitions::new("lamp", &[("off", "on"), ("on", "off")]).check("off", "broken");
    }
}
