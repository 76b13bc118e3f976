//! Gauges that several clients of one process share.

#![allow(clippy::float_cmp, reason = "small whole numbers")]

use std::time::Duration;

use metrics::{set_default_local_recorder, with_local_recorder};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};

use crate::tests::scripted_endpoint::{Act, Bench};

/// Ready numbers; clients that see the first and the second endpoint as healthy; clients that see them as failed. A
/// debugging snapshot would reset them.
fn gauges(handle: &PrometheusHandle) -> [Option<f64>; 5] {
    let page = handle.render();
    let names = [
        "reserve_numbers",
        "endpoint_live{endpoint=\"0\"}",
        "endpoint_live{endpoint=\"1\"}",
        "endpoint_out{endpoint=\"0\"}",
        "endpoint_out{endpoint=\"1\"}",
    ];
    names.map(|name| {
        let begins = format!("sequent_client_{name} ");
        page.lines().find_map(|line| line.strip_prefix(&begins)?.parse().ok())
    })
}

/// Fills the lease and reports it.
async fn fill(bench: &Bench) {
    bench.client.sequence("order").unwrap().ready().await.unwrap();
    bench.pass(Duration::from_secs(2)).await;
}

#[tokio::test(start_paused = true)]
async fn two_clients_add_up_and_hand_back_what_they_had() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let handle = recorder.handle();
    let _recording = set_default_local_recorder(&recorder);
    let (first, second) = (Bench::new(2), Bench::new(1));
    assert_eq!(gauges(&handle), [0.0, 2.0, 1.0, 0.0, 0.0].map(Some));
    fill(&first).await;
    let of_first = gauges(&handle)[0].unwrap();
    fill(&second).await;
    let of_both = gauges(&handle)[0].unwrap();
    assert!(of_first > 0.0 && of_both > of_first, "the second hides the first: {of_first}, {of_both}");

    first.endpoints[0].act(Act::Down);
    first.client.sequence("order").unwrap().next_fresh().await.unwrap();
    let found = gauges(&handle);
    assert_eq!(found[1..], [1.0, 1.0, 1.0, 0.0].map(Some), "the second has its own in use: {found:?}");

    drop(first);
    // Its background tasks end with it, once they are polled.
    tokio::time::sleep(Duration::from_secs(5)).await;
    let found = gauges(&handle);
    assert_eq!(found, [of_both - of_first, 1.0, 0.0, 0.0, 0.0].map(Some), "it went with all that it had");
    drop(second);
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(gauges(&handle), [Some(0.0); 5]);
}

#[tokio::test(start_paused = true)]
async fn a_recorder_that_is_installed_late_is_told_the_whole() {
    let bench = Bench::new(1);
    fill(&bench).await;
    let recorder = PrometheusBuilder::new().build_recorder();
    let handle = recorder.handle();
    with_local_recorder(&recorder, || (0..20).for_each(|_| bench.client.state().tick()));
    let ready = gauges(&handle)[0].unwrap();
    assert!(ready > 0.0, "{ready}");
    with_local_recorder(&recorder, || drop(bench));
    assert_eq!(gauges(&handle)[0], Some(0.0));
}
