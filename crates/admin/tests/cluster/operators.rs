//! What an operator sees and says.

use std::{fs, time::Duration};

use sequent_admin::{Admin, Saying, SpreadOrigin};
use sequent_backend::sqlite::{SqliteOptions, SqliteStore};
use sequent_core::{Cell, Epoch, Event, Key, SequenceName, SlotIndex, Store, ledger::SlotVerb};
use sequent_engine::{Engine, NextRequest, Options, Reason, report::ShardReport};
use sequent_testkit::Oracle;

use super::{Place, take};

fn saying(slot: SlotIndex, verb: SlotVerb) -> Saying {
    Saying { slot, verb, who: "ann".to_owned(), why: "a new disk".to_owned(), until_ms: None }
}

fn states(shards: &[ShardReport]) -> Vec<&str> {
    shards.iter().map(|shard| shard.state.as_str()).collect()
}

/// Waits until an engine has obeyed a word; a test that would wait for ever fails instead.
async fn obeyed(engine: &Engine, verb: &str) {
    let heard = async {
        while !engine
            .recent()
            .iter()
            .any(|recent| matches!(&recent.event, Event::SlotCommandDone { verb: v, .. } if *v == verb))
        {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    // Two seconds are the promise; the rest is for a busy machine.
    tokio::time::timeout(Duration::from_secs(10), heard).await.unwrap();
}

#[tokio::test]
async fn a_word_reaches_every_engine_and_outlives_them() {
    let place = Place::new();
    let (one, other) = (place.open().await.unwrap(), place.open().await.unwrap());
    take(&other, "order", 4).await.unwrap();
    let said = Admin::of(&one).say(&saying(2, SlotVerb::Evict)).await.unwrap();
    assert_eq!((said.verb, said.who.as_str()), ("evict", "ann"));
    obeyed(&other, "evict").await;
    let status = other.status().await;
    assert_eq!(states(&status.shards), ["live", "live", "evicted", "live"]);
    assert_eq!(status.shards[2].word.as_ref().unwrap().why, "a new disk");
    let third = place.open().await.unwrap();
    assert_eq!(third.status().await.shards[2].state, "evicted", "words hold from the first moment");
    let numbers = take(&third, "order", 30).await.unwrap();
    let explain = async |number| {
        Admin::of(&third)
            .explain(&"order".parse().unwrap(), number)
            .await
            .unwrap()
            .origin
            .spread()
            .unwrap()
            .slot
    };
    for number in numbers {
        assert_ne!(explain(number).await, 2);
    }
    Admin::of(&one).say(&saying(2, SlotVerb::Rescue)).await.unwrap();
    obeyed(&other, "rescue").await;
    for engine in [one, other, third] {
        engine.shutdown().await;
    }
}

#[tokio::test]
async fn a_word_about_no_slot_is_a_bad_argument() {
    let place = Place::new();
    let engine = place.open().await.unwrap();
    let error = Admin::of(&engine).say(&saying(4, SlotVerb::Evict)).await.unwrap_err();
    assert_eq!(
        (error.reason(), error.to_string().as_str()),
        (Reason::InvalidArgument, "slot is 4: 0 to 3 are allowed")
    );
    engine.shutdown().await;
}

#[tokio::test]
async fn a_number_is_explained() {
    let place = Place::new();
    let engine = place.open().await.unwrap();
    take(&engine, "order", 6).await.unwrap();
    engine.shutdown().await;
    let admin = Admin::open(&place.config(), &Options::default()).await.unwrap();
    let name: SequenceName = "order".parse().unwrap();
    let explained = admin.explain(&name, 6).await.unwrap();
    let SpreadOrigin { encoded, slot, raw, low, epoch } = explained.origin.spread().unwrap().clone();
    assert_eq!((encoded, slot, raw, low), (9, 1, 2, 0));
    let epoch = epoch.unwrap();
    assert!(epoch.in_force && epoch.seen == Some(true), "{}", explained.verdict);
    let shown = admin.cluster().show(&name).await.unwrap();
    let counter = shown.counters.iter().find(|counter| counter.slot == 1).unwrap();
    assert_eq!((counter.epoch.as_str(), counter.seen), (epoch.epoch.as_str(), 2));
    assert_eq!(shown.definition, r#"{"placement":"spread","start":1,"step":1,"fits":"js"}"#);
    let beyond = admin.explain(&name, 1 << 40).await.unwrap();
    assert!(
        beyond.origin.spread().unwrap().epoch.is_none() && beyond.verdict.contains("not given"),
        "{}",
        beyond.verdict
    );
    let error = admin.explain(&name, 1 << 60).await.unwrap_err();
    assert_eq!(error.reason(), Reason::InvalidArgument, "{error}");
    let error = admin.explain(&"nothing".parse().unwrap(), 1).await.unwrap_err();
    assert_eq!(error.reason(), Reason::SequenceNotFound);
    admin.close().await;
}

#[tokio::test]
async fn each_slot_is_looked_into_by_itself() {
    let place = Place::new();
    place.take("order", 4).await;
    fs::remove_file(place.file("shard-1.db")).unwrap();
    fs::create_dir(place.file("shard-1.db")).unwrap();
    fs::copy(place.file("shard-0.db"), place.file("shard-3.db")).unwrap();
    let admin = Admin::open(&place.config(), &Options::default()).await.unwrap();
    let shards = admin.cluster().shards().await;
    assert_eq!(states(&shards), ["open", "unreachable", "open", "refused"]);
    let cause = |slot: usize| shards[slot].cause.as_ref().unwrap();
    assert!(cause(1).kind == "unavailable" && cause(1).detail.contains("directory"), "{:?}", cause(1));
    assert!(cause(3).detail.contains("slot=0") && cause(3).detail.contains("slot=3"), "{:?}", cause(3));
    assert_eq!(shards[0].found.as_ref().unwrap().durability, "durable");
    admin.close().await;
}

#[tokio::test]
async fn a_slot_that_cannot_be_reached_starts_evicted_and_costs_nothing() {
    let place = Place::new();
    place.take("order", 4).await;
    fs::rename(place.file("shard-1.db"), place.file("aside.db")).unwrap();
    fs::create_dir(place.file("shard-1.db")).unwrap();
    let engine = place.open().await.unwrap();
    let numbers = take(&engine, "order", 9).await.unwrap();
    assert_eq!(numbers.len(), 9);
    let status = engine.status().await;
    assert_eq!(states(&status.shards), ["live", "evicted", "live", "live"]);
    assert!(status.shards[1].cause.as_ref().unwrap().detail.contains("directory"));
    engine.shutdown().await;
}

#[tokio::test]
async fn a_higher_version_reaches_every_engine() {
    let mut place = Place::with("[[sequence]]\nname = \"a\"\n");
    let standing = Engine::open(place.config(), Options::default()).await.unwrap();
    let oracle = Oracle::new();
    let version = async || {
        let issued = standing.next(&NextRequest::new("a").unwrap()).await.unwrap();
        oracle.add_blocks(&issued.numbers, "a").unwrap();
        issued.version
    };
    assert_eq!(version().await, 1);
    place.say("[[sequence]]\nname = \"a\"\nversion = 2\nend = 5000000\n");
    place.take("a", 1).await;
    let heard = async {
        while version().await == 1 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), heard).await.unwrap();
    assert_eq!(version().await, 2);
    standing.shutdown().await;
}

/// Somebody sets a counter far ahead, by hand.
async fn poison(place: &Place, slot: usize, name: &SequenceName, epoch: &str) {
    let file = place.file(&format!("shard-{slot}.db"));
    let store = SqliteStore::new(file, SqliteOptions::default());
    let under = store.inspect().await.unwrap().instance;
    let cell = Cell { key: &Key::of(name), under: &under };
    store.lift(cell, epoch.parse::<Epoch>().unwrap(), 1 << 60).await.unwrap();
    store.disconnect().await;
}

#[tokio::test]
async fn a_counter_in_quarantine_is_shown_with_what_to_do_until_its_slot_is_rescued() {
    let place = Place::new();
    place.take("order", 8).await;
    place.take("order2", 8).await;
    let name: SequenceName = "order".parse().unwrap();
    let admin = Admin::open(&place.config(), &Options::default()).await.unwrap();
    let order = admin.cluster().show(&name).await.unwrap();
    assert_eq!(order.quarantined, []);
    poison(&place, 2, &name, &order.counters[2].epoch).await;
    assert_eq!(place.take("order", 8).await.len(), 8, "the other slots serve");

    let quarantined = admin.cluster().show(&name).await.unwrap().quarantined;
    let [found] = &quarantined[..] else { panic!("{quarantined:?}") };
    assert_eq!((found.slot, found.key.as_str(), found.kind.as_str()), (2, "order", "jumped"));
    assert!(found.detail.contains(&format!("raw id {} is a jump: at most", (1_u64 << 60) + 1)), "{found:?}");
    assert!(found.advice.contains("sequent rescue 2"), "{found:?}");
    let shards = admin.cluster().shards().await;
    assert_eq!(shards[2].quarantined, quarantined);
    assert!([0, 1, 3].iter().all(|slot| shards[*slot].quarantined.is_empty()), "{shards:?}");
    assert_eq!(admin.cluster().show(&"order2".parse().unwrap()).await.unwrap().quarantined, []);

    admin.say(&saying(2, SlotVerb::Rescue)).await.unwrap();
    assert_eq!(admin.cluster().show(&name).await.unwrap().quarantined, []);
    place.take("order", 8).await;
    assert_eq!(admin.cluster().show(&name).await.unwrap().quarantined.len(), 1, "nobody has set it right");
    admin.close().await;
}
