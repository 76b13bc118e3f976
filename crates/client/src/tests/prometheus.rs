//! Prometheus output of a process with clients: all series exist from the start, are well formed, and match the table
//! of metrics.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::Write,
    process::{Command, Stdio},
    time::Duration,
};

use metrics::set_default_local_recorder;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusRecorder};
use sequent_core::{Metric, MetricKind};
use sequent_testkit::servers::Program;

use crate::{
    telemetry::metric_table::METRICS,
    tests::scripted_endpoint::{AGE, Act, Bench},
};

const PROMTOOL: Program = Program { name: "promtool", package: "prometheus", folders: &[] };

/// Suffixes of the series of a histogram.
const PARTS: [&str; 3] = ["_bucket", "_sum", "_count"];

/// Type of a metric, and its labels with their values.
type Shape = (String, BTreeMap<String, BTreeSet<String>>);

fn recorder(buckets: &[f64]) -> PrometheusRecorder {
    if buckets.is_empty() {
        return PrometheusBuilder::new().build_recorder();
    }
    PrometheusBuilder::new().set_buckets(buckets).unwrap().build_recorder()
}

/// Metrics and series of a scrape.
fn read(shown: &str) -> (BTreeMap<String, Shape>, BTreeSet<String>) {
    let (mut metrics, mut series) = (BTreeMap::<String, Shape>::new(), BTreeSet::new());
    for line in shown.lines().filter(|line| !line.is_empty()) {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            metrics.insert(name.to_owned(), (kind.to_owned(), BTreeMap::new()));
        } else if !line.starts_with('#') {
            let one = line.rsplit_once(' ').unwrap().0;
            series.insert(one.to_owned());
            let (name, labels) = one.split_once('{').unwrap_or((one, ""));
            let base =
                PARTS.iter().find_map(|part| name.strip_suffix(part)).filter(|it| metrics.contains_key(*it));
            let shape = metrics.get_mut(base.unwrap_or(name)).unwrap_or_else(|| panic!("{line}"));
            // Values may have commas, but no quotes.
            let labels =
                labels.trim_end_matches("\"}").split("\",").filter_map(|pair| pair.split_once("=\""));
            for (name, value) in labels.filter(|(name, _)| *name != "le" && *name != "quantile") {
                shape.1.entry(name.to_owned()).or_default().insert(value.to_owned());
            }
        }
    }
    (metrics, series)
}

/// Names of the metrics of the table.
fn described() -> BTreeSet<&'static str> {
    METRICS.iter().map(|metric| metric.name).collect()
}

/// Compares a metric with its entry: its type, and its labels with their values.
fn is_as_described(metric: &Metric, (kind, labels): &Shape, histogram: &str) {
    let expected = if metric.kind == MetricKind::Histogram { histogram } else { metric.kind.as_str() };
    assert_eq!(kind, expected, "{}", metric.name);
    let names: BTreeSet<&str> = metric.labels.iter().map(|label| label.name).collect();
    assert_eq!(labels.keys().map(String::as_str).collect::<BTreeSet<_>>(), names, "{}", metric.name);
    for label in metric.labels {
        let known: BTreeSet<&str> = (label.values)().into_iter().collect();
        let shown: BTreeSet<&str> = labels[label.name].iter().map(String::as_str).collect();
        assert!(known.is_empty() || known == shown, "{}: {known:?}, and {shown:?}", metric.name);
    }
}

fn check(shown: &str) {
    let mut command = Command::new(PROMTOOL.path());
    command.args(["check", "metrics"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(shown.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let said =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(output.status.success() && said.is_empty(), "{said}\n{shown}");
}

/// Makes most events happen.
async fn much_happens(bench: &Bench) {
    let orders = bench.client.sequence("order").unwrap();
    orders.ready().await.unwrap();
    orders.next().await.unwrap();
    orders.next_fresh().await.unwrap();
    orders.next_batch(10).await.unwrap();
    orders.next_many(0).await.unwrap_err();
    for act in [
        Act::Hang,
        Act::Down,
        Act::Draining,
        Act::Foreign,
        Act::Short,
        Act::Swallow,
        Act::Say("NO_SHARD_AVAILABLE"),
        Act::Refuse("A_NEW_WORD"),
    ] {
        for endpoint in &bench.endpoints {
            endpoint.act(act);
        }
        drop(orders.next_fresh().await);
        // The lease expires, and is not refilled.
        bench.pass(AGE * 2).await;
    }
    for endpoint in &bench.endpoints {
        endpoint.act(Act::Give);
    }
    bench.pass(Duration::from_secs(300)).await;
    orders.next_fresh().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn all_that_a_program_will_show_is_there_from_the_start_as_the_table_says() {
    for (buckets, kind) in [(&[][..], "summary"), (&[0.001, 0.1][..], "histogram")] {
        let recorder = recorder(buckets);
        let handle = recorder.handle();
        let _recording = set_default_local_recorder(&recorder);
        let bench = Bench::new(2);
        let first = handle.render();
        check(&first);
        let (metrics, series) = read(&first);
        assert_eq!(metrics.keys().map(String::as_str).collect::<BTreeSet<_>>(), described());
        for metric in METRICS {
            is_as_described(metric, &metrics[metric.name], kind);
        }
        let zero = first.lines().filter(|line| line.contains("_total")).filter(|line| !line.starts_with('#'));
        assert!(zero.clone().count() > 50, "{first}");
        assert!(zero.clone().all(|line| line.ends_with(" 0")), "{first}");
        much_happens(&bench).await;
        let loaded = handle.render();
        check(&loaded);
        let (_, later) = read(&loaded);
        let new: Vec<&String> = later.difference(&series).collect();
        assert!(new.is_empty(), "not there from the start: {new:?}");
        for one in [
            r#"sequent_client_requests_total{verb="next",outcome="timeout"}"#,
            r#"sequent_client_requests_total{verb="next",outcome="unavailable"}"#,
            r#"sequent_client_requests_total{verb="next",outcome="NO_SHARD_AVAILABLE"}"#,
            r#"sequent_client_requests_total{verb="next",outcome="other"}"#,
            r#"sequent_client_endpoint_rescues_total{endpoint="1"}"#,
            r#"sequent_client_numbers_burnt_total{why="numbers aged in the reservoir"}"#,
        ] {
            let value = loaded.lines().find_map(|line| line.strip_prefix(one)?.trim().parse::<u64>().ok());
            assert!(value.is_some_and(|count| count > 0), "{one} {value:?}\n{loaded}");
        }
    }
}
