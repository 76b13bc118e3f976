//! The page of metrics is that of the tables of engine, server and client. `SEQUENT_GENERATE=1` writes it instead of
//! comparing.

use std::{env, fmt::Write as _, fs, path::Path};

use sequent_core::{Label, Metric, MetricGroup};
use sequent_engine::Reason;

const PAGE: &str = "../../docs/reference/metrics.md";

/// A label with more values than this has them below its table.
const VALUES_MAX: usize = 8;

const HEAD: &str = "\
# Metrics

A server shows its metrics at `GET /metrics` of the admin listener (port 7423), a program with the SDK through the `metrics` \
facade. [Watching](../operating/watching.md) says which of them count most. [Alerts](../operating/alerts.md) come with rules \
for Prometheus. [Events](events.md) says which event changes which metric.

- Units are base units, and part of the names.
- Counters start at zero with all values of their labels, so `increase()` sees the first event.
- No label is a key, a tenant or an address of a caller. `slot` is the number of a slot, `sequence` the name of a sequence, \
`kind` the class of a fault.
- No metric is a raw id or a number that was given: Prometheus is inexact above 2^53.
- A server that nobody scrapes does not grow: its histograms are counters of fixed buckets.

Generated from the tables of engine, server and client by its test, `SEQUENT_GENERATE=1 cargo test -p sequent --test it \
page_of_metrics`. Other tests compare the tables with what a server and a program with the SDK show.
";

/// What is to be known of a group before its table.
fn about(group: MetricGroup) -> &'static str {
    match group {
        MetricGroup::Apis => "Requests of all APIs, and connections of all listeners.",
        MetricGroup::Access => {
            "[Tokens and quotas](../operating/tokens.md), [TLS](../operating/tls.md) and the \
            [audit log](../operating/audit.md) have pages of their own."
        }
        MetricGroup::Reservoirs => {
            "A key is a sequence with period and partition. Many new keys in a short time are \
            [bounded](../operating/capacity.md#burn-limits)."
        }
        MetricGroup::Capacity => {
            "Only the first 50 sequences that the configuration names have series of their own, after a reload too. The series \
            of a sequence end ten minutes after its last number here."
        }
        MetricGroup::Slots => {
            "Slots as this server sees them: by its takes, and each second by the counters that moved last, while a key is in \
            use. A server that has given no number for ten minutes does not notice a store that dies \
            ([SequentSlotOut](../../deploy/runbooks/alerts.md#sequentslotout)). The first scrape after an eviction has both the \
            state and the event."
        }
        MetricGroup::Guard => {
            "[The guard](../concepts/the-guard.md) keeps numbers unique. The sum of `sequent_guard_violations_total` is what \
            pages for uniqueness."
        }
        MetricGroup::Ledger => {
            "Dense sequences need the ledger always; spread ones go on without it for a time \
            ([an outage of the ledger](../operating/ledger.md#an-outage-of-the-ledger)). A sequence has a series of its own as \
            under [Capacity](#capacity)."
        }
        MetricGroup::Process => "The metrics `process_…` are those that all clients of Prometheus have.",
        MetricGroup::Sdk => {
            "They go to the recorder that the program has installed. Install it before the first client is made, which puts all \
            of them at zero. Gauges are sums over the clients of a program; a client that is dropped takes its part back."
        }
    }
}

/// The values of a label without the reasons of the table of errors, and whether it has those.
fn values(label: &Label) -> (Vec<&'static str>, bool) {
    let is_reason = |value: &str| Reason::ALL.iter().any(|reason| reason.as_str() == value);
    let (reasons, others): (Vec<_>, Vec<_>) =
        (label.values)().into_iter().partition(|value| is_reason(value));
    (others, !reasons.is_empty())
}

/// The labels of a metric, each with its values if these are few.
fn labels(metric: &Metric) -> String {
    let label = |label: &Label| {
        let (others, has_reasons) = values(label);
        let listed = if others.len() > VALUES_MAX { Vec::new() } else { others };
        let mut cell: Vec<String> = listed.iter().map(|value| format!("`{value}`")).collect();
        if has_reasons {
            cell.push("[reasons](errors.md)".to_owned());
        }
        let colon = if cell.is_empty() { "" } else { ": " };
        format!("`{}`{colon}{}", label.name, cell.join(", "))
    };
    metric.labels.iter().map(label).collect::<Vec<_>>().join("<br>")
}

/// The labels whose values are too many for a cell.
fn long_labels(metric: &Metric) -> String {
    let mut text = String::new();
    for label in metric.labels {
        let (others, _) = values(label);
        if others.len() > VALUES_MAX {
            write!(text, "\nValues of `{}` in `{}`:\n\n", label.name, metric.name).unwrap();
            for value in &others {
                writeln!(text, "- `{value}`").unwrap();
            }
        }
    }
    text
}

fn section(group: MetricGroup, metrics: &[&Metric]) -> String {
    let own: Vec<&&Metric> = metrics.iter().filter(|metric| metric.group == group).collect();
    assert!(!own.is_empty(), "{group:?} has no metric");
    let rows = own.iter().map(|metric| {
        let Metric { name, kind, meaning, .. } = metric;
        format!("| `{name}` | {} | {} | {meaning} |\n", kind.as_str(), labels(metric))
    });
    let rows: String = rows.collect();
    let long: String = own.iter().map(|metric| long_labels(metric)).collect();
    let (title, about) = (group.as_str(), about(group));
    format!("\n## {title}\n\n{about}\n\n| metric | kind | labels | what |\n|---|---|---|---|\n{rows}{long}")
}

#[test]
fn the_page_of_metrics_is_that_of_the_tables() {
    let tables = [
        sequent_server::METRICS,
        sequent_engine::METRICS,
        sequent_server::PROCESS_METRICS,
        sequent_client::METRICS,
    ];
    let metrics: Vec<&Metric> = tables.into_iter().flatten().collect();
    let sections = MetricGroup::ALL.map(|group| section(group, &metrics));
    let page = [HEAD, &sections.concat()].concat();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
    if env::var_os("SEQUENT_GENERATE").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == page,
        "docs/reference/metrics.md is stale: SEQUENT_GENERATE=1 cargo test -p sequent --test it page_of_metrics"
    );
}
