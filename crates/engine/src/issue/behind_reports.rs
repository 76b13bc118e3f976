//! Reports of callers that have numbers which this cluster can't have issued: one report a key. At most one log line a
//! second.

use std::sync::Mutex;

use sequent_core::sync;

use crate::status::report::BehindReport;

/// Upper limit of the keys remembered. Reports about further keys are only counted.
const KEYS_MAX: usize = 64;

/// The reports, by key.
#[derive(Debug, Default)]
pub(crate) struct BehindReports(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    keys: Vec<BehindReport>,
    more: u64,
}

impl BehindReports {
    /// Adds a report. Each key keeps the report with the highest number, and the latest among equals.
    pub(crate) fn add(&self, report: BehindReport) {
        let mut kept = sync::lock(&self.0);
        match kept.keys.iter().position(|held| held.key == report.key) {
            Some(at) if report.above >= kept.keys[at].above => kept.keys[at] = report,
            Some(_) => {}
            None if kept.keys.len() < KEYS_MAX => kept.keys.push(report),
            None => kept.more = kept.more.saturating_add(1),
        }
    }

    /// The reports in the order of their keys' first report, and the number of reports about further keys.
    pub(crate) fn all(&self) -> (Vec<BehindReport>, u64) {
        let kept = sync::lock(&self.0);
        (kept.keys.clone(), kept.more)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(key: &str, above: u64, at_ms: u64) -> BehindReport {
        BehindReport { key: key.to_owned(), above, permitted: 5, at_ms }
    }

    #[test]
    fn every_key_is_kept_with_its_highest_and_the_rest_is_counted() {
        let accused = BehindReports::default();
        for (key, above, at_ms) in [("order", 9, 1), ("invoice", 7, 1), ("order", 8, 2), ("invoice", 7, 3)] {
            accused.add(report(key, above, at_ms));
        }
        assert_eq!(accused.all(), (vec![report("order", 9, 1), report("invoice", 7, 3)], 0));
        for key in 0..KEYS_MAX {
            accused.add(report(&format!("k{key}"), 9, 4));
        }
        let (keys, more) = accused.all();
        assert_eq!((keys.len(), more), (KEYS_MAX, 2));
    }
}
