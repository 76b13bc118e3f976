//! The figures of a bench that runs: the last second and all so far, as a table or as a line.

use std::time::Duration;

use super::{
    summary::{duration, per_second, whole},
    tally::Tally,
};

/// The columns with the least width that each has, so that they stay where they are: 79 in all.
const COLUMNS: [(&str, usize); 7] =
    [("numbers/s", 11), ("requests/s", 11), ("errors", 7), ("p50", 8), ("p99", 8), ("p99.9", 8), ("max", 8)];

/// The width of the names of rows.
const NAMES: usize = 11;

/// What is shown where no request has ended: a latency of 0 would be a lie.
const NOTHING: &str = "-";

/// What was counted, and for how long.
#[derive(Clone, Copy)]
pub(crate) struct Span<'a> {
    pub(crate) tally: &'a Tally,
    pub(crate) length: Duration,
}

/// A head, the last second, and all so far.
pub(crate) fn table(last: Span<'_>, all: Span<'_>) -> String {
    let heads = COLUMNS.map(|(name, _)| name.to_owned());
    [row("", &heads), row("last second", &cells(last)), row("so far", &cells(all))].join("\n")
}

/// The same figures in one line.
pub(crate) fn line(span: Span<'_>) -> String {
    let [numbers, requests, errors, latencies @ ..] = cells(span);
    let latencies = COLUMNS[3..].iter().zip(latencies).map(|((name, _), value)| format!("{name} {value}"));
    let latencies: Vec<String> = latencies.collect();
    format!("{numbers} numbers/s, {requests} requests/s, {errors} errors, {}", latencies.join(", "))
}

fn cells(Span { tally, length }: Span<'_>) -> [String; COLUMNS.len()] {
    let rate = |count| whole(per_second(count, length.as_secs_f64()));
    let at = |percentile| match tally.requests {
        0 => NOTHING.to_owned(),
        _ => duration(tally.latency.value_at_percentile(percentile)),
    };
    [
        rate(tally.numbers),
        rate(tally.requests),
        tally.error_count().to_string(),
        at(50.0),
        at(99.0),
        at(99.9),
        at(100.0),
    ]
}

fn row(name: &str, cells: &[String; COLUMNS.len()]) -> String {
    let cells = cells.iter().zip(COLUMNS).map(|(cell, (_, width))| format!(" {cell:>width$}"));
    std::iter::once(format!("{name:NAMES$}")).chain(cells).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally() -> Tally {
        let mut tally = Tally::default();
        tally.done(300, Duration::from_nanos(70));
        tally.failed("DRAINING", String::new, Duration::from_micros(90));
        tally
    }

    #[test]
    fn a_table_has_the_last_second_and_all_so_far() {
        let (last, mut all) = (tally(), tally());
        all.done(700, Duration::from_millis(5));
        let span = |tally, seconds| Span { tally, length: Duration::from_secs(seconds) };
        let expected = "              \
             numbers/s  requests/s  errors      p50      p99    p99.9      max\n\
last second         300           2       1    70 ns  90.0 µs  90.0 µs  90.0 µs\n\
so far              100           0       1  90.0 µs   5.0 ms   5.0 ms   5.0 ms";
        assert_eq!(table(span(&last, 1), span(&all, 10)), expected);
        assert!(expected.lines().all(|line| line.chars().count() == 79), "it fits a terminal");
    }

    #[test]
    fn a_line_has_the_same_and_no_latency_where_nothing_ended() {
        let of = |tally: &Tally| line(Span { tally, length: Duration::from_secs(2) });
        let expected =
            "150 numbers/s, 1 requests/s, 1 errors, p50 70 ns, p99 90.0 µs, p99.9 90.0 µs, max 90.0 µs";
        assert_eq!(of(&tally()), expected);
        let nothing = "0 numbers/s, 0 requests/s, 0 errors, p50 -, p99 -, p99.9 -, max -";
        assert_eq!(of(&Tally::default()), nothing);
    }
}
