//! Which alert keeps which one still: a real Alertmanager with the shipped file is told of both.

use std::{collections::BTreeMap, process::Command};

use sequent_testkit::servers::Port;
use serde_json::{Value, json};

use crate::{
    http,
    place::{Place, Running, eventually},
    tool::ALERTMANAGER,
    tree::read,
};

/// An alert as rules fire it: its name, and what it is of besides cluster, namespace and job.
type Fired = (&'static str, &'static [(&'static str, &'static str)]);

/// Alerts that fire together in one cluster, and which of them nobody hears of: (what fires, what is kept still).
const TOGETHER: [(&[Fired], &[Fired]); 5] = [
    // One server has all slots out, another all but one: the other's page is heard.
    (
        &[("SequentNoLiveSlot", &[("instance", "a")]), ("SequentLastLiveSlot", &[("instance", "b")])],
        &[("SequentSlotOut", &[("slot", "1")]), ("SequentErrorBudgetBurnsFast", &[])],
    ),
    // A slot in quarantine says nothing of another slot.
    (
        &[("SequentSlotQuarantined", &[("slot", "1")]), ("SequentSlotOut", &[("slot", "2")])],
        &[("SequentSlotOut", &[("slot", "1")]), ("SequentSlotOutForLong", &[("slot", "1")])],
    ),
    (
        &[("SequentSlotOutForLong", &[("slot", "1")]), ("SequentSlotOut", &[("slot", "3")])],
        &[("SequentSlotOut", &[("slot", "1")])],
    ),
    // The sum, where its summand pages: of one server, and of this kind.
    (
        &[
            ("SequentCounterRegressed", &[("instance", "a"), ("slot", "1")]),
            ("SequentGuardViolation", &[("instance", "b"), ("kind", "counter_back")]),
            ("SequentGuardViolation", &[("instance", "a"), ("kind", "dense_back")]),
        ],
        &[("SequentGuardViolation", &[("instance", "a"), ("kind", "counter_back")])],
    ),
    (&[("SequentAllServersDown", &[])], &[("SequentServerDown", &[("instance", "a")])]),
];

/// An alert's labels, in the cluster of this name.
fn labels(cluster: &str, (name, more): &Fired) -> BTreeMap<String, String> {
    let common = [("alertname", *name), ("cluster", cluster), ("namespace", "shop"), ("job", "sequent")];
    common.iter().chain(*more).map(|(label, is)| ((*label).to_owned(), (*is).to_owned())).collect()
}

/// An Alertmanager with the shipped file, but for whom it tells: nobody.
fn manager(place: &Place, address: &Port) -> Running {
    let nobody = http::serve(|_, _| String::new()).to_string();
    let file = place.path("alertmanager.yml");
    std::fs::write(&file, read("prometheus/alertmanager.yml").replace("localhost:9095", &nobody)).unwrap();
    let mut command = Command::new(ALERTMANAGER.path());
    command.args([
        format!("--config.file={}", file.display()),
        format!("--storage.path={}", place.path("alerts").display()),
        format!("--web.listen-address={}", address.address()),
        "--cluster.listen-address=".to_owned(),
    ]);
    let manager = Running::start(command);
    manager.until("it is ready", |_| http::ask(address.address(), "GET", "/-/ready").ok());
    manager
}

#[test]
fn an_alert_keeps_still_what_it_explains_and_nothing_else() {
    let (place, address) = (Place::new(), Port::reserve());
    let _manager = manager(&place, &address);
    let (mut fired, mut still) = (Vec::new(), Vec::new());
    for (case, (heard, silent)) in TOGETHER.iter().enumerate() {
        let cluster = format!("cluster-{case}");
        still.extend(silent.iter().map(|alert| labels(&cluster, alert)));
        fired.extend(heard.iter().chain(*silent).map(|alert| labels(&cluster, alert)));
        // Each of them in a cluster of its own, where nothing explains it.
        let alone = |(at, alert)| labels(&format!("other-{case}-{at}"), alert);
        fired.extend(silent.iter().enumerate().map(alone));
    }
    let alerts: Vec<Value> = fired.iter().map(|labels| json!({ "labels": labels })).collect();
    http::post(address.address(), "/api/v2/alerts", &Value::Array(alerts).to_string()).unwrap();
    still.sort();
    eventually("those that are explained are kept still, and no other", || {
        let told = http::ask(address.address(), "GET", "/api/v2/alerts").ok()?;
        let told: Vec<Value> = serde_json::from_str(&told).unwrap();
        let is_still = |alert: &&Value| !alert["status"]["inhibitedBy"].as_array().unwrap().is_empty();
        let of = |alert: &Value| serde_json::from_value(alert["labels"].clone()).unwrap();
        let mut found: Vec<BTreeMap<String, String>> = told.iter().filter(is_still).map(of).collect();
        found.sort();
        (told.len() == fired.len() && found == still).then_some(())
    });
}
