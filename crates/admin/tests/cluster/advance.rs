//! Keys moved forward for an import.

use std::time::Duration;

use sequent_admin::advance;
use sequent_core::{Clock, Event, SystemClock};
use sequent_engine::{Engine, NextRequest, Options, Reason};
use sequent_testkit::Oracle;

use super::{Place, take};

fn order() -> NextRequest {
    NextRequest::new("order").unwrap()
}

#[tokio::test]
async fn a_running_server_gives_nothing_of_before_once_it_has_heard() {
    let place = Place::new();
    let (server, oracle) = (Engine::open(place.config(), Options::default()).await.unwrap(), Oracle::new());
    let next = async || {
        let issued = server.next(&order()).await.unwrap();
        oracle.add_blocks(&issued.numbers, "order").unwrap();
        issued.numbers.highest().unwrap()
    };
    for _ in 0..50 {
        next().await;
    }
    let own = place.open().await.unwrap();
    let done = advance(&own, &order(), 100_000, false).await.unwrap();
    assert!(done.before >= 50 && done.next == Some(100_001) && !done.already, "{done:?}");
    let heard = async {
        while next().await <= 100_000 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    // Two seconds are the promise; the rest is for a busy machine.
    tokio::time::timeout(Duration::from_secs(15), heard).await.unwrap();
    for _ in 0..500 {
        assert!(next().await > 100_000, "what it held ready is burnt");
    }
    let again = advance(&own, &order(), 100_000, false).await.unwrap();
    assert!(again.already, "{again:?}");
    assert!(server.status().await.shards.iter().all(|shard| shard.state == "live"));
    let regressed = |events: Vec<sequent_engine::Recent>| {
        events
            .iter()
            .any(|recent| matches!(recent.event, Event::Regressed { .. } | Event::Quarantined { .. }))
    };
    assert!(!regressed(server.recent()) && !regressed(own.recent()));
    server.shutdown().await;
    own.shutdown().await;
    assert!(
        place.take("order", 9).await.into_iter().all(|number| number > 100_500),
        "and after all have ended"
    );
}

#[tokio::test]
async fn a_slot_that_is_away_gives_nothing_of_before_when_it_is_back() {
    let place = Place::new();
    place.take("order", 40).await;
    let (file, aside) = (place.file("shard-1.db"), place.file("aside.db"));
    std::fs::rename(&file, &aside).unwrap();
    std::fs::create_dir(&file).unwrap();
    let engine = place.open().await.unwrap();
    advance(&engine, &order(), 1_000_003, false).await.unwrap();
    engine.shutdown().await;
    std::fs::remove_dir(&file).unwrap();
    std::fs::rename(&aside, &file).unwrap();
    let numbers = place.take("order", 40).await;
    assert!(numbers.iter().all(|number| *number > 1_000_003), "{numbers:?}");
    assert!(numbers.iter().any(|number| number % 4 == 2), "slot 1 is back: {numbers:?}");
}

#[tokio::test]
async fn a_slot_that_is_empty_yet_begins_above_it() {
    let part = "cluster = \"x\"\n[ring]\nshard_bits = 1\n[[sequence]]\nname = \"order\"\n";
    let shard = |slot: u8| format!("[[shard]]\nslot = {slot}\nstore = \"sqlite\"\npath = \"s{slot}.db\"\n");
    let mut place = Place::with(&format!("{part}{}", shard(0)));
    place.take("order", 3).await;
    let engine = place.open().await.unwrap();
    advance(&engine, &order(), 5000, false).await.unwrap();
    engine.shutdown().await;
    place.say(&format!("{part}{}{}", shard(0), shard(1)));
    let numbers = place.take("order", 6).await;
    assert_eq!(numbers, [5001, 5002, 5003, 5004, 5005, 5006]);
}

#[tokio::test]
async fn a_dense_sequence_goes_on_with_the_very_next() {
    let part = "[[sequence]]\nname = \"order\"\nplacement = \"dense\"\nstart = 100\nstep = 10\nend = 900\n";
    let place = Place::with(part);
    assert_eq!(place.take("order", 2).await, [100, 110]);
    let engine = place.open().await.unwrap();
    let done = advance(&engine, &order(), 145, false).await.unwrap();
    assert_eq!((done.before, done.next), (110, Some(150)));
    assert_eq!(take(&engine, "order", 1).await.unwrap(), [150]);
    assert!(advance(&engine, &order(), 145, false).await.unwrap().already);
    for (to, jump) in [(130, true), (901, true), (800, false)] {
        let error = advance(&engine, &order(), to, jump).await.unwrap_err();
        assert_eq!(error.reason(), Reason::InvalidArgument, "{error}");
    }
    assert_eq!(advance(&engine, &order(), 900, true).await.unwrap().next, None);
    assert_eq!(take(&engine, "order", 1).await.unwrap_err().reason(), Reason::SequenceExhausted);
    engine.shutdown().await;
}

/// One more key than a listing has, and how many are begun in one write.
const KEYS: usize = 4097;
const TOGETHER: usize = 241;

#[tokio::test]
async fn a_dense_key_behind_thousands_of_others_is_advanced() {
    let part = "[[sequence]]\nname = \"order\"\ntemplate = '@{ctx,area,len=5}-@{seq,w=3,over=error}'\n";
    let place = Place::with(part);
    let engine = place.open().await.unwrap();
    let of = |area: usize| order().with("area", format!("{area:05}"));
    for first in (0..KEYS).step_by(TOGETHER) {
        let mut tasks = tokio::task::JoinSet::new();
        for area in first..(first + TOGETHER).min(KEYS) {
            // No request is hurried on a busy machine.
            let request = of(area).deadline(SystemClock.now() + Duration::from_secs(120));
            let engine = engine.clone();
            tasks.spawn(async move { engine.next(&request).await.map(drop) });
        }
        while let Some(done) = tasks.join_next().await {
            done.unwrap().unwrap();
        }
    }
    let done = advance(&engine, &of(KEYS - 1), 40, true).await.unwrap();
    assert_eq!((done.before, done.next), (1, Some(41)));
    let given = engine.next(&of(KEYS - 1)).await.unwrap().dated.unwrap();
    assert_eq!(given.texts, ["04096-041"]);
    engine.shutdown().await;
}

#[tokio::test]
async fn a_name_that_nobody_has_used_is_refused_unless_it_is_meant() {
    let place = Place::new();
    place.take("order", 3).await;
    let engine = place.open().await.unwrap();
    let oder = NextRequest::new("oder").unwrap();
    let error = advance(&engine, &oder, 5000, false).await.unwrap_err();
    assert_eq!(error.reason(), Reason::SequenceNotFound, "{error}");
    assert!(
        error.to_string().contains("did you mean order?") && error.to_string().contains("--create"),
        "{error}"
    );
    let shown = engine.cluster().show(&oder.name).await.unwrap_err();
    assert_eq!(shown.reason(), Reason::SequenceNotFound, "nothing was defined");
    engine.first_use(&oder.name).await.unwrap();
    assert_eq!(advance(&engine, &oder, 5000, false).await.unwrap().next, Some(5001));
    engine.shutdown().await;
}

#[tokio::test]
async fn the_bound_of_a_jump_that_decides_is_named() {
    let part = "[[sequence]]\nname = \"order\"\n[[sequence]]\nname = \"short\"\nend = 1000000000\n\
        [[sequence]]\nname = \"dense\"\nplacement = \"dense\"\n[[sequence]]\nname = \"few\"\nplacement = \"dense\"\nend = 2000\n";
    let place = Place::with(part);
    let engine = place.open().await.unwrap();
    let refused = async |name: &str, to: u64| {
        let error = advance(&engine, &NextRequest::new(name).unwrap(), to, false).await.unwrap_err();
        assert_eq!(error.reason(), Reason::InvalidArgument, "{error}");
        error.to_string()
    };
    let cap = "more than 68719476736 numbers of one counter)";
    for (name, to, bound) in [
        ("order", 1 << 52, cap),
        ("short", 900_000_000, "more than a thousandth of what is left"),
        ("dense", 1 << 52, cap),
        ("few", 1000, "more than 4 numbers of one counter, as little is left"),
    ] {
        let text = refused(name, to).await;
        assert!(text.contains(bound), "{name}: {text}");
    }
    engine.shutdown().await;
}
