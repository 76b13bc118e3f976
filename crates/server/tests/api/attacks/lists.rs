//! Lists of sequences, and sequences that do not exist: neither may keep the ledger from counting.

use std::time::Instant;

use sequent_core::{Clock, SystemClock};
use sequent_proto::v1::{ListRequest, ShowRequest, definitions_client::DefinitionsClient};
use tokio::task::JoinSet;
use tonic::Code;

use super::{Prober, metric, start};
use crate::{Server, raw_http};

const LEDGER_CALLS: &str = "sequent_ledger_calls_total";

const LISTS: usize = 500;
const UNKNOWN: usize = 1000;

/// Calls of the ledger beside those that numbers wait for.
async fn other_calls(server: &Server) -> f64 {
    metric(server.admin, LEDGER_CALLS, "call=\"other\"").await
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_are_answered_without_the_ledger() {
    let server = start(&[]).await;
    let before = other_calls(&server).await;
    let prober = Prober::of(&server);
    let mut calls = JoinSet::new();
    let channel = server.channel().await;
    for _ in 0..LISTS {
        let mut client = DefinitionsClient::new(channel.clone());
        calls.spawn(async move {
            let listed = client.list(ListRequest::default()).await.unwrap().into_inner();
            assert_eq!((listed.sequences.len(), listed.more), (2, false));
            let ask = ShowRequest { sequence: "few".to_owned() };
            let shown = client.show(ask).await.unwrap().into_inner();
            assert!(!listed.as_of.is_empty() && !shown.as_of.is_empty(), "{shown:?}");
        });
    }
    while let Some(call) = calls.join_next().await {
        call.unwrap();
    }
    prober.was_served().await;
    let made = other_calls(&server).await - before;
    assert!(made < 100.0, "{made} calls of the ledger for {} of callers", 2 * LISTS);
}

#[tokio::test]
async fn a_list_says_as_of_when_it_is() {
    let server = start(&[]).await;
    let parsed = |text: &str| text.parse::<sequent_engine::Timestamp>().unwrap_or_else(|_| panic!("{text}"));
    let as_of =
        async |path: &str| parsed(raw_http::get(server.http, path).await.json()["as_of"].as_str().unwrap());
    let now = || {
        sequent_engine::Timestamp::from_millisecond(i64::try_from(SystemClock.wall_ms()).unwrap()).unwrap()
    };
    let (listed, shown) = (as_of("/v1/sequences").await, as_of("/v1/sequences/few").await);
    assert!(listed <= shown && shown <= now(), "{listed} {shown}");
    // A heartbeat that finds no other version makes it newer.
    let began = SystemClock.now();
    while as_of("/v1/sequences").await <= shown {
        assert!(began.elapsed().as_secs() < 60, "it stays {shown}");
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn names_that_nobody_defined_cause_few_looks() {
    let server = start(&[]).await;
    let (before, began): (f64, Instant) = (other_calls(&server).await, SystemClock.now());
    let prober = Prober::of(&server);
    let mut calls = JoinSet::new();
    let channel = server.channel().await;
    for at in 0..UNKNOWN {
        let mut numbers = sequent_proto::v1::sequences_client::SequencesClient::new(channel.clone());
        let mut definitions = DefinitionsClient::new(channel.clone());
        calls.spawn(async move {
            let sequence = format!("unknown{at}");
            let next = numbers.next(crate::ask(&sequence, None)).await.unwrap_err();
            let show = definitions.show(ShowRequest { sequence }).await.unwrap_err();
            [next.code(), show.code()]
        });
    }
    let codes: Vec<Code> = calls.join_all().await.into_iter().flatten().collect();
    prober.was_served().await;
    let of = |code| codes.iter().filter(|found| **found == code).count();
    let (missing, refused) = (of(Code::NotFound), of(Code::ResourceExhausted) + of(Code::DeadlineExceeded));
    assert_eq!(missing + refused, 2 * UNKNOWN, "{codes:?}");
    assert!(missing > 0 && refused > 0, "{missing} {refused}");
    // Twenty looks a second, and a little more for what else calls the ledger.
    let made = other_calls(&server).await - before;
    let most = 100.0 + 20.0 * began.elapsed().as_secs_f64();
    assert!(made < most, "{made} calls of the ledger within {:?}", began.elapsed());
}
