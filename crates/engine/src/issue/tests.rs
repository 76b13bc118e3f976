//! Requests of an engine over an embedded cluster: numbers that are ready, versions, and the size of a lease.

use std::time::Duration;

use sequent_core::{Clock, SystemClock};

use super::*;
use crate::{config::Sources, error::reason::Reason, open::options::Options};

#[tokio::test]
async fn what_is_ready_is_given_at_once_and_continues_in_order() {
    let data = tempfile::tempdir().unwrap();
    let config = Config::load(&Sources::embedded(data.path().join("data"))).unwrap();
    let engine = Engine::open(config, Options::default()).await.unwrap();
    let name: SequenceName = "order".parse().unwrap();
    let soon = SystemClock.now() + Duration::from_secs(20);
    for text in ["order", "", "../x"] {
        assert_eq!(engine.try_next(text), None, "{text:?} is not in use");
    }
    for wanted in 1..=3 {
        assert_eq!(engine.take(&name, 1, soon).await.unwrap().numbers.highest(), Some(wanted));
    }
    // More than that has been refilled by now, or is about to be.
    let (mut given, mut rounds) = (3, 0);
    while given < 30 {
        match engine.try_next("order") {
            Some(ready) => {
                given += 1;
                assert_eq!((ready.number, ready.version), (given, 1));
            }
            None => tokio::time::sleep(Duration::from_millis(1)).await,
        }
        rounds += 1;
        assert!(rounds < 20_000, "{given} numbers");
    }
    engine.shutdown().await;
    assert_eq!(engine.try_next("order"), None, "it has stopped");
}

#[tokio::test]
async fn a_key_of_a_version_before_serves_nobody_once_another_is_known() {
    let data = tempfile::tempdir().unwrap();
    let config = Config::load(&Sources::embedded(data.path().join("data"))).unwrap();
    let engine = Engine::open(config, Options::default()).await.unwrap();
    let ask = NextRequest::new("order").unwrap();
    assert_eq!(engine.next(&ask).await.unwrap().version, 1);
    // The new definition is known, but the key that was made from version 1 is still active.
    let texts = Some(crate::texts::Texts::new("A@{seq,w=6}"));
    let next = crate::definition::Body::check(Some("spread"), 1, 1, None, None, texts).unwrap();
    let next = next.after(1, &crate::definition::Body::default()).defining(&ask.name, 2);
    engine.0.cluster.ledger.define(&next, Some(1)).await.unwrap();
    engine.0.catalog.follow(None).await.unwrap();
    let issued = engine.next(&ask.at("2026-04-01")).await.unwrap();
    assert_eq!((issued.version, issued.dated.unwrap().texts.len()), (2, 1));
    engine.shutdown().await;
}

/// Another server may define more numbers for a shared counter than the texts of a template here can tell apart.
#[tokio::test]
async fn a_number_of_a_shared_counter_beyond_the_last_text_is_given_to_nobody() {
    let data = tempfile::tempdir().unwrap();
    let config = Config::load(&Sources::embedded(data.path().join("data"))).unwrap();
    let engine = Engine::open(config, Options::default()).await.unwrap();
    let of = |end, template: Option<&str>| {
        let texts = template.map(crate::texts::Texts::new);
        crate::definition::Body::check(Some("dense"), 1, 1, end, None, texts).unwrap()
    };
    let [document, bill] = ["document", "bill"].map(|name| NextRequest::new(name).unwrap());
    let few = of(Some(9), None);
    engine.define(&document.name, None, few.clone()).await.unwrap();
    let template = Some("A@{seq,ref=document,w=1,over=wrap,reuse_after=12mo}");
    engine.define(&bill.name, None, of(None, template)).await.unwrap();
    assert_eq!(engine.next(&document.clone().count(8)).await.unwrap().numbers.highest(), Some(8));
    assert_eq!(engine.next(&bill).await.unwrap().dated.unwrap().texts, ["A9"]);
    let more = of(Some(99), None).after(1, &few).defining(&document.name, 2);
    engine.0.cluster.ledger.define(&more, Some(1)).await.unwrap();
    engine.0.catalog.follow(None).await.unwrap();
    for _ in 0..2 {
        let error = engine.next(&bill).await.unwrap_err();
        assert_eq!(error.reason(), Reason::SequenceExhausted, "{error}");
        assert!(error.to_string().contains("its last number is 9"), "{error}");
    }
    assert_eq!(engine.next(&document).await.unwrap().numbers.highest(), Some(12));
    engine.shutdown().await;
}

