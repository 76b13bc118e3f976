//! Report of a bench, for people and scripts.

use std::{collections::BTreeMap, time::Duration};

use hdrhistogram::Histogram;
use sequent_core::SequenceName;
use serde::Serialize;

use super::{
    duplicate_check::{LISTED_MAX, Seen},
    target::Missed,
    workers::Turn,
};
use crate::output;

/// The longest latency that is distinguished, in nanoseconds: longer ones count as a minute.
const LATENCY_MAX_NS: u64 = 60_000_000_000;

/// Three digits, so that every percentile is accurate to a thousandth.
const LATENCY_DIGITS: u8 = 3;

/// Counts of finished requests.
#[derive(Serialize)]
pub(super) struct Counts {
    requests: u64,
    numbers: u64,
    /// Failed requests by reason.
    errors_by_reason: BTreeMap<&'static str, u64>,
    /// The message of one failed request.
    #[serde(skip_serializing_if = "Option::is_none")]
    error_example: Option<String>,
    /// From the planned start to the end, in nanoseconds; failed requests too.
    #[serde(skip)]
    latency: Histogram<u64>,
}

impl Default for Counts {
    fn default() -> Self {
        #[allow(clippy::expect_used, reason = "constant bounds: low 1, high above 2, at most five digits")]
        let latency = Histogram::new_with_max(LATENCY_MAX_NS, LATENCY_DIGITS).expect("constant bounds");
        Self { requests: 0, numbers: 0, errors_by_reason: BTreeMap::new(), error_example: None, latency }
    }
}

impl Counts {
    /// Adds the counts of a task.
    pub(super) fn add(&mut self, turn: Turn) {
        self.requests += turn.ended.len() as u64;
        self.numbers += turn.numbers.len() as u64;
        for (latency, missed) in turn.ended {
            self.latency.saturating_record(u64::try_from(latency.as_nanos()).unwrap_or(LATENCY_MAX_NS));
            if let Some(Missed { reason, text }) = missed {
                *self.errors_by_reason.entry(reason).or_default() += 1;
                self.error_example.get_or_insert(text);
            }
        }
    }

    pub(super) fn absorb(&mut self, other: Self) {
        self.requests += other.requests;
        self.numbers += other.numbers;
        for (reason, count) in other.errors_by_reason {
            *self.errors_by_reason.entry(reason).or_default() += count;
        }
        self.error_example = self.error_example.take().or(other.error_example);
        // Both sides have equal bounds, so it cannot fail.
        let _ = self.latency.add(other.latency);
    }

    fn errors(&self) -> u64 {
        self.errors_by_reason.values().sum()
    }

    /// The counts of an interval, in one line.
    pub(super) fn line(&self, length: Duration) -> String {
        let rate = |count| per_second(count, length.as_secs_f64());
        let (numbers, requests, errors) = (rate(self.numbers), rate(self.requests), self.errors());
        let latency = if self.requests > 0 { self.latency().cells() } else { Vec::new() };
        let latency: Vec<String> = latency.iter().map(|(name, value)| format!(", {name} {value}")).collect();
        let latency = latency.concat();
        format!("{numbers:.0} numbers/s, {requests:.0} requests/s, {errors} errors{latency}")
    }

    fn latency(&self) -> Latency {
        let at = |percentile| self.latency.value_at_percentile(percentile);
        Latency { p50: at(50.0), p99: at(99.0), p99_9: at(99.9), max: at(100.0) }
    }
}

/// Nanoseconds.
#[derive(Serialize)]
struct Latency {
    p50: u64,
    p99: u64,
    p99_9: u64,
    max: u64,
}

impl Latency {
    fn cells(&self) -> Vec<(&'static str, String)> {
        let all = [("p50", self.p50), ("p99", self.p99), ("p99.9", self.p99_9), ("max", self.max)];
        all.map(|(name, ns)| (name, duration(ns))).into()
    }
}

/// The result; its JSON is what `--json` prints.
#[derive(Serialize)]
pub(super) struct Report {
    sequence: String,
    seconds: f64,
    #[serde(flatten)]
    counts: Counts,
    requests_per_second: f64,
    numbers_per_second: f64,
    errors: u64,
    duplicates: u64,
    /// Numbers are strings here too.
    duplicate_numbers: Vec<String>,
    unchecked: u64,
    latency_ns: Latency,
}

impl Report {
    pub(super) fn new(sequence: &SequenceName, elapsed: Duration, counts: Counts, seen: &Seen) -> Self {
        let seconds = elapsed.as_secs_f64();
        Self {
            sequence: sequence.to_string(),
            seconds,
            requests_per_second: per_second(counts.requests, seconds),
            numbers_per_second: per_second(counts.numbers, seconds),
            errors: counts.errors(),
            latency_ns: counts.latency(),
            counts,
            duplicates: seen.duplicates,
            duplicate_numbers: seen.listed.iter().map(u64::to_string).collect(),
            unchecked: seen.unchecked,
        }
    }

