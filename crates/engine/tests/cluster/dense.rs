//! Dense sequences: in order, without gaps, in the ledger alone.

use sequent_core::{Clock, SystemClock};
use sequent_engine::{Engine, NextRequest, Reason};

use super::{Place, once, take};

/// A dense sequence, and one that is dense since it has few numbers.
const DENSE: &str = "[[sequence]]\nname = \"invoice\"\nplacement = \"dense\"\n\
    [[sequence]]\nname = \"few\"\nstart = 100\nstep = 10\nend = 200\n";

fn ask(name: &str) -> NextRequest {
    NextRequest::new(name).unwrap()
}

async fn reason(engine: &Engine, request: &NextRequest) -> Reason {
    engine.next(request).await.unwrap_err().reason()
}

#[tokio::test(flavor = "multi_thread")]
async fn many_callers_in_two_processes_get_every_number_once_and_in_order() {
    let place = Place::with(DENSE);
    let engines = [place.open().await.unwrap(), place.open().await.unwrap()];
    let mut tasks = tokio::task::JoinSet::new();
    for caller in 0..32 {
        let engine = engines[caller % 2].clone();
        tasks.spawn(async move {
            let mut own = Vec::new();
            for round in 0..10 {
                own.extend(take(&engine, "invoice", 1 + round % 3).await.unwrap());
            }
            assert!(own.is_sorted(), "{own:?}");
            own
        });
    }
    let mut all = tasks.join_all().await.concat();
    all.sort_unstable();
    assert_eq!(all, (1..=all.len() as u64).collect::<Vec<_>>());
    assert_eq!(all.len(), 32 * 19);
    for engine in engines {
        engine.shutdown().await;
    }
    assert_eq!(place.take("invoice", 2).await, [609, 610], "another process goes on, and nothing is skipped");
}

#[tokio::test]
async fn few_numbers_are_dense_and_come_to_their_end() {
    let place = Place::with(DENSE);
    let engine = place.open().await.unwrap();
    assert_eq!(take(&engine, "few", 3).await.unwrap(), [100, 110, 120]);
    assert_eq!(take(&engine, "few", 1).await.unwrap(), [130]);
    let error = engine.next(&ask("few").count(8)).await.unwrap_err();
    assert_eq!(error.reason(), Reason::SequenceExhausted, "all or nothing: {error}");
    let fault = &error.fields()[0];
    assert_eq!((&*fault.field, fault.value.as_str()), ("count", "8"));
    assert_eq!(fault.bound, "at most 7 are allowed, since no more are left");
    assert!(
        error
            .to_string()
            .contains("few is at its end, 200: 130 was given, and 7 numbers are left: count is 8: at most 7"),
        "{error}"
    );
    assert_eq!(take(&engine, "few", 7).await.unwrap(), [140, 150, 160, 170, 180, 190, 200]);
    let error = engine.next(&ask("few")).await.unwrap_err();
    assert_eq!((error.reason(), error.fields().len()), (Reason::SequenceExhausted, 0), "nothing is left");
    let report = engine.cluster().show(&"few".parse().unwrap()).await.unwrap();
    assert_eq!((report.summary.placement, report.counters.len()), ("dense", 0));
    assert_eq!(report.dense.iter().map(|held| (held.given, held.number)).collect::<Vec<_>>(), [(11, 200)]);
    engine.shutdown().await;
}

#[tokio::test]
async fn a_lease_is_refused_and_says_what_to_do() {
    let place = Place::with(DENSE);
    let engine = place.open().await.unwrap();
    let name = "invoice".parse().unwrap();
    let soon = SystemClock.now() + std::time::Duration::from_secs(20);
    let error = engine.lease(&name, 10, soon).await.unwrap_err();
    assert_eq!(error.reason(), Reason::InvalidArgument);
    assert_eq!((&*error.fields()[0].field, error.fields()[0].value.as_str()), ("placement", "dense"));
    assert!(error.to_string().contains("no leases"), "{error}");
    assert!(engine.reservoir(&name).await.is_err());
    assert_eq!(engine.try_next("invoice"), None);
    assert_eq!(take(&engine, "invoice", 1).await.unwrap(), [1], "a refusal consumes nothing");
    engine.shutdown().await;
}

#[tokio::test]
async fn another_placement_would_repeat_numbers_and_is_refused() {
    let mut place = Place::with(DENSE);
    place.take("invoice", 3).await;
    place.say("[[sequence]]\nname = \"invoice\"\nversion = 2\nplacement = \"spread\"\n");
    let error = place.open().await.err().unwrap();
    assert_eq!(error.exit_code(), 3);
    assert!(error.to_string().contains("changes placement from dense to spread"), "{error}");
    assert!(error.to_string().contains("keep placement dense"), "the mend is the held one's: {error}");
}

#[tokio::test]
async fn texts_of_few_numbers_are_dense_too() {
    let place = Place::with("[[sequence]]\nname = \"slip\"\ntemplate = 'S@{seq,w=3,over=error}'\n");
    let engine = place.open().await.unwrap();
    let given = engine.next(&ask("slip").count(2)).await.unwrap().dated.unwrap();
    assert_eq!(given.texts, ["S001", "S002"]);
    let report = engine.cluster().show(&"slip".parse().unwrap()).await.unwrap();
    assert_eq!(report.summary.placement, "dense");
    engine.shutdown().await;
}

#[tokio::test]
async fn a_caller_that_was_given_more_is_refused_and_others_are_not() {
    let place = Place::with(DENSE);
    let engine = Engine::open(place.config(), once()).await.unwrap();
    assert_eq!(take(&engine, "few", 2).await.unwrap(), [100, 110]);
    for above in [111, 120, u64::MAX] {
        assert_eq!(reason(&engine, &ask("few").above(above)).await, Reason::ClusterBehind, "{above}");
    }
    for (above, next) in [(110, 120), (1, 130), (130, 140), (131, 150)] {
        let given = engine.next(&ask("few").above(above)).await;
        match given {
            Ok(given) => assert_eq!(given.numbers.highest(), Some(next), "{above}"),
            Err(error) => assert_eq!((above, error.reason()), (131, Reason::ClusterBehind)),
        }
    }
    let behind = engine.status().await.behind;
    assert_eq!((behind[0].key.as_str(), behind[0].above, behind[0].permitted), ("few", u64::MAX, 110));
    engine.shutdown().await;
}
