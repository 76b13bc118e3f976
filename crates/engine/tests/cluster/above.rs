//! `above`: a caller that holds what the cluster can't have given.

use std::fs;

use sequent_core::Event;
use sequent_engine::{Engine, NextRequest, Options, Reason};

use super::{Place, once};

fn ask() -> NextRequest {
    NextRequest::new("order").unwrap()
}

#[tokio::test]
async fn only_what_no_ceiling_permits_is_refused_and_nothing_is_consumed_or_raised() {
    let place = Place::new();
    let engine = Engine::open(place.config(), once()).await.unwrap();
    let error = engine.next(&ask().above(1_000_000)).await.unwrap_err();
    assert_eq!(error.reason(), Reason::ClusterBehind, "nothing was given yet");
    let first = engine.next(&ask().count(4)).await.unwrap().numbers.highest().unwrap();
    for above in 1..=first {
        engine.next(&ask().above(above)).await.unwrap();
    }
    let beyond = || ask().above(1_000_000_000);
    let report = || async { engine.cluster().show(&"order".parse().unwrap()).await.unwrap().counters };
    let before = report().await;
    let permitted = before.iter().filter_map(|counter| counter.number_max).max().unwrap();
    for _ in 0..3 {
        let error = engine.next(&beyond()).await.unwrap_err();
        assert_eq!((error.reason(), error.exit_code()), (Reason::ClusterBehind, 1));
        assert!(error.to_string().contains(&permitted.to_string()), "{permitted}: {error}");
    }
    let after = report().await;
    let ceilings =
        |report: &[sequent_engine::report::CounterReport]| report.iter().map(|counter| counter.ceiling).max();
    assert_eq!(ceilings(&after), ceilings(&before), "nothing is raised");
    assert!(engine.next(&ask().above(permitted)).await.is_ok());
    assert_eq!(
        engine.next(&ask().above(permitted + 1_000)).await.unwrap_err().reason(),
        Reason::ClusterBehind
    );
    let status = engine.status().await;
    let [behind] = &status.behind[..] else { panic!("{:?}", status.behind) };
    assert_eq!((behind.key.as_str(), behind.above), ("order", 1_000_000_000), "the highest of them");
    let told = engine.recent().into_iter().filter(|it| matches!(it.event, Event::ClusterBehind { .. }));
    assert!(told.count() >= 1);
    engine.shutdown().await;
}

#[tokio::test]
async fn every_key_that_is_behind_its_callers_is_in_the_status() {
    let place = Place::new();
    let engine = Engine::open(place.config(), once()).await.unwrap();
    let keys = ["order", "invoice", "waybill"];
    for (at, key) in keys.into_iter().enumerate() {
        let ask = NextRequest::new(key).unwrap().above(1_000_000 + at as u64);
        assert_eq!(engine.next(&ask).await.unwrap_err().reason(), Reason::ClusterBehind);
    }
    let status = engine.status().await;
    let behind: Vec<(&str, u64)> =
        status.behind.iter().map(|behind| (behind.key.as_str(), behind.above)).collect();
    // The log has a line of the first of them only, for they came within a second.
    assert_eq!(behind, [("order", 1_000_000), ("invoice", 1_000_001), ("waybill", 1_000_002)]);
    assert_eq!((status.behind_more, engine.behind().0), (0, status.behind.clone()));
    engine.shutdown().await;
}

#[tokio::test]
async fn another_process_of_the_cluster_knows_by_the_ledger() {
    let place = Place::new();
    let one = Engine::open(place.config(), Options::default()).await.unwrap();
    let other = Engine::open(place.config(), once()).await.unwrap();
    other.next(&ask()).await.unwrap();
    for _ in 0..5 {
        let highest = one.next(&ask().count(2000)).await.unwrap().numbers.highest().unwrap();
        other.next(&ask().above(highest)).await.unwrap();
    }
    one.shutdown().await;
    other.shutdown().await;
}

#[tokio::test]
async fn a_ledger_that_is_away_says_nothing() {
    let place = Place::new();
    let engine = Engine::open(place.config(), Options::default()).await.unwrap();
    // Often enough for ceilings that are ahead.
    for _ in 0..10 {
        engine.next(&ask().count(100)).await.unwrap();
    }
    // A directory in its place: whoever looks finds no ledger.
    fs::rename(place.file("ledger.db"), place.file("away")).unwrap();
    fs::create_dir(place.file("ledger.db")).unwrap();
    let given = engine.next(&ask().above(1_000_000_000)).await;
    assert!(given.is_ok(), "{:?}", given.err());
    engine.shutdown().await;
}

#[tokio::test]
async fn a_sequence_that_counts_in_other_keys_since_is_not_taken_for_one_that_went_back() {
    let part = |version, template| {
        format!("[[sequence]]\nname = \"order\"\nversion = {version}\ntemplate = '{template}'\n")
    };
    let mut place = Place::with(&part(1, "A@{seq,w=8}"));
    let engine = place.open().await.unwrap();
    let highest = engine.next(&ask().count(50)).await.unwrap().numbers.highest().unwrap();
    place.say(&part(2, "B@{date,yyyyMMdd}@{seq,w=8}"));
    engine.reload(&place.config()).await.unwrap();
    let given = engine.next(&ask().above(highest)).await.unwrap();
    assert!(given.dated.unwrap().texts[0].ends_with("00000001"), "its own counter begins");
    engine.shutdown().await;
}

#[tokio::test]
async fn a_definition_that_ends_sooner_makes_nobody_of_its_own_a_stranger() {
    let definition = |version: u32, end: u64, placement: &str| {
        format!(
            "[[sequence]]\nname = \"order\"\nversion = {version}\nend = {end}\nplacement = \"{placement}\"\n"
        )
    };
    for placement in ["spread", "dense"] {
        let mut place = Place::with(&definition(1, 100_000_000, placement));
        let highest = *place.take("order", 5000).await.last().unwrap();
        place.say(&definition(2, highest - 1000, placement));
        let engine = Engine::open(place.config(), once()).await.unwrap();
        let error = engine.next(&ask().above(highest)).await.unwrap_err();
        assert_eq!(error.reason(), Reason::SequenceExhausted, "{placement}: {error}");
        let error = engine.next(&ask().above(50_000_000)).await.unwrap_err();
        assert_eq!(error.reason(), Reason::ClusterBehind, "{placement}: {error}");
        engine.shutdown().await;
    }
}