    /// The failure of a bench with a failed request or a repeated number.
    pub(super) fn verdict(&self) -> Result<(), String> {
        let mut faults = Vec::new();
        if self.duplicates > 0 {
            let more = if self.duplicates > LISTED_MAX as u64 { ", …" } else { "" };
            let numbers = self.duplicate_numbers.join(", ");
            faults.push(format!("{} repeated numbers: {numbers}{more}", self.duplicates));
        }
        if self.errors > 0 {
            let example = self.counts.error_example.as_deref().unwrap_or_default();
            faults.push(format!("{} failed requests, one of them: {example}", self.errors));
        }
        if faults.is_empty() { Ok(()) } else { Err(faults.join("; ")) }
    }

    /// The table for people.
    pub(super) fn lines(&self) -> Vec<String> {
        let row = |name: &str, value: String| vec![name.to_owned(), value];
        let rate = |count: u64, rate: f64| format!("{count} ({rate:.0} a second)");
        let mut rows = vec![
            row("seconds", format!("{:.3}", self.seconds)),
            row("requests", rate(self.counts.requests, self.requests_per_second)),
            row("numbers", rate(self.counts.numbers, self.numbers_per_second)),
            row("errors", self.errors_with_reasons()),
            row("duplicates", self.duplicates.to_string()),
        ];
        if self.unchecked > 0 {
            rows.push(row("unchecked", format!("{}: they found no room in memory", self.unchecked)));
        }
        rows.extend(self.latency_ns.cells().into_iter().map(|(name, value)| row(name, value)));
        output::table(&["sequence", &self.sequence], &rows)
    }

    fn errors_with_reasons(&self) -> String {
        let reasons: Vec<String> =
            self.counts.errors_by_reason.iter().map(|(reason, count)| format!("{reason} {count}")).collect();
        if reasons.is_empty() { "0".into() } else { format!("{} ({})", self.errors, reasons.join(", ")) }
    }
}

#[allow(clippy::cast_precision_loss, reason = "a rate for people")]
fn per_second(count: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { count as f64 / seconds } else { 0.0 }
}

/// Nanoseconds in a suitable unit, with about three digits.
#[allow(clippy::cast_precision_loss, reason = "three digits for people")]
fn duration(ns: u64) -> String {
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

    fn report(counts: Counts, numbers: &[u64]) -> Report {
        let mut seen = Seen::default();
        for number in numbers {
            seen.add(*number);
        }
        Report::new(&"order".parse().unwrap(), Duration::from_secs(2), counts, &seen)
    }

    fn given(latency: Duration, numbers: &[u64]) -> Turn {
        Turn { ended: vec![(latency, None)], numbers: numbers.to_vec() }
    }

    fn failed(latency: Duration) -> Turn {
        let missed = Missed { reason: "DEADLINE_EXCEEDED", text: "no number within 1500 ms".to_owned() };
        Turn { ended: vec![(latency, Some(missed))], numbers: Vec::new() }
    }

    #[test]
    fn a_repeated_number_fails_the_bench_and_is_named() {
        let mut counts = Counts::default();
        counts.add(given(Duration::from_micros(2), &[5, 6, 5]));
        let report = report(counts, &[5, 6, 5]);
        assert_eq!(report.verdict(), Err("1 repeated numbers: 5".into()));
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!((&json["duplicates"], &json["duplicate_numbers"][0]), (&1.into(), &"5".into()));
        assert_eq!(json["numbers_per_second"], 1.5);
        assert!(json["latency_ns"]["p99_9"].as_u64().unwrap() >= 2000);
    }

    #[test]
    fn a_failed_request_fails_the_bench_and_is_counted_by_its_reason() {
        let (mut counts, mut later) = (Counts::default(), Counts::default());
        counts.add(failed(Duration::from_hours(1)));
        later.add(failed(Duration::from_millis(2)));
        counts.absorb(later);
        let report = report(counts, &[]);
        assert_eq!(report.verdict(), Err("2 failed requests, one of them: no number within 1500 ms".into()));
        assert!(report.lines().contains(&"errors      2 (DEADLINE_EXCEEDED 2)".to_owned()));
        assert!(report.latency_ns.max >= LATENCY_MAX_NS, "an hour is the longest latency, and not none");
    }

    #[test]
    fn a_line_has_no_latency_where_nothing_ended() {
        let mut counts = Counts::default();
        assert_eq!(counts.line(Duration::from_secs(2)), "0 numbers/s, 0 requests/s, 0 errors");
        counts.add(given(Duration::from_nanos(70), &[1; 300]));
        counts.add(failed(Duration::from_secs(3)));
        let line = "150 numbers/s, 1 requests/s, 1 errors, p50 70 ns, p99 3.00 s, p99.9 3.00 s, max 3.00 s";
        assert_eq!(counts.line(Duration::from_secs(2)), line);
    }

    #[test]
    fn units_suit_the_size() {
        assert_eq!(
            [40, 1_500, 2_000_000, 3_000_000_000].map(duration),
            ["40 ns", "1.5 µs", "2.0 ms", "3.00 s"]
        );
    }
}
