//! A caller's deadline, a caller that leaves, and what a caller is told of a sequence that it may not see.

use super::*;
use crate::{auth::routes::Need, tls::peer::PeerCertificate};
use sequent_engine::{
    BURN, Options,
    config::{Config, Sources},
};

fn everyone(config: &Config) -> Caller {
    let auth = crate::auth::Auth::new(config, Arc::new(sequent_core::SystemClock));
    let need = Need::Verb(Verb::Next);
    auth.connection(("test", std::net::Ipv4Addr::LOCALHOST.into()), None)
        .caller(need, &http::HeaderMap::new())
        .unwrap()
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

/// A principal by its certificate that may take numbers, and not see definitions.
fn web() -> Caller {
    const NAME: &str = "spiffe://prod/ns/shop/sa/web";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sequent.toml");
    let principal =
        format!("[[principal]]\nname = \"web\"\ncert_names = [\"{NAME}\"]\nallow = [\"next:*\"]\n");
    std::fs::write(&file, format!("[auth]\nmode = \"required\"\n{principal}")).unwrap();
    let config = Config::load(&Sources::embedded(folder.path()).file(file)).unwrap();
    let auth = crate::auth::Auth::new(&config, Arc::new(sequent_core::SystemClock));
    let certificate = PeerCertificate { names: vec![NAME.to_owned()], spki_sha256: [0; 32] };
    let at = ("http", std::net::Ipv4Addr::LOCALHOST.into());
    let connection = auth.connection(at, Some(Arc::new(certificate)));
    connection.caller(Need::Verb(Verb::Next), &http::HeaderMap::new()).unwrap()
}

#[test]
fn how_far_a_sequence_is_is_told_to_those_alone_who_may_see_it() {
    let folder = tempfile::tempdir().unwrap();
    let everyone = everyone(&Config::load(&Sources::embedded(folder.path())).unwrap());
    let web = web();
    let request = NextRequest { above: 900, ..NextRequest::of("order".parse().unwrap()) };
    let quota = QuotaFault {
        quota: BURN,
        of: "order|777".to_owned(),
        limit: "at most 777 a second".to_owned(),
        retry_after: Duration::from_secs(7),
    };
    // Each says 777, which only those may know who may see the sequence.
    for error in [
        EngineError::over_quota("777 numbers of order are left", quota),
        EngineError::new(Reason::SequenceExhausted, "order is at its end, 777"),
        EngineError::new(Reason::ClusterBehind, "this cluster can have given 777 of order at most"),
    ] {
        let reason = error.reason();
        let [seen, hidden] = [&everyone, &web].map(|caller| told_to(caller, &request, error.clone()));
        assert_eq!((seen.reason(), hidden.reason()), (reason, reason));
        assert!(format!("{seen:?}").contains("777"), "{seen:?}");
        assert!(!format!("{hidden:?}").contains("777"), "{hidden:?}");
        assert!(hidden.text().contains("order"), "{hidden:?}");
        assert_eq!(hidden.retry_after(), seen.retry_after(), "when to ask again is told to all");
    }
    let other = EngineError::new(Reason::NoShardAvailable, "no shard, 777");
    assert!(told_to(&web, &request, other).text().contains("777"), "nothing else is hidden");
}
