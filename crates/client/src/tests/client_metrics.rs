//! Metrics of the client, by a debugging recorder.

#![allow(clippy::float_cmp, reason = "small whole numbers")]

use std::{collections::BTreeMap, time::Duration};

use metrics::{
    Counter, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit,
    set_default_local_recorder,
};
use metrics_util::debugging::{DebugValue, DebuggingRecorder, Snapshotter};

use crate::tests::scripted_endpoint::{AGE, Act, Bench};

/// Sum of each metric over its labels, and by each label.
fn told(snapshotter: &Snapshotter) -> BTreeMap<String, f64> {
    let mut found = BTreeMap::new();
    for (key, _, _, value) in snapshotter.snapshot().into_vec() {
        #[allow(clippy::cast_precision_loss, reason = "small numbers")]
        let value = match value {
            DebugValue::Counter(count) => count as f64,
            DebugValue::Gauge(value) => value.into_inner(),
            DebugValue::Histogram(samples) => samples.len() as f64,
        };
        let name = key.key().name().trim_start_matches("sequent_client_").to_owned();
        for label in key.key().labels() {
            *found.entry(format!("{name} {}", label.value())).or_default() += value;
        }
        *found.entry(name).or_default() += value;
    }
    found
}

#[tokio::test(start_paused = true)]
async fn everything_is_at_zero_before_it_happens() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    let _recording = set_default_local_recorder(&recorder);
    let _bench = Bench::new(2);
    let begun = told(&snapshotter);
    let names = [
        "numbers_issued_total batch",
        "requests_total lease",
        "errors_total QUOTA_EXCEEDED",
        "endpoint_rescues_total 1",
        "leases_total",
    ];
    for name in names {
        assert_eq!(begun.get(name).copied(), Some(0.0), "{name}: {begun:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn every_number_is_accounted_for() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    let _recording = set_default_local_recorder(&recorder);
    let bench = Bench::new(2);
    let orders = bench.client.sequence("order").unwrap();
    orders.ready().await.unwrap();
    for _ in 0..10 {
        orders.next().await.unwrap();
    }
    orders.next_fresh().await.unwrap();
    orders.next_many(0).await.unwrap_err();
    bench.endpoints[0].act(Act::Down);
    orders.next_fresh().await.unwrap();
    bench.pass(Duration::from_secs(2)).await;
    // Only once, since a snapshot resets the counters.
    let told = told(&snapshotter);
    let value = |name: &str| told.get(name).copied().unwrap_or(f64::NAN);
    let all: Vec<f64> = [
        "numbers_issued_total lease",
        "numbers_issued_total fresh",
        "leases_total",
        "requests_total ok",
        "requests_total unavailable",
        "errors_total INVALID_ARGUMENT",
        "endpoint_evictions_total 0",
        "endpoint_live 0",
        "endpoint_live 1",
    ]
    .map(value)
    .to_vec();
    assert_eq!(
        all,
        [10.0, 2.0, value("leases_total"), value("requests_total ok"), 1.0, 1.0, 1.0, 0.0, 1.0],
        "{told:?}"
    );
    assert_eq!(value("reserve_numbers") + 10.0, value("numbers_leased_total"));
    assert_eq!(value("request_seconds"), value("requests_total"));
    let held = value("reserve_numbers");

    bench.pass(AGE * 2).await;
    let told = self::told(&snapshotter);
    assert_eq!(told.get("numbers_burnt_total").copied(), Some(held), "what aged: {told:?}");
    assert_eq!(told.get("endpoint_live 0").copied(), Some(0.0));
    bench.endpoints[0].act(Act::Give);
    bench.pass(Duration::from_secs(300)).await;
    let told = self::told(&snapshotter);
    assert_eq!(told.get("endpoint_rescues_total 0").copied(), Some(1.0));
    assert_eq!(told.get("endpoint_live 0").copied(), Some(1.0));
}

/// A server sees such a call as cancelled, if at all. Only the client knows that it was too late.
#[tokio::test(start_paused = true)]
async fn a_call_whose_own_deadline_passes_is_counted_and_so_is_its_request() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    let _recording = set_default_local_recorder(&recorder);
    let bench = Bench::new(1);
    let orders = bench.client.sequence("order").unwrap().deadline(Duration::from_millis(50));
    bench.endpoints[0].act(Act::Hang);
    orders.next_batch(1).await.unwrap_err();
    orders.next_fresh().await.unwrap_err();
    orders.next_many(2).await.unwrap_err();
    orders.next().await.unwrap_err();
    orders.ready().await.unwrap_err();
    let told = told(&snapshotter);
    assert_eq!(told.get("errors_total DEADLINE_EXCEEDED").copied(), Some(5.0), "{told:?}");
    assert_eq!(told.get("errors_total").copied(), Some(5.0), "{told:?}");

    // The requests go on until their own limit, and are counted then.
    bench.pass(Duration::from_secs(10)).await;
    let told = self::told(&snapshotter);
    let timeouts = told.get("requests_total timeout").copied().unwrap_or_default();
    assert!(timeouts >= 1.0 && told.get("requests_total").copied() == Some(timeouts), "{told:?}");
}

/// A recorder that panics.
struct Broken;

impl Recorder for Broken {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {
        panic!("broken");
    }
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {
        panic!("broken");
    }
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {
        panic!("broken");
    }
    fn register_counter(&self, _: &Key, _: &Metadata<'_>) -> Counter {
        panic!("broken")
    }
    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
        panic!("broken")
    }
    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        panic!("broken")
    }
}

#[tokio::test(start_paused = true)]
async fn a_recorder_that_panics_stops_neither_calls_nor_the_ageing_of_leases() {
    let _recording = set_default_local_recorder(&Broken);
    let bench = Bench::new(2);
    let sequences = ["a", "b", "c"].map(|name| bench.client.sequence(name).unwrap());
    for sequence in &sequences {
        sequence.ready().await.unwrap();
        sequence.next_fresh().await.unwrap();
        sequence.next_batch(0).await.unwrap_err();
    }
    bench.endpoints[0].act(Act::Down);
    bench.endpoints[1].act(Act::Down);
    tokio::time::sleep(AGE).await;
    bench.client.state().tick();
    for sequence in &sequences {
        assert_eq!(sequence.try_next(), None, "one tick ends all of it");
    }
}
