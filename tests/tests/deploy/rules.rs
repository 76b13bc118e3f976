//! Prometheus' rules: each is well formed, each alert fires where it should and is silent where it should be, and each has
//! its page.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    tool::{AMTOOL, PROMTOOL, run},
    tree::{deploy, files, read, root, text},
};

/// What operators put before each runbook's path: an external label of their Prometheus, or a value of the chart.
const BASE: &str = "{{ $externalLabels.runbooks }}";

/// What an alert says of itself.
#[derive(Debug, Default)]
struct Alert {
    fields: BTreeMap<String, String>,
}

/// Every alert of the rules, by name. The files are written as people write them: a field a line.
fn alerts() -> BTreeMap<String, Alert> {
    let mut found: BTreeMap<String, Alert> = BTreeMap::new();
    for file in files("prometheus/rules", "yml") {
        let mut name = String::new();
        for line in text(&file).lines() {
            let Some((field, value)) = line.trim().trim_start_matches("- ").split_once(':') else { continue };
            let value = value.trim().to_owned();
            match field {
                "alert" => {
                    assert!(
                        found.insert(value.clone(), Alert::default()).is_none(),
                        "{value} is there twice"
                    );
                    name = value;
                }
                "record" => name.clear(),
                _ => {
                    if let Some(alert) = found.get_mut(&name) {
                        alert.fields.insert(field.to_owned(), value);
                    }
                }
            }
        }
    }
    assert!(found.len() > 20, "only {} alerts found: the checks would be empty", found.len());
    found
}

/// Who hears of an alert.
pub(crate) fn severities() -> BTreeMap<String, String> {
    alerts().into_iter().map(|(name, mut alert)| (name, alert.fields.remove("severity").unwrap())).collect()
}

#[test]
fn promtool_and_amtool_find_no_fault() {
    run(&PROMTOOL, &["check", "rules", "--lint=all", "--lint-fatal"], &files("prometheus/rules", "yml"));
    run(
        &PROMTOOL,
        &["check", "config", "--lint=all", "--lint-fatal"],
        &[deploy("prometheus/prometheus.yml"), deploy("prometheus/local.yml")],
    );
    run(&AMTOOL, &["check-config"], &[deploy("prometheus/alertmanager.yml")]);
}

#[test]
fn every_alert_fires_where_it_should_and_is_silent_where_it_should_be() {
    run(&PROMTOOL, &["test", "rules"], &files("prometheus/tests", "yml"));
}

#[test]
fn every_alert_has_a_case_of_each_kind() {
    let (mut fires, mut silent) = (BTreeSet::new(), BTreeSet::new());
    for file in files("prometheus/tests", "yml") {
        let mut name = None;
        for line in text(&file).lines().map(str::trim) {
            if let Some(alert) = line.strip_prefix("alertname: ") {
                name = Some(alert.to_owned());
            } else if line.starts_with("exp_alerts:") {
                let kind = if line == "exp_alerts: []" { &mut silent } else { &mut fires };
                kind.extend(name.take());
            }
        }
    }
    let alerts: BTreeSet<String> = alerts().into_keys().collect();
    assert_eq!(fires, alerts, "an alert without a case where it fires, or a case without its alert");
    assert_eq!(silent, alerts, "an alert without a case where it is silent, or a case without its alert");
}

#[test]
fn what_was_counted_is_seen_though_prometheus_did_not_see_it_being_counted() {
    let page = read("prometheus/tests/unseen.yml");
    let (unseen, again) = page.split_once("- name: 'again'").expect("two cases");
    let asked = |case: &str, name: &str| case.contains(&format!("ALERTS{{alertname=\"{name}\""));
    let mut counted = 0;
    for file in files("prometheus/rules", "yml") {
        for rule in text(&file).split("- alert: ").skip(1) {
            let name = rule.lines().next().unwrap();
            let (_, expr) = rule.split_once("expr:").unwrap();
            let expr = expr.trim_start_matches([' ', '>', '-', '\n', '(']);
            if !expr.starts_with("increase(") {
                continue;
            }
            counted += 1;
            assert!(asked(unseen, name), "{name}: no case of a first scrape that has it already");
            assert!(asked(again, name), "{name}: no case of a restarted server that counts as many again");
        }
    }
    assert!(counted > 10, "only {counted} such alerts found: the check would be empty");
}

#[test]
fn every_alert_says_what_it_means_and_where_its_page_is() {
    let page = read("runbooks/alerts.md");
    let mut headings: BTreeSet<&str> = page.lines().filter_map(|line| line.strip_prefix("### ")).collect();
    for (name, alert) in alerts() {
        let field = |field: &str| alert.fields.get(field).unwrap_or_else(|| panic!("{name} has no {field}"));
        assert!(!field("summary").is_empty() && !field("description").is_empty(), "{name}");
        let severity = field("severity");
        assert!(["page", "ticket", "info"].contains(&severity.as_str()), "{name}: severity {severity}");
        // As it is where nobody has said where the repository is read.
        let url = field("runbook_url").trim_matches('"');
        let url =
            url.strip_prefix(BASE).unwrap_or_else(|| panic!("{name}: {url} does not begin with {BASE}"));
        let (path, anchor) = url.split_once('#').unwrap();
        assert!(root().join(path).is_file(), "{name}: {path} is not there");
        assert_eq!(anchor, name.to_lowercase(), "{name}: another's page");
        assert!(headings.remove(name.as_str()), "{name} is not on {path}");
        let entry = page.split(&format!("### {name}\n")).nth(1).unwrap();
        let begins = entry.trim_start();
        assert!(begins.starts_with(&format!("**{severity}.**")), "{name}: its page says another severity");
    }
    assert!(headings.is_empty(), "pages of alerts that there are not: {headings:?}");
}

#[test]
fn what_may_repeat_numbers_and_what_stops_everything_fires_at_once() {
    let alerts = alerts();
    let waits = |name: &str| alerts[name].fields.contains_key("for");
    for name in [
        "SequentGuardViolation",
        "SequentCounterRegressed",
        "SequentQuarantined",
        "SequentStoreCameBackEmpty",
        "SequentLedgerBehind",
        "SequentRecoveryRequired",
        "SequentClusterBehind",
        "SequentSlotOut",
        "SequentNoLiveSlot",
    ] {
        assert!(!waits(name), "{name} waits");
    }
    assert!(waits("SequentSlotOutForLong"), "the check itself: it finds no `for`");
}
