//! Which alert keeps which one still: a real Alertmanager with the shipped file is told of both, and who hears of which counts.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    process::Command,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use sequent_testkit::servers::Port;
use serde_json::{Value, json};

use crate::{
    http,
    place::{Place, Running, eventually},
    rules::severities,
    tool::ALERTMANAGER,
    tree::read,
};

/// Alerts of one look of Prometheus reach Alertmanager within this: less than a page waits for what keeps it still.
const ONE_LOOK: Duration = Duration::from_secs(2);

/// The most attempts to be that quick on a busy machine.
const ATTEMPTS_MAX: usize = 20;

/// An alert as rules fire it: its name, and what it is of besides cluster, namespace and job.
type Fired = (&'static str, &'static [(&'static str, &'static str)]);

/// Alerts that fire together in one cluster, and which of them nobody hears of: (what fires, what is kept still).
const TOGETHER: [(&[Fired], &[Fired]); 9] = [
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
    // A volatile store that was restarted; what another server found is another's.
    (
        &[
            ("SequentVolatileStoreForgot", &[("instance", "a"), ("slot", "1")]),
            ("SequentGuardViolation", &[("instance", "b"), ("kind", "store_back")]),
            ("SequentGuardViolation", &[("instance", "a"), ("kind", "quarantine")]),
        ],
        &[
            ("SequentGuardViolation", &[("instance", "a"), ("kind", "store_back")]),
            ("SequentGuardViolation", &[("instance", "a"), ("kind", "counter_back")]),
        ],
    ),
    (
        &[("SequentQuarantined", &[("instance", "a"), ("slot", "1"), ("kind", "jumped")])],
        &[("SequentGuardViolation", &[("instance", "a"), ("kind", "quarantine")])],
    ),
    // A certificate that expires soon; another file's is another ticket.
    (
        &[
            ("SequentCertificateExpiresSoon", &[("instance", "a"), ("file", "cert_file")]),
            ("SequentCertificateExpires", &[("instance", "a"), ("file", "client_ca_file")]),
        ],
        &[("SequentCertificateExpires", &[("instance", "a"), ("file", "cert_file")])],
    ),
    // An outage of the ledger.
    (
        &[("SequentLedgerAway", &[("instance", "a")]), ("SequentLedgerCallsFail", &[("instance", "b")])],
        &[
            ("SequentErrorBudgetBurnsFast", &[]),
            ("SequentErrorBudgetBurns", &[]),
            ("SequentLedgerCallsFail", &[("instance", "a")]),
        ],
    ),
];

/// An alert's labels.
type Labels = BTreeMap<String, String>;

/// An alert's labels, in the cluster of this name.
fn labels(cluster: &str, (name, more): &Fired) -> Labels {
    let severity = severities().remove(*name).unwrap_or_else(|| panic!("{name}: no rule"));
    let common = [
        ("alertname", *name),
        ("cluster", cluster),
        ("namespace", "shop"),
        ("job", "sequent"),
        ("severity", &severity),
    ];
    common.iter().chain(*more).map(|(label, is)| ((*label).to_owned(), (*is).to_owned())).collect()
}

/// What its receivers were told, each with the labels of one alert.
type Heard = Arc<Mutex<Vec<(String, Labels)>>>;

/// An Alertmanager with the shipped file, but for where its receivers are.
fn manager(place: &Place, address: &Port, heard: &Heard) -> Running {
    let heard = Arc::clone(heard);
    let hook = http::serve(move |path, body| {
        let message: Value = serde_json::from_str(body).unwrap();
        for alert in message["alerts"].as_array().unwrap() {
            let labels = serde_json::from_value(alert["labels"].clone()).unwrap();
            heard.lock().unwrap().push((path.trim_start_matches('/').to_owned(), labels));
        }
        String::new()
    });
    let file = place.path("alertmanager.yml");
    std::fs::write(&file, read("prometheus/alertmanager.yml").replace("localhost:9095", &hook.to_string()))
        .unwrap();
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

fn post(address: SocketAddr, labels: &Labels) {
    http::post(address, "/api/v2/alerts", &json!([{ "labels": labels }]).to_string()).unwrap();
}

/// Alerts one by one within one look of Prometheus, what is to be kept still before what keeps it so, in a cluster that is
/// named after the case: that name.
fn fires(address: SocketAddr, case: usize, (heard, silent): (&[Fired], &[Fired])) -> String {
    for attempt in 0..ATTEMPTS_MAX {
        let (cluster, began) = (format!("cluster-{case}-{attempt}"), Instant::now());
        for alert in silent.iter().chain(heard) {
            post(address, &labels(&cluster, alert));
        }
        if began.elapsed() < ONE_LOOK {
            return cluster;
        }
    }
    panic!("Alertmanager took none of {ATTEMPTS_MAX} looks within {ONE_LOOK:?}");
}

/// Receivers are called after their alerts' severity.
fn told_of(labels: Labels) -> (String, Labels) {
    (format!("{}s", labels["severity"]), labels)
}

#[test]
fn an_alert_keeps_still_what_it_explains_and_nothing_else() {
    let (place, address, heard) = (Place::new(), Port::reserve(), Heard::default());
    let _manager = manager(&place, &address, &heard);
    let (mut clusters, mut wanted) = (Vec::new(), Vec::new());
    for (case, (loud, silent)) in TOGETHER.iter().enumerate() {
        let cluster = fires(address.address(), case, (loud, silent));
        wanted.extend(loud.iter().map(|alert| told_of(labels(&cluster, alert))));
        clusters.push(cluster);
        // Each of them in a cluster of its own, where nothing explains it.
        for (at, alert) in silent.iter().enumerate() {
            let alone = format!("other-{case}-{at}");
            post(address.address(), &labels(&alone, alert));
            wanted.push(told_of(labels(&alone, alert)));
            clusters.push(alone);
        }
    }
    // Told last of all: tickets wait for longer than pages, and this one began when all others were there.
    let last = labels("last", &("SequentServerDown", &[]));
    post(address.address(), &last);
    wanted.push(told_of(last));
    clusters.push("last".to_owned());
    let told = || {
        let mut told = heard.lock().unwrap().clone();
        told.retain(|(_, labels)| clusters.contains(&labels["cluster"]));
        told.sort();
        told.dedup();
        told
    };
    wanted.sort();
    eventually("whoever is to hear of something does", || {
        let told = told();
        let more: Vec<_> = told.iter().filter(|alert| !wanted.contains(alert)).collect();
        assert!(more.is_empty(), "somebody heard of what another alert explains: {more:#?}");
        wanted.iter().all(|alert| told.contains(alert)).then_some(())
    });
    assert_eq!(told(), wanted, "somebody heard of what another alert explains");
}
