//! What a bench found, for people and for scripts.

use std::{collections::BTreeMap, time::Duration};

use serde::{Serialize, Serializer, ser::SerializeMap};

use super::{
    journal::{Entry, Kept},
    seen::{LISTED_MAX, Seen},
    tally::{PERCENTILES, Tally},
};
use crate::output;

/// The result; its JSON is what `--json` prints.
#[derive(Serialize)]
pub(crate) struct Summary {
    sequence: String,
    seconds: f64,
    requests: u64,
    numbers: u64,
    requests_per_second: f64,
    numbers_per_second: f64,
    errors: u64,
    errors_by_reason: BTreeMap<&'static str, u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_example: Option<String>,
    /// Absent where the check was switched off.
    #[serde(skip_serializing_if = "Option::is_none")]
    duplicates: Option<u64>,
    /// Numbers are strings here too.
    duplicate_numbers: Vec<String>,
    unchecked: u64,
    /// Requests that were due by the timetable of `--rate` and never started.
    unstarted: u64,
    latency_ns: Latency,
    evictions: u64,
    rescues: u64,
    events: Vec<Entry>,
}

struct Latency(Vec<(&'static str, &'static str, u64)>);

impl Serialize for Latency {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, _, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl Summary {
    /// Puts together what was counted in `elapsed`; `seen` is `None` where nothing was checked.
    pub(crate) fn new(
        sequence: String,
        elapsed: Duration,
        tally: Tally,
        seen: Option<&Seen>,
        unstarted: u64,
        kept: Kept,
    ) -> Self {
        let seconds = elapsed.as_secs_f64();
        let latency =
            PERCENTILES.iter().map(|&(p, key, name)| (key, name, tally.latency.value_at_percentile(p)));
        Self {
            sequence,
            seconds,
            requests: tally.requests,
            numbers: tally.numbers,
            requests_per_second: per_second(tally.requests, seconds),
            numbers_per_second: per_second(tally.numbers, seconds),
            errors: tally.error_count(),
            latency_ns: Latency(latency.collect()),
            errors_by_reason: tally.errors,
            error_example: tally.error_example,
            duplicates: seen.map(Seen::duplicates),
            duplicate_numbers: seen
                .map(Seen::listed)
                .unwrap_or_default()
                .iter()
                .map(u64::to_string)
                .collect(),
            unchecked: seen.map_or(tally.numbers, Seen::unchecked),
            unstarted,
            evictions: kept.evictions,
            rescues: kept.rescues,
            events: kept.entries,
        }
    }

    /// What was wrong, if anything: a bench with a failed request or a repeated number has failed.
    pub(crate) fn verdict(&self) -> Result<(), String> {
        let mut faults = Vec::new();
        if let Some(duplicates) = self.duplicates.filter(|&count| count > 0) {
            let more = if duplicates > LISTED_MAX as u64 { ", …" } else { "" };
            faults
                .push(format!("{duplicates} repeated numbers: {}{more}", self.duplicate_numbers.join(", ")));
        }
        if self.errors > 0 {
            let example = self.error_example.as_deref().unwrap_or_default();
            faults.push(format!("{} failed requests, one of them: {example}", self.errors));
        }
        if faults.is_empty() { Ok(()) } else { Err(faults.join("; ")) }
    }

    /// The table for people.
    pub(crate) fn lines(&self) -> Vec<String> {
        let row = |name: &str, value: String| vec![name.to_owned(), value];
        let rate = |count: u64, rate: f64| format!("{count} ({} a second)", whole(rate));
        let mut rows = vec![
            row("seconds", format!("{:.3}", self.seconds)),
            row("requests", rate(self.requests, self.requests_per_second)),
            row("numbers", rate(self.numbers, self.numbers_per_second)),
            row("errors", self.count_by_reason()),
            row("duplicates", self.duplicates.map_or("not checked".into(), |count| count.to_string())),
        ];
        if self.duplicates.is_some() && self.unchecked > 0 {
            rows.push(row("unchecked", format!("{}: they found no room in memory", self.unchecked)));
        }
        if self.unstarted > 0 {
            rows.push(row("unstarted", format!("{}: due by the rate, no task was free", self.unstarted)));
        }
        rows.push(row("evictions", format!("{}, rescues {}", self.evictions, self.rescues)));
        rows.extend(self.latency_ns.0.iter().map(|&(_, name, ns)| row(name, duration(ns))));
        output::table(&["sequence", &self.sequence], &rows)
    }

    fn count_by_reason(&self) -> String {
        let reasons: Vec<String> =
            self.errors_by_reason.iter().map(|(reason, count)| format!("{reason} {count}")).collect();
        if reasons.is_empty() { "0".into() } else { format!("{} ({})", self.errors, reasons.join(", ")) }
    }
}

#[allow(clippy::cast_precision_loss, reason = "a rate for people")]
pub(crate) fn per_second(count: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { count as f64 / seconds } else { 0.0 }
}

/// A rate without its fraction.
pub(crate) fn whole(rate: f64) -> String {
    format!("{rate:.0}")
}

/// Nanoseconds in the unit that suits them, three digits or so.
#[allow(clippy::cast_precision_loss, reason = "three digits for people")]
pub(crate) fn duration(ns: u64) -> String {
    match ns {
        0..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{:.1} µs", ns as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} ms", ns as f64 / 1e6),
        _ => format!("{:.2} s", ns as f64 / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::bench::seen::Checker;
    use std::sync::Arc;

    fn summary(tally: Tally, seen: Option<&Seen>) -> Summary {
        Summary::new("order".into(), Duration::from_secs(2), tally, seen, 0, Kept::default())
    }

    #[test]
    fn a_repeated_number_fails_the_bench_and_is_named() {
        let seen = Arc::new(Seen::default());
        let mut checker = Checker::new(&seen);
        for number in [5, 6, 5] {
            checker.add(number);
        }
        let mut tally = Tally::default();
        tally.done(3, Duration::from_micros(2));
        let summary = summary(tally, Some(&seen));
        assert_eq!(summary.verdict(), Err("1 repeated numbers: 5".into()));
        let json = serde_json::to_value(&summary).unwrap();
        assert_eq!((&json["duplicates"], &json["duplicate_numbers"][0]), (&1.into(), &"5".into()));
        assert_eq!(json["numbers_per_second"], 1.5);
        assert!(json["latency_ns"]["p99_99"].as_u64().unwrap() >= 2000);
    }

    #[test]
    fn a_failed_request_fails_the_bench() {
        let mut tally = Tally::default();
        tally.failed("DEADLINE_EXCEEDED", || "no number within 1500 ms".into(), Duration::from_millis(1500));
        let summary = summary(tally, None);
        assert_eq!(summary.verdict(), Err("1 failed requests, one of them: no number within 1500 ms".into()));
        assert!(summary.lines().contains(&"errors      1 (DEADLINE_EXCEEDED 1)".to_owned()));
        assert!(summary.lines().contains(&"duplicates  not checked".to_owned()));
    }

    #[test]
    fn units_suit_the_size() {
        assert_eq!(
            [40, 1_500, 2_000_000, 3_000_000_000].map(duration),
            ["40 ns", "1.5 µs", "2.0 ms", "3.00 s"]
        );
    }
}
