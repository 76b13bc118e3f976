//! A real Prometheus and a real Alertmanager with the shipped files, and who is told.

use std::{
    fs,
    net::SocketAddr,
    path::Path,
    process::Command,
    sync::{Arc, Mutex},
};

use sequent_testkit::servers::Port;
use serde_json::Value;

use crate::{
    http,
    place::{Place, Running, eventually},
    tool::{ALERTMANAGER, PROMETHEUS},
    tree::{copy, deploy},
};

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
    all.replace("$__rate_interval", "30s")
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
    /// Both, watching servers and a program that uses the SDK.
    pub(crate) fn start(servers: &[SocketAddr], client: SocketAddr, hook: SocketAddr) -> Self {
        let (place, address, manager) = (Place::new(), Port::reserve(), Port::reserve());
        let folder = place.path("prometheus");
        copy(&deploy("prometheus"), &folder);
        for (file, from, to) in HURRIED {
            replace(&folder.join(file), from, to);
        }
        replace(&folder.join("prometheus.yml"), "alertmanager:9093", &manager.address().to_string());
        replace(&folder.join("alertmanager.yml"), "localhost:9095", &hook.to_string());
        let targets = |at: &[SocketAddr]| {
            let at: Vec<String> = at.iter().map(|at| format!("\"{at}\"")).collect();
            format!("- targets: [{}]\n  labels:\n    cluster: live\n", at.join(", "))
        };
        fs::write(folder.join("targets/servers.yml"), targets(servers)).unwrap();
        fs::write(folder.join("targets/clients.yml"), targets(&[client])).unwrap();

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

    /// The series that a question to the API is answered with.
    fn asked(&self, question: &str) -> Vec<Value> {
        let path = format!("/api/v1/{question}");
        let body = eventually("Prometheus answers", || http::ask(self.address.address(), "GET", &path).ok());
        let answer: Value = serde_json::from_str(&body).unwrap_or_else(|error| panic!("{error}: {body}"));
        assert_eq!(answer["status"], "success", "{question}: {body}");
        answer["data"]["result"].as_array().unwrap().clone()
    }

    /// What a query finds: now, or at an instant of Prometheus' clock, in seconds.
    pub(crate) fn found(&self, expression: &str, at: Option<f64>) -> Vec<Value> {
        let at = at.map(|at| format!("&time={at}")).unwrap_or_default();
        self.asked(&format!("query?query={}{at}", http::encoded(expression)))
    }

    /// The same at every second from an instant until now, as a panel draws it: each series' labels, and all its values.
    pub(crate) fn drawn(&self, expression: &str, from: f64) -> Vec<(Value, Vec<f64>)> {
        let (query, end) = (http::encoded(expression), self.clock());
        let series = self.asked(&format!("query_range?query={query}&start={from}&end={end}&step=1"));
        let values = |series: &Value| samples(series).into_iter().map(|(_, value)| value).collect();
        series.iter().map(|series| (series["metric"].clone(), values(series))).collect()
    }

    /// The series that a query finds with these labels, with their values; now, or at an instant.
    pub(crate) fn of(&self, expression: &str, labels: &[(&str, &str)], at: Option<f64>) -> Vec<f64> {
        let found = self.found(expression, at);
        let is_it = |series: &&Value| labels.iter().all(|(label, is)| series["metric"][*label] == *is);
        found.iter().filter(is_it).map(value).collect()
    }

    /// Prometheus' own clock, in seconds.
    pub(crate) fn clock(&self) -> f64 {
        let body = eventually("Prometheus' clock", || {
            http::ask(self.address.address(), "GET", "/api/v1/query?query=time()").ok()
        });
        let answer: Value = serde_json::from_str(&body).unwrap();
        answer["data"]["result"][1].as_str().unwrap().parse().unwrap()
    }

    /// What scrapes that were answered brought of one series, of the last five minutes: each one's instant and value.
    pub(crate) fn scraped(&self, series: &str) -> Vec<(f64, f64)> {
        let found = self.found(&format!("{series}[5m]"), None);
        assert!(found.len() < 2, "{series}: {found:?}");
        found.first().map(samples).unwrap_or_default()
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

/// The samples of a series: instant and value.
fn samples(series: &Value) -> Vec<(f64, f64)> {
    let sample = |sample: &Value| (sample[0].as_f64().unwrap(), sample[1].as_str().unwrap().parse().unwrap());
    series["values"].as_array().unwrap().iter().map(sample).collect()
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
