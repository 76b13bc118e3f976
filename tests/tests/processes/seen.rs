//! Every number that anybody was given, with who was given it.

use std::collections::BTreeMap;

/// Panics at the second taker of a number, naming both.
#[derive(Default)]
pub(crate) struct Seen {
    takers: BTreeMap<u64, String>,
}

impl Seen {
    /// Notes what `who` was given.
    pub(crate) fn add(&mut self, who: &str, numbers: impl IntoIterator<Item = u64>) {
        for number in numbers {
            if let Some(first) = self.takers.insert(number, who.to_owned()) {
                panic!("{number} was given twice: to {first}, then to {who}");
            }
        }
    }

    /// How many so far.
    pub(crate) fn count(&self) -> usize {
        self.takers.len()
    }
}

#[test]
#[should_panic(expected = "7 was given twice: to a, then to b")]
fn a_second_taker_is_named() {
    let mut seen = Seen::default();
    seen.add("a", [6, 7]);
    seen.add("b", [8, 7]);
}