#[tokio::test]
async fn a_lease_is_a_small_part_of_what_is_left() {
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("x.toml");
    let text =
        "cluster = \"x\"\n[[sequence]]\nname = \"short\"\nversion = 1\nend = 10000\nplacement = \"spread\"\n";
    std::fs::write(&file, text).unwrap();
    let config = Config::load(&Sources::embedded(data.path().join("data")).file(file)).unwrap();
    let engine = Engine::open(config, Options::default()).await.unwrap();
    let name: SequenceName = "short".parse().unwrap();
    let soon = SystemClock.now() + Duration::from_secs(20);
    let error = engine.take(&name, 10_001, soon).await.unwrap_err();
    assert!(
        error.to_string().starts_with("short ends at 10000: 10000 numbers are left: count is 10001"),
        "{error}"
    );
    let first = engine.lease(&name, 1_000_000, soon).await.unwrap().numbers.count();
    assert_eq!(first, 10);
    engine.take(&name, 9985, soon).await.unwrap();
    let error = engine.take(&name, 6, soon).await.unwrap_err();
    let said = "short is at its end, 10000: 9995 was given, and 5 numbers are left: count is 6: at most 5 are allowed, since no more are left";
    assert_eq!((error.reason(), error.to_string().as_str()), (Reason::SequenceExhausted, said));
    assert_eq!((&*error.fields()[0].field, error.fields()[0].value.as_str()), ("count", "6"));
    // Leases shrink to what is left: a lease never fails because it asked for more.
    let mut left = 0;
    while let Ok(lease) = engine.lease(&name, 1_000_000, soon).await {
        left += lease.numbers.count();
    }
    assert_eq!(left, 5);
    engine.shutdown().await;
}

#[tokio::test]
async fn a_batch_that_does_not_fit_uses_up_nothing_also_in_a_process_that_ends() {
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("x.toml");
    let text = "cluster = \"x\"\n[[sequence]]\nname = \"short\"\nend = 10007\nplacement = \"spread\"\n";
    std::fs::write(&file, text).unwrap();
    let name: SequenceName = "short".parse().unwrap();
    let soon = || SystemClock.now() + Duration::from_secs(20);
    let open = async || {
        let config = Config::load(&Sources::embedded(data.path().join("data")).file(file.clone())).unwrap();
        let options = Options { pace: crate::open::options::Pace::Once, ..Options::default() };
        Engine::open(config, options).await.unwrap()
    };
    let mut given = 0;
    for count in [9900, 108, 108, 107, 1] {
        let engine = open().await;
        match engine.take(&name, count, soon()).await {
            Ok(issued) => given += issued.numbers.count(),
            Err(error) => {
                let left = 10_007 - given;
                let said =
                    format!("short is at its end, 10007: {given} was given, and {left} numbers are left");
                assert_eq!(error.reason(), Reason::SequenceExhausted);
                assert!(error.to_string().starts_with(&said), "{error}");
            }
        }
        engine.shutdown().await;
    }
    assert_eq!(given, 10_007, "nothing was used up by the refusals");
}

/// Thousands of texts with a key of `obf` take long: health checks are answered by the same thread.
#[tokio::test]
async fn other_tasks_have_their_turn_while_many_texts_are_rendered() {
    let data = tempfile::tempdir().unwrap();
    let config = Config::load(&Sources::embedded(data.path().join("data"))).unwrap();
    let engine = Engine::open(config, Options::default()).await.unwrap();
    let ask = NextRequest::new("order").unwrap().count(10_000);
    let body = Body::check(None, 1, 1, None, None, Some(crate::texts::Texts::new("H@{seq,w=9}"))).unwrap();
    engine.define(&ask.name, None, body).await.unwrap();
    let resolved = engine.0.resolve(engine.0.catalog.find(&ask.name).unwrap(), &ask).unwrap();
    let numbers = Blocks::from(sequent_core::Block::new(1, 1, ask.count).unwrap());
    let mut issued = std::pin::pin!(resolved.issued(&ask, (numbers, Way::Reservoir), true));
    let mut turns = 0;
    let issued = std::future::poll_fn(|context| {
        turns += 1;
        issued.as_mut().poll(context)
    });
    assert_eq!(issued.await.unwrap().dated.unwrap().texts.len(), 10_000);
    assert!(turns > 10_000 / 256, "{turns} turns");
    engine.shutdown().await;
}

/// A principal with `define` and `next` on a name.
#[tokio::test]
async fn a_definition_that_is_made_again_and_again_lifts_no_burn_limit() {
    let data = tempfile::tempdir().unwrap();
    let config = Config::load(&Sources::embedded(data.path().join("data"))).unwrap();
    let engine = Engine::open(config, Options::default()).await.unwrap();
    let name: SequenceName = "order".parse().unwrap();
    let mut given = 0;
    for round in 0..8 {
        let held = crate::definition::BodyOptions { reserve_ms: Some(round % 2), ..Default::default() };
        let body = Body::check(Some("spread"), 1, 1, Some(9_999_999), None, None).unwrap();
        let body = body.with_options(&held, Some("spread")).unwrap();
        engine.define(&name, None, body).await.unwrap();
        let soon = SystemClock.now() + Duration::from_secs(20);
        let refused = loop {
            match engine.take(&name, 10_000, soon).await {
                Ok(issued) => given += issued.numbers.count(),
                Err(error) => break error,
            }
            assert!(given < 200_000, "round {round}");
        };
        assert_eq!(refused.reason(), Reason::QuotaExceeded, "{refused}");
    }
    engine.shutdown().await;
}
