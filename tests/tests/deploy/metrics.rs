//! The metrics of a real server, against the page that describes them, and what rules and panels use of them.

use std::{collections::BTreeSet, process::Command};

use crate::{
    dashboards,
    server::Server,
    tool::{PROMTOOL, finish},
    tree::{files, root, text},
};

/// Shown once a sequence that the configuration names is in use; this server's has none.
const LATER: [&str; 6] = [
    "sequent_headroom_ratio",
    "sequent_exhaustion_seconds",
    "sequent_sequence_outage_left_seconds",
    // With principals, which this server has not.
    "sequent_principal_numbers_total",
    "sequent_principal_requests_total",
    "sequent_quota_used_ratio",
];

/// What a histogram's series are called besides.
const PARTS: [&str; 3] = ["_bucket", "_sum", "_count"];

/// The metrics of the page.
fn described() -> BTreeSet<String> {
    let page = text(&root().join("docs/reference/metrics.md"));
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    // The names are in the first column.
    rows.flat_map(|row| words(row.split('|').nth(1).unwrap())).collect()
}

/// The names of a server's or an SDK's metrics in a text; of recording rules, which have colons, none.
fn words(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == ':'));
    let is_ours = |word: &&str| ["sequent_", "process_"].iter().any(|ours| word.starts_with(ours));
    words.filter(|word| is_ours(word) && !word.contains(':')).map(str::to_owned).collect()
}

/// A histogram's series by the histogram's name.
fn whole(name: &str) -> &str {
    PARTS.iter().find_map(|part| name.strip_suffix(part)).unwrap_or(name)
}

#[test]
fn what_a_server_shows_is_well_formed_and_described() {
    let server = Server::start(None);
    server.take(3).unwrap();
    server.operate(&["evict", "1", "--why", "a test"]).succeeded();
    let shown = crate::place::eventually("the eviction is counted", || {
        let shown = server.metrics();
        shown.contains("sequent_slot_state{slot=\"1\",state=\"evicted\"} 1").then_some(shown)
    });
    let mut promtool = Command::new(PROMTOOL.path());
    promtool.args(["check", "metrics"]);
    finish(promtool, &shown).unwrap_or_else(|why| panic!("{why}"));
    let described = described();
    let types = shown.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next());
    let types: BTreeSet<String> = types.map(str::to_owned).collect();
    let unknown: Vec<&String> = types.difference(&described).collect();
    assert!(unknown.is_empty(), "the page has not: {unknown:?}");
    let missing = described.difference(&types).filter(|name| !name.starts_with("sequent_client_"));
    let missing: Vec<&String> = missing.filter(|name| !LATER.contains(&name.as_str())).collect();
    assert!(missing.is_empty(), "the page has, and the server has not: {missing:?}");
    assert!(types.len() > 40, "only {} metrics: the check would be empty", types.len());
}

#[test]
fn rules_and_panels_use_only_what_is_there() {
    let there = described();
    let mut used = BTreeSet::new();
    for file in files("prometheus/rules", "yml") {
        used.extend(text(&file).lines().filter(|line| !line.trim().starts_with('#')).flat_map(words));
    }
    used.extend(dashboards::queries().iter().flat_map(|query| words(&query.expression)));
    assert!(used.len() > 20, "only {} metrics used: the check would be empty", used.len());
    let unknown: Vec<&String> = used.iter().filter(|name| !there.contains(whole(name))).collect();
    assert!(unknown.is_empty(), "the page has not: {unknown:?}");
}
