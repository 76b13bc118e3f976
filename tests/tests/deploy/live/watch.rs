//! A real Prometheus and a real Alertmanager with the shipped files, and who is told.

use std::{
    fs,
    net::SocketAddr,
    path::Path,
    process::Command,
    sync::{Arc, Mutex},
};

use sequent_testkit::servers::{Port, Program};
use serde_json::Value;

use crate::{
    http,
    place::{Place, Running, eventually},
    tree::{copy, deploy},
};

const PROMETHEUS: Program = Program { name: "prometheus", package: "prometheus", folders: &[] };
const ALERTMANAGER: Program =
    Program { name: "prometheus-alertmanager", package: "prometheus-alertmanager", folders: &[] };

/// What is hurried of the shipped files, as (file, from, to): minutes would be waited for, and nothing else is changed.
const HURRIED: [(&str, &str, &str); 5] = [
    ("prometheus.yml", "scrape_interval: 15s", "scrape_interval: 1s"),
    ("prometheus.yml", "evaluation_interval: 15s", "evaluation_interval: 1s"),
    ("prometheus.yml", "scrape_timeout: 10s", "scrape_timeout: 1s"),
    ("rules/recording.yml", "interval: 2m", "interval: 1s"),
    ("alertmanager.yml", "group_interval: 1m", "group_interval: 1s"),
];

/// What Grafana puts in the place of its variables.
pub(crate) fn chosen(expression: &str) -> String {
    let all =
        ["$cluster", "$instance", "$job"].iter().fold(expression.to_owned(), |e, name| e.replace(name, ".*"));
    all.replace("$__rate_interval", "10s")
}

/// Prometheus, with Alertmanager behind it.
pub(crate) struct Watch {
    address: Port,
    _prometheus: Running,
    _alertmanager: Running,
    _manager: Port,
    _place: Place,
}

impl Watch {
    /// Both, watching a server and a program that uses the SDK.
    pub(crate) fn start(server: SocketAddr, clients: SocketAddr, hook: SocketAddr) -> Self {
        let (place, address, manager) = (Place::new(), Port::reserve(), Port::reserve());
        let folder = place.path("prometheus");
        copy(&deploy("prometheus"), &folder);
        for (file, from, to) in HURRIED {
            replace(&folder.join(file), from, to);
        }
        replace(&folder.join("prometheus.yml"), "alertmanager:9093", &manager.address().to_string());
        replace(&folder.join("alertmanager.yml"), "localhost:9095", &hook.to_string());
        let target = |at: SocketAddr| format!("- targets: [\"{at}\"]\n  labels:\n    cluster: live\n");
        fs::write(folder.join("targets/servers.yml"), target(server)).unwrap();
        fs::write(folder.join("targets/clients.yml"), target(clients)).unwrap();

        let mut command = Command::new(ALERTMANAGER.path());
        let flag = |name: &str, value: String| format!("--{name}={value}");
        command.args([
            flag("config.file", folder.join("alertmanager.yml").display().to_string()),
            flag("storage.path", place.path("alerts").display().to_string()),
            flag("web.listen-address", manager.address().to_string()),
            flag("cluster.listen-address", String::new()),
        ]);
        let alertmanager = Running::start(command);
        let mut command = Command::new(PROMETHEUS.path());
        command.args([
            flag("config.file", folder.join("prometheus.yml").display().to_string()),
            flag("storage.tsdb.path", place.path("series").display().to_string()),
            flag("web.listen-address", address.address().to_string()),
        ]);
        let prometheus = Running::start(command);
        for (process, at) in [(&alertmanager, &manager), (&prometheus, &address)] {
            process.until("it is ready", |_| http::ask(at.address(), "GET", "/-/ready").ok());
        }
        Self {
            address,
            _prometheus: prometheus,
            _alertmanager: alertmanager,
            _manager: manager,
            _place: place,
        }
    }

    /// What a query finds: now, or at an instant of Prometheus' clock, in seconds.
    fn found(&self, expression: &str, at: Option<f64>) -> Vec<Value> {
        let at = at.map(|at| format!("&time={at}")).unwrap_or_default();
        let path = format!("/api/v1/query?query={}{at}", http::encoded(expression));
        let body = eventually("Prometheus answers", || http::ask(self.address.address(), "GET", &path).ok());
        let answer: Value = serde_json::from_str(&body).unwrap_or_else(|error| panic!("{error}: {body}"));
        assert_eq!(answer["status"], "success", "{expression}: {body}");
        answer["data"]["result"].as_array().unwrap().clone()
    }

    /// The series that a query finds whose `label` is this, with their values; now, or at an instant.
    pub(crate) fn of(&self, expression: &str, (label, is): (&str, &str), at: Option<f64>) -> Vec<f64> {
        let found = self.found(expression, at);
        found.iter().filter(|series| series["metric"][label] == is).map(value).collect()
    }

    /// Prometheus' own clock, in seconds.
    pub(crate) fn clock(&self) -> f64 {
        let body = eventually("Prometheus' clock", || {
            http::ask(self.address.address(), "GET", "/api/v1/query?query=time()").ok()
        });
        let answer: Value = serde_json::from_str(&body).unwrap();
        answer["data"]["result"][1].as_str().unwrap().parse().unwrap()
    }

    /// When the first scrape after this instant was, once it has been: by the samples of one series.
    pub(crate) fn scraped_after(&self, series: &str, instant: f64) -> f64 {
        eventually("the next scrape", || {
            let found = self.found(&format!("{series}[5m]"), None);
            let samples = found.first()?["values"].as_array()?.clone();
            samples.iter().filter_map(|sample| sample[0].as_f64()).find(|at| *at > instant)
        })
    }

    /// The values of all series that a query finds now.
    pub(crate) fn values(&self, expression: &str) -> Vec<f64> {
        self.found(expression, None).iter().map(value).collect()
    }

    /// The value of the only series.
    pub(crate) fn value(&self, expression: &str) -> Option<f64> {
        let values = self.values(expression);
        assert!(values.len() < 2, "{expression}: {values:?}");
        values.first().copied()
    }
}

fn value(series: &Value) -> f64 {
    series["value"][1].as_str().unwrap().parse().unwrap()
}

fn replace(file: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(file).unwrap();
    assert!(text.contains(from), "{}: no {from:?} in it", file.display());
    fs::write(file, text.replace(from, to)).unwrap();
}

/// Where Alertmanager's messages go.
pub(crate) struct Hook {
    address: SocketAddr,
    messages: Arc<Mutex<Vec<(String, Value)>>>,
}

impl Hook {
    pub(crate) fn start() -> Self {
        let messages: Arc<Mutex<Vec<(String, Value)>>> = Arc::default();
        let kept = Arc::clone(&messages);
        let address = http::serve(move |path, body| {
            let message = serde_json::from_str(body).unwrap_or(Value::Null);
            kept.lock().unwrap().push((path.trim_start_matches('/').to_owned(), message));
            String::new()
        });
        Self { address, messages }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Whether a receiver was told that an alert is `firing` or `resolved`.
    pub(crate) fn heard(&self, receiver: &str, alert: &str, status: &str) -> bool {
        let messages = self.messages.lock().unwrap();
        let to_it = messages.iter().filter(|(path, _)| path == receiver);
        let mut alerts = to_it.flat_map(|(_, message)| message["alerts"].as_array().into_iter().flatten());
        alerts.any(|told| told["labels"]["alertname"] == alert && told["status"] == status)
    }
}
