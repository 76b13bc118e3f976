//! Histograms as counters of fixed buckets. The exporter's own keep each sample until they are drained, which costs a clock
//! reading, an allocation now and then and a push a sample: 4 % of a small request, and memory while nobody looks.

use std::{
    collections::BTreeMap,
    fmt::{self, Write},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use metrics::{HistogramFn, Key};
use sequent_core::sync::lock;

/// Upper bounds of buckets, in seconds. They are fixed, because quantiles over several servers need common buckets.
const SECONDS: &[f64] = &[
    0.000_01, 0.000_025, 0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1,
    0.25, 0.5, 1.0, 2.5, 5.0,
];

/// Upper bounds of buckets, in numbers per request.
const NUMBERS: &[f64] = &[1.0, 2.0, 5.0, 10.0, 100.0, 1000.0, 10_000.0, 100_000.0, 1_000_000.0];

/// All histograms, and what they mean.
#[derive(Default)]
pub(super) struct Histograms {
    /// By metric, so that each metric is rendered in one piece.
    series: Mutex<BTreeMap<Key, Arc<Buckets>>>,
    help: Mutex<BTreeMap<String, String>>,
}

/// One series: how many samples fell into each bucket, and their sum.
pub(super) struct Buckets {
    bounds: &'static [f64],
    /// One more than there are bounds: the last is for samples above all of them.
    counts: Box<[AtomicU64]>,
    /// Bits of a float.
    sum: AtomicU64,
}

impl Histograms {
    /// Sets what a metric means.
    pub(super) fn describe(&self, metric: &str, help: &str) {
        lock(&self.help).insert(metric.to_owned(), help.to_owned());
    }

    /// The series of a metric and its labels, which begins empty.
    pub(super) fn series(&self, key: &Key) -> Arc<Buckets> {
        let mut series = lock(&self.series);
        Arc::clone(series.entry(key.to_retained()).or_insert_with(|| Arc::new(Buckets::of(key.name()))))
    }

    /// Appends all series in the Prometheus text format.
    pub(super) fn render(&self, text: &mut String) -> fmt::Result {
        let help = lock(&self.help);
        let series = lock(&self.series);
        let mut last = "";
        for (key, buckets) in series.iter() {
            if key.name() != last {
                last = key.name();
                if let Some(help) = help.get(last) {
                    writeln!(text, "# HELP {last} {help}")?;
                }
                writeln!(text, "# TYPE {last} histogram")?;
            }
            buckets.render(text, key)?;
        }
        Ok(())
    }
}

impl Buckets {
    fn of(metric: &str) -> Self {
        let bounds = if metric.ends_with("_seconds") { SECONDS } else { NUMBERS };
        let counts = (0..=bounds.len()).map(|_| AtomicU64::new(0)).collect();
        Self { bounds, counts, sum: AtomicU64::new(0) }
    }

    fn render(&self, text: &mut String, key: &Key) -> fmt::Result {
        let (name, labels) = (key.name(), labels(key)?);
        let mut count = 0;
        for (at, bucket) in self.counts.iter().enumerate() {
            count += bucket.load(Ordering::Relaxed);
            let comma = if labels.is_empty() { "" } else { "," };
            match self.bounds.get(at) {
                Some(bound) => writeln!(text, "{name}_bucket{{{labels}{comma}le=\"{bound}\"}} {count}")?,
                None => writeln!(text, "{name}_bucket{{{labels}{comma}le=\"+Inf\"}} {count}")?,
            }
        }
        let labels = if labels.is_empty() { labels } else { format!("{{{labels}}}") };
        let sum = f64::from_bits(self.sum.load(Ordering::Relaxed));
        writeln!(text, "{name}_sum{labels} {sum}")?;
        writeln!(text, "{name}_count{labels} {count}")
    }
}

impl HistogramFn for Buckets {
    fn record(&self, value: f64) {
        self.record_many(value, 1);
    }

    fn record_many(&self, value: f64, count: usize) {
        let at = self.bounds.partition_point(|bound| *bound < value);
        self.counts[at].fetch_add(count as u64, Ordering::Relaxed);
        #[allow(clippy::cast_precision_loss, reason = "counts of a request are far below 2^53")]
        let added = value * count as f64;
        let more = |sum| Some((f64::from_bits(sum) + added).to_bits());
        // The closure always says what to store.
        let _ = self.sum.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
    }
}

/// Labels as they stand between braces.
fn labels(key: &Key) -> Result<String, fmt::Error> {
    let mut text = String::new();
    for label in key.labels() {
        let value = label.value().replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n");
        let comma = if text.is_empty() { "" } else { "," };
        write!(text, "{comma}{}=\"{value}\"", label.key())?;
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_counted_in_their_buckets_and_those_below() {
        let histograms = Histograms::default();
        histograms.describe("sequent_request_numbers", "Numbers a request.");
        let key = Key::from_parts("sequent_request_numbers", &[("api", "a\"b")]);
        let series = histograms.series(&key);
        for value in [1.0, 1.5, 2.0, 4e6] {
            series.record(value);
        }
        histograms.series(&key).record_many(3.0, 2);
        let mut text = String::new();
        histograms.render(&mut text).unwrap();
        let expected = "\
# HELP sequent_request_numbers Numbers a request.
# TYPE sequent_request_numbers histogram
sequent_request_numbers_bucket{api=\"a\\\"b\",le=\"1\"} 1
sequent_request_numbers_bucket{api=\"a\\\"b\",le=\"2\"} 3
sequent_request_numbers_bucket{api=\"a\\\"b\",le=\"5\"} 5
";
        assert!(text.starts_with(expected), "{text}");
        let end = "\
sequent_request_numbers_bucket{api=\"a\\\"b\",le=\"1000000\"} 5
sequent_request_numbers_bucket{api=\"a\\\"b\",le=\"+Inf\"} 6
sequent_request_numbers_sum{api=\"a\\\"b\"} 4000010.5
sequent_request_numbers_count{api=\"a\\\"b\"} 6
";
        assert!(text.ends_with(end), "{text}");
    }

    #[test]
    fn each_metric_is_rendered_in_one_piece_and_without_labels_too() {
        let histograms = Histograms::default();
        for (metric, slot) in [("b_seconds", Some("1")), ("a_seconds", None), ("b_seconds", Some("0"))] {
            let key = slot.map_or_else(
                || Key::from_name(metric),
                |slot| Key::from_parts(metric, vec![metrics::Label::new("slot", slot)]),
            );
            histograms.series(&key).record(0.5);
        }
        let mut text = String::new();
        histograms.render(&mut text).unwrap();
        assert_eq!(text.matches("# TYPE").count(), 2, "{text}");
        assert!(text.contains("a_seconds_bucket{le=\"0.25\"} 0\na_seconds_bucket{le=\"0.5\"} 1\n"), "{text}");
        assert!(text.contains("a_seconds_sum 0.5\na_seconds_count 1\n"), "{text}");
    }
}
