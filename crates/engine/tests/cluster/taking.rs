//! Numbers: the first, the next, many processes at once.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use sequent_core::Blocks;
use sequent_engine::{Engine, NextRequest, Options, Reason};
use sequent_testkit::Oracle;
use tokio::task::JoinSet;

use super::{Place, contents, listening, once, take};

#[tokio::test]
async fn a_process_that_takes_once_and_ends_wastes_none() {
    let place = Place::new();
    let (options, heard) = listening();
    for round in 0..4_u64 {
        let engine = Engine::open(place.config(), options.clone()).await.unwrap();
        let numbers = take(&engine, "order", 5).await.unwrap();
        assert_eq!(numbers, (round * 5 + 1..=round * 5 + 5).collect::<Vec<_>>());
        engine.shutdown().await;
    }
    let said = format!("new embedded cluster in {}: its numbers start at 1", place.data().display());
    assert_eq!(*heard.lock().unwrap(), [said], "said once");
}

#[tokio::test]
async fn a_new_cluster_is_announced_before_it_is_made() {
    let place = Place::new();
    let found: Arc<Mutex<Vec<Vec<String>>>> = Arc::default();
    let (seen, data) = (Arc::clone(&found), place.data());
    let databases = move || {
        let names = contents(&data).into_iter().map(|(name, ..)| name);
        names.filter(|name| name == "ledger.db" || name.starts_with("shard-")).collect()
    };
    let made = databases.clone();
    let say = Arc::new(move |_: &str| seen.lock().unwrap().push(databases()));
    let engine = Engine::open(place.config(), Options { say, ..once() }).await.unwrap();
    engine.shutdown().await;
    assert_eq!(
        *found.lock().unwrap(),
        [Vec::<String>::new()],
        "one who dies in between has made none in silence"
    );
    assert_eq!(made().len(), 5, "four shards and the ledger");
}

#[tokio::test]
async fn start_step_and_end_are_kept() {
    let text =
        "[[sequence]]\nname = \"even\"\nstart = 1000\nstep = 10\nend = 20000\nplacement = \"spread\"\n";
    let place = Place::with(text);
    assert_eq!(place.take("even", 3).await, [1000, 1010, 1020]);
    assert_eq!(place.take("even", 2).await, [1030, 1040]);
    let engine = place.open().await.unwrap();
    let mut last = 1040;
    let error = loop {
        match take(&engine, "even", 100).await {
            Ok(numbers) => last = *numbers.iter().max().unwrap(),
            Err(error) => break error,
        }
    };
    assert!(last <= 20_000);
    assert_eq!(error.reason(), Reason::SequenceExhausted);
    assert!(error.to_string().starts_with("even is at its end"), "{error}");
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_engines_over_one_fresh_directory_repeat_nothing() {
    let place = Place::new();
    let oracle = Arc::new(Oracle::new());
    let mut takers = JoinSet::new();
    for taker in 0..10 {
        let (config, oracle) = (place.config(), Arc::clone(&oracle));
        takers.spawn(async move {
            let engine = Engine::open(config, once()).await.unwrap();
            for _ in 0..20 {
                let numbers = take_again(&engine).await;
                oracle.add_blocks(&numbers, &taker.to_string()).unwrap();
            }
            engine.shutdown().await;
        });
    }
    takers.join_all().await;
    assert_eq!(oracle.count(), 10 * 20 * 7);
}

/// Takes until it succeeds, as callers do who were told to try again; ten engines on two cores may be slow.
async fn take_again(engine: &Engine) -> Blocks {
    let mut last = None;
    for _ in 0..30 {
        match engine.next(&NextRequest::new("order").unwrap().count(7)).await {
            Ok(issued) => return issued.numbers,
            Err(error) => {
                assert!(error.reason().retry().is_retryable(), "{error}");
                last = error.detail();
            }
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("not once in thirty times: {last:?}");
}

#[tokio::test]
async fn a_count_out_of_bounds_takes_nothing() {
    let place = Place::new();
    let engine = place.open().await.unwrap();
    for count in [0, 10_001] {
        let error = take(&engine, "order", count).await.unwrap_err();
        assert_eq!(error.reason(), Reason::InvalidArgument);
        assert_eq!(error.to_string(), format!("count is {count}: 1 to 10000 are allowed"));
        assert_eq!((&*error.fields()[0].field, error.reason().exit_code()), ("count", 2));
    }
    assert_eq!(take(&engine, "order", 1).await.unwrap(), [1]);
    engine.shutdown().await;
    assert_eq!(take(&engine, "order", 1).await.unwrap_err().reason(), Reason::Draining);
}

#[tokio::test]
async fn a_first_use_defines_where_a_pattern_allows() {
    let place = Place::with("auto_create = [\"order*\"]\n");
    let engine = place.open().await.unwrap();
    assert_eq!(take(&engine, "orders", 1).await.unwrap(), [1]);
    let error = take(&engine, "invoice", 1).await.unwrap_err();
    assert_eq!((error.reason(), error.reason().exit_code()), (Reason::SequenceNotFound, 1));
    let names: Vec<String> =
        engine.cluster().list().await.unwrap().into_iter().map(|listed| listed.sequence).collect();
    assert_eq!(names, ["orders"], "what was refused is not defined");
    engine.shutdown().await;
}

#[tokio::test]
async fn a_burst_on_a_new_key_builds_it_once() {
    let place = Place::new();
    let engine = place.open().await.unwrap();
    let oracle = Arc::new(Oracle::new());
    let mut callers = JoinSet::new();
    for caller in 0..200 {
        let (engine, oracle) = (engine.clone(), Arc::clone(&oracle));
        callers.spawn(async move {
            let issued = engine.next(&NextRequest::new("order").unwrap()).await.unwrap();
            oracle.add_blocks(&issued.numbers, &caller.to_string()).unwrap();
        });
    }
    callers.join_all().await;
    assert_eq!(oracle.count(), 200);
    assert_eq!(engine.status().await.keys.len(), 1);
    engine.shutdown().await;
}
