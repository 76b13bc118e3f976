//! A caller's deadline, and a caller that leaves.

use super::*;
use crate::auth::routes::Need;
use sequent_engine::{
    Options,
    config::{Config, Sources},
};

fn everyone(config: &Config) -> Caller {
    let auth = crate::auth::Auth::new(config, Arc::new(sequent_core::SystemClock));
    let need = Need::Verb(Verb::Next);
    auth.connection("test", None, None).caller(need, &http::HeaderMap::new()).unwrap()
}

#[tokio::test]
async fn the_shorter_of_the_callers_and_the_servers_time_counts() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config::load(&Sources::embedded(folder.path())).unwrap();
    let limits = RuntimeLimits::new(&config.limits);
    let caller = everyone(&config);
    let service = NumberService::new(Engine::open(config, Options::default()).await.unwrap(), limits);
    let metrics = RequestMetrics::new("test", "next");
    let none = Values::new();
    let request = |timeout| NumberRequest {
        name: ("name", "order"),
        count: 2,
        timeout,
        values: &none,
        at: "",
        above: 0,
        caller: &caller,
    };
    // The first numbers of a sequence are never ready at once.
    let error = service.next(request(Some(Duration::ZERO)), &metrics).await.unwrap_err();
    assert_eq!(error.reason(), Reason::DeadlineExceeded);
    assert_eq!(service.next(request(Some(Duration::MAX)), &metrics).await.unwrap().numbers.count(), 2);
    assert_eq!(service.in_flight().count(), 0);
    service.engine().shutdown().await;
}

#[tokio::test]
async fn a_caller_that_hangs_up_is_counted_and_one_that_is_answered_is_not() {
    let recorder = metrics_exporter_prometheus::PrometheusBuilder::new().build_recorder();
    let shown = recorder.handle();
    let metrics = metrics::with_local_recorder(&recorder, || RequestMetrics::new("test", "next"));
    let folder = tempfile::tempdir().unwrap();
    let config = Config::load(&Sources::embedded(folder.path())).unwrap();
    let limits = RuntimeLimits::new(&config.limits);
    let caller = everyone(&config);
    let service = NumberService::new(Engine::open(config, Options::default()).await.unwrap(), limits);
    let none = Values::new();
    let request = NumberRequest {
        name: ("name", "order"),
        count: 2,
        timeout: None,
        values: &none,
        at: "",
        above: 0,
        caller: &caller,
    };
    let count = |reason: &str| {
        let series = format!("reason=\"{reason}\"");
        let text = shown.render();
        let line = text.lines().find(|line| line.contains(&series)).unwrap();
        line.rsplit(' ').next().unwrap().to_owned()
    };
    // The first numbers of a sequence are never ready at once, so the future is polled once and dropped.
    let mut first = Box::pin(service.next(request, &metrics));
    let is_waiting = std::future::poll_fn(|cx| std::task::Poll::Ready(first.as_mut().poll(cx).is_pending()));
    assert!(is_waiting.await);
    assert_eq!(count("CANCELLED"), "0");
    drop(first);
    assert_eq!((count("CANCELLED"), count("OK"), service.in_flight().count()), ("1".into(), "0".into(), 0));
    service.next(request, &metrics).await.unwrap();
    assert_eq!((count("CANCELLED"), count("OK")), ("1".to_owned(), "1".to_owned()));
    service.engine().shutdown().await;
}
