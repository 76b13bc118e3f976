//! What a hand lowered, deleted or set far ahead in the ledger and in stores while nothing ran: what `doctor` says of it, and that
//! nothing comes twice where it says that all is well, or after what it advises was done.

mod beyond;
mod gone;
mod rows;

use std::collections::BTreeSet;

use crate::{doctor::by_hand, place::Place};

/// Numbers of one request.
const MANY: &str = "8000";

/// The numbers of a cluster, each once.
pub(crate) struct Given(BTreeSet<u64>);

impl Given {
    /// So many requests of `name`: with three, each slot comes further than slots that take turns are apart.
    pub(crate) fn by(place: &Place, name: &str, requests: usize) -> Self {
        let mut given = Self(BTreeSet::new());
        (0..requests).for_each(|_| given.more(place, name));
        given
    }

    pub(crate) fn more(&mut self, place: &Place, name: &str) {
        for number in place.numbers_patiently(&["next", name, "-n", MANY]) {
            assert!(self.0.insert(number), "{number} came twice");
        }
    }

    /// What to advance to: a round above the highest, so that each slot is moved.
    fn beyond(&self) -> String {
        (self.highest() + 100).to_string()
    }

    pub(crate) fn highest(&self) -> u64 {
        *self.0.last().unwrap()
    }
}

pub(crate) fn place() -> Place {
    let place = Place::with_cluster();
    by_hand(&place, "shard-0.db", "PRAGMA wal_checkpoint(TRUNCATE)");
    place
}

/// Lets the is in force be old: where a cell is gone, a young one is waited for as long as an attempt may take, in case
/// its opener is about to install it.
fn aged(place: &Place) {
    by_hand(place, "ledger.db", "UPDATE counters SET opened_at = 1");
}

/// What doctor says, with this exit code; the same as JSON.
pub(crate) fn doctor(place: &Place, code: i32) -> serde_json::Value {
    let ran = place.run(&["doctor", "--json"]);
    assert_eq!(ran.code, Some(code), "{ran:?}");
    assert_eq!(place.run(&["doctor"]).code, Some(code), "for people, too");
    ran.as_json()
}

/// The least number that the first finding's advice names: `Advance counter order to at least 4712.`
pub(crate) fn needed(report: &serde_json::Value) -> u64 {
    let advice = report["findings"][0]["advice"].as_str().unwrap();
    let (_, rest) = advice.split_once(" to at least ").unwrap_or_else(|| panic!("{advice}"));
    rest.split('.').next().unwrap().parse().unwrap()
}
