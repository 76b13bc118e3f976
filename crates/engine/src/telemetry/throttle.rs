//! The throttle of log lines that requests cause: one a second at most, which says how many were left out.

use std::{
    collections::BTreeMap,
    sync::Mutex,
    time::{Duration, Instant},
};

use sequent_core::sync;

/// Least time between two lines of one name.
const EVERY: Duration = Duration::from_secs(1);

/// When each name, of an event or of an error's reason, had its last line, and how many were left out since.
#[derive(Debug, Default)]
pub(crate) struct Throttle(Mutex<BTreeMap<&'static str, Line>>);

#[derive(Debug)]
struct Line {
    at: Instant,
    left_out: u64,
}

impl Throttle {
    /// How many lines were left out before the one that may be written now; `None` if it is left out too.
    pub(crate) fn line(&self, name: &'static str, now: Instant) -> Option<u64> {
        let mut lines = sync::lock(&self.0);
        let Some(line) = lines.get_mut(name) else {
            lines.insert(name, Line { at: now, left_out: 0 });
            return Some(0);
        };
        if now.saturating_duration_since(line.at) < EVERY {
            line.left_out += 1;
            return None;
        }
        line.at = now;
        Some(std::mem::take(&mut line.left_out))
    }
}

#[cfg(test)]
mod tests {
    use sequent_core::{Clock, SystemClock};

    use super::*;

    #[test]
    fn each_name_has_a_line_a_second_that_counts_those_left_out() {
        let (seldom, begun) = (Throttle::default(), SystemClock.now());
        let at = |ms| begun + Duration::from_millis(ms);
        assert_eq!(seldom.line("LEDGER_UNAVAILABLE", at(0)), Some(0));
        assert_eq!(seldom.line("LEDGER_UNAVAILABLE", at(1)), None);
        assert_eq!(seldom.line("NO_SHARD_AVAILABLE", at(2)), Some(0));
        assert_eq!(seldom.line("LEDGER_UNAVAILABLE", at(999)), None);
        assert_eq!(seldom.line("LEDGER_UNAVAILABLE", at(1000)), Some(2));
        assert_eq!(seldom.line("LEDGER_UNAVAILABLE", at(2500)), Some(0));
    }
}
