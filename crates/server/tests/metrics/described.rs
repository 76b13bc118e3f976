//! That every metric is there from the start, and is what its description says.

use std::collections::{BTreeMap, BTreeSet};

use sequent_engine::{Metric, MetricKind};

use crate::{server::Server, wire};

/// Labels that no metric may have: what they hold is not bounded.
const UNBOUNDED: [&str; 8] = ["key", "tenant", "address", "peer", "client", "user", "text", "number"];

/// The units that a name may end in, beside `_total`, `_info` and plain counts.
const NOT_BASE: [&str; 7] = ["_ms", "_us", "_millis", "_milliseconds", "_minutes", "_percent", "_kb"];

/// What one scrape shows: of each family its type, its help, and its series with their values.
#[derive(Default)]
struct Family {
    kind: String,
    help: String,
    series: Vec<(BTreeSet<String>, f64)>,
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
        let names = labels.split(',').filter_map(|pair| Some(pair.split_once('=')?.0.to_owned()));
        let labels = names.filter(|name| name != "le").collect();
        families
            .get_mut(base.unwrap_or(name))
            .unwrap_or_else(|| panic!("{line}"))
            .series
            .push((labels, value.parse().unwrap()));
    }
    families
}

fn check_shown(metric: &Metric, families: &BTreeMap<String, Family>) {
    let name = metric.name;
    let Some(family) = families.get(name) else { panic!("{name} is described, and not shown") };
    let kind = match metric.kind {
        MetricKind::Counter => "counter",
        MetricKind::Gauge => "gauge",
        MetricKind::Histogram => "histogram",
    };
    assert_eq!((family.kind.as_str(), family.help.as_str()), (kind, metric.meaning), "{name}");
    assert!(!family.series.is_empty(), "{name} has no series");
    let labels: BTreeSet<String> = metric.labels.iter().map(|label| (*label).to_owned()).collect();
    for (found, value) in &family.series {
        assert_eq!(*found, labels, "{name}");
        // A counter begins at zero; but a cluster that begins opens no life before its first take either.
        assert!(
            metric.kind != MetricKind::Counter || ALREADY.contains(&name) || *value == 0.0,
            "{name} {value}"
        );
    }
}

/// Counters of what a start has done already.
const ALREADY: [&str; 2] = ["sequent_ledger_calls_total", "sequent_runtime_parks_total"];

/// Shown once there is something to show: a sequence's room, once it is in use.
const LATER: [&str; 2] = ["sequent_headroom_ratio", "sequent_exhaustion_seconds"];

fn check_named(metric: &Metric) {
    let name = metric.name;
    assert!(name.starts_with("sequent_"), "{name}");
    assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{name}");
    assert_eq!(name.ends_with("_total"), metric.kind == MetricKind::Counter, "{name}");
    assert!(!NOT_BASE.iter().any(|end| name.ends_with(end)), "{name}: base units");
    assert!(metric.meaning.len() > 10 && !metric.meaning.ends_with('.'), "{name}: {}", metric.meaning);
    for label in metric.labels {
        assert!(!UNBOUNDED.contains(label), "{name} has the label {label}");
    }
}

/// Of a server that has just started.
pub(crate) async fn everything_is(server: &Server) {
    let shown = wire::get(server.admin, "/metrics").await.body;
    let families = families(&shown);
    let described: Vec<&Metric> = sequent_engine::METRICS.iter().chain(sequent_server::METRICS).collect();
    let names: BTreeSet<&str> = described.iter().map(|metric| metric.name).collect();
    assert_eq!(names.len(), described.len(), "a metric is described twice");
    for metric in described {
        check_named(metric);
        if !LATER.contains(&metric.name) {
            check_shown(metric, &families);
        }
    }
    for (name, family) in &families {
        assert!(names.contains(name.as_str()) || name.starts_with("process_"), "{name} is not described");
        assert!(!family.help.is_empty() && !family.kind.is_empty(), "{name}");
    }
    let series: usize = families.values().map(|family| family.series.len()).sum();
    println!("{series} series of two slots");
    assert!(series < 1200, "{series} series");
}
