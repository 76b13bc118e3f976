//! Every metric exists from the start and matches its description.

use std::collections::{BTreeMap, BTreeSet};

use sequent_core::{Metric, MetricKind};

use crate::{raw_http, server::Server};

/// Labels whose values are not bounded. No metric may have them.
const UNBOUNDED: [&str; 8] = ["key", "tenant", "address", "peer", "client", "user", "text", "number"];

/// Units that a name must not end in.
const NOT_BASE: [&str; 7] = ["_ms", "_us", "_millis", "_milliseconds", "_minutes", "_percent", "_kb"];

/// One family of a scrape: its type, help and series.
#[derive(Default)]
struct Family {
    kind: String,
    help: String,
    series: Vec<Series>,
}

struct Series {
    /// Name with labels and values, as in the scrape.
    shown: String,
    /// The labels without `le`.
    labels: BTreeMap<String, String>,
    value: f64,
}

fn families(text: &str) -> BTreeMap<String, Family> {
    let mut families: BTreeMap<String, Family> = BTreeMap::new();
    for line in text.lines().filter(|line| !line.is_empty()) {
        if let Some(rest) = line.strip_prefix("# ") {
            let mut words = rest.splitn(3, ' ');
            let (what, name, said) = (words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
            let family = families.entry(name.to_owned()).or_default();
            if what == "TYPE" {
                said.clone_into(&mut family.kind);
            } else {
                said.clone_into(&mut family.help);
            }
            continue;
        }
        let (series, value) = line.rsplit_once(' ').unwrap();
        let (name, labels) = series.split_once('{').unwrap_or((series, ""));
        let base = ["_bucket", "_sum", "_count"].iter().find_map(|end| {
            let base = name.strip_suffix(end)?;
            families.get(base).filter(|family| family.kind == "histogram").map(|_| base)
        });
        // Values may have commas, but no quotes.
        let pairs = labels.trim_end_matches("\"}").split("\",").filter_map(|pair| pair.split_once("=\""));
        let pairs = pairs.filter(|(name, _)| *name != "le");
        let labels = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        families.get_mut(base.unwrap_or(name)).unwrap_or_else(|| panic!("{line}")).series.push(Series {
            shown: series.to_owned(),
            labels,
            value: value.parse().unwrap(),
        });
    }
    families
}

fn check_shown(metric: &Metric, families: &BTreeMap<String, Family>) {
    let name = metric.name;
    let Some(family) = families.get(name) else { panic!("{name} is described, and not shown") };
    let said = (metric.kind.as_str(), metric.meaning);
    assert_eq!((family.kind.as_str(), family.help.as_str()), said, "{name}");
    assert!(!family.series.is_empty(), "{name} has no series");
    let labels: BTreeSet<&str> = metric.labels.iter().map(|label| label.name).collect();
    for Series { labels: found, value, .. } in &family.series {
        assert_eq!(found.keys().map(String::as_str).collect::<BTreeSet<_>>(), labels, "{name}");
        // A counter starts at zero. A new cluster opens no epoch before its first number either.
        assert!(
            metric.kind != MetricKind::Counter || ALREADY.contains(&name) || *value == 0.0,
            "{name} {value}"
        );
    }
    for label in metric.labels {
        let known: BTreeSet<&str> = (label.values)().into_iter().collect();
        let shown: BTreeSet<&str> = family.series.iter().map(|series| &*series.labels[label.name]).collect();
        assert!(known.is_empty() || known == shown, "{name}: {} is {shown:?}, and not {known:?}", label.name);
    }
}

/// Counters that the start itself increases.
const ALREADY: [&str; 2] = ["sequent_ledger_calls_total", "sequent_runtime_parks_total"];

/// Metrics that appear later: the capacity of a sequence, once it is used.
const LATER: [&str; 3] =
    ["sequent_headroom_ratio", "sequent_exhaustion_seconds", "sequent_sequence_outage_left_seconds"];

/// Appear with TLS and with principals, which this server has not.
const CONFIGURED: [&str; 4] = [
    "sequent_tls_certificate_expiry_timestamp_seconds",
    "sequent_principal_requests_total",
    "sequent_principal_numbers_total",
    "sequent_quota_used_ratio",
];

fn check_named(metric: &Metric) {
    let name = metric.name;
    assert!(name.starts_with("sequent_"), "{name}");
    assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{name}");
    assert_eq!(name.ends_with("_total"), metric.kind == MetricKind::Counter, "{name}");
    assert!(!NOT_BASE.iter().any(|end| name.ends_with(end)), "{name}: base units");
    assert!(metric.meaning.len() > 10 && metric.meaning.ends_with('.'), "{name}: {}", metric.meaning);
    for label in metric.labels {
        assert!(!UNBOUNDED.contains(&label.name), "{name} has the label {}", label.name);
    }
}

/// All series of Sequent. Those of the process depend on the operating system.
fn series(families: &BTreeMap<String, Family>) -> BTreeSet<String> {
    let own = families.iter().filter(|(name, _)| name.starts_with("sequent_"));
    own.flat_map(|(_, family)| family.series.iter().map(|series| series.shown.clone())).collect()
}

/// No series appears after the start, so `increase()` sees every first event. Exempt are the sequences that the
/// configuration names, once they are used.
pub(crate) async fn nothing_is_new(server: &Server, first: &BTreeSet<String>, named: &[&str]) {
    let shown = series(&families(&raw_http::get(server.admin, "/metrics").await.body));
    // The time that a sequence lasts without the ledger appears once it was asked for more than once.
    let (asked, always) = LATER.split_last().unwrap();
    let named: BTreeSet<String> = always
        .iter()
        .flat_map(|metric| named.iter().map(move |name| format!("{metric}{{sequence=\"{name}\"}}")))
        .collect();
    let new = shown.difference(first).filter(|series| !series.starts_with(asked));
    let new: BTreeSet<String> = new.cloned().collect();
    assert_eq!(new, named, "what was not there from the start");
    let gone: Vec<&String> = first.difference(&shown).collect();
    assert!(gone.is_empty(), "{gone:?} are no longer shown");
}

/// Checks a server that has just started. Returns all its series.
pub(crate) async fn everything_is(server: &Server) -> BTreeSet<String> {
    let shown = raw_http::get(server.admin, "/metrics").await.body;
    let families = families(&shown);
    let described: Vec<&Metric> = sequent_engine::METRICS.iter().chain(sequent_server::METRICS).collect();
    let names: BTreeSet<&str> = described.iter().map(|metric| metric.name).collect();
    assert_eq!(names.len(), described.len(), "a metric is described twice");
    let processes: BTreeSet<&str> =
        sequent_server::PROCESS_METRICS.iter().map(|metric| metric.name).collect();
    for metric in described {
        check_named(metric);
        if !LATER.contains(&metric.name) && !CONFIGURED.contains(&metric.name) {
            check_shown(metric, &families);
        }
    }
    for (name, family) in &families {
        assert!(
            names.contains(name.as_str()) || processes.contains(name.as_str()),
            "{name} is not described"
        );
        assert!(!family.help.is_empty() && !family.kind.is_empty(), "{name}");
    }
    let count: usize = families.values().map(|family| family.series.len()).sum();
    println!("{count} series of two slots");
    assert!(count < 1200, "{count} series");
    series(&families)
}
