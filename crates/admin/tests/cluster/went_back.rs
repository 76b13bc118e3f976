//! A ledger that went back, or is another cluster's, and what comes back after a recovery.

use std::{fs, time::Duration};

use sequent_admin::Admin;
use sequent_core::ledger::Loss;
use sequent_engine::{Engine, Options, Reason};

use super::{Place, once, take};

/// The ledger as it was at `copy`, put in the place of the newer one under whoever uses it.
fn put_back(place: &Place, copy: &str) {
    for end in ["", "-wal", "-shm"] {
        drop(fs::remove_file(place.file(&format!("ledger.db{end}"))));
    }
    fs::rename(place.file(copy), place.file("ledger.db")).unwrap();
}

async fn recover(place: &Place, ids: u64) {
    let admin = Admin::open(&place.config(), &once()).await.unwrap();
    admin.recover(Loss::Bump(ids)).await.unwrap();
    admin.close().await;
}

/// Waits until `done`, as long as a heartbeat may take on a busy machine.
async fn wait_until(what: &str, done: impl AsyncFn() -> bool) {
    for _ in 0..400 {
        if done().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("not within twenty seconds: {what}");
}

#[tokio::test]
async fn what_is_ready_is_thrown_away_when_the_ledger_went_back() {
    let place = Place::new();
    place.take("order", 20).await;
    fs::copy(place.file("ledger.db"), place.file("older")).unwrap();
    let engine = Engine::open(place.config(), Options::default()).await.unwrap();
    let keyed = engine.reservoir(&"order".parse().unwrap()).await.unwrap();
    let mut given = Vec::new();
    for _ in 0..4 {
        given.extend(take(&engine, "order", 10_000).await.unwrap());
    }
    let ready = || keyed.reservoir().stats().reserve;
    wait_until("something is ready", async || ready() > 0).await;
    put_back(&place, "older");
    wait_until("it is noticed", async || engine.status().await.trouble.is_some() && ready() == 0).await;
    assert!(keyed.reservoir().stats().discarded > 0 && keyed.try_next().is_none());
    let error = take(&engine, "order", 1).await.unwrap_err();
    assert_eq!(error.reason(), Reason::RecoveryRequired, "{error}");
    // What was ready and burnt counts, too: its cells prove it.
    recover(&place, 10_000_000).await;
    wait_until("it serves again", async || take(&engine, "order", 1).await.is_ok()).await;
    let again = take(&engine, "order", 10_000).await.unwrap();
    assert!(again.iter().min() > given.iter().max(), "all above what was given");
    engine.shutdown().await;
}

#[tokio::test]
async fn a_definition_that_the_ledger_lost_comes_back_from_whoever_uses_it() {
    let mut place = Place::new();
    place.take("other", 1).await;
    fs::copy(place.file("ledger.db"), place.file("older")).unwrap();
    place.say("auto_create = [\"*\"]\n[[sequence]]\nname = \"order\"\nstart = 1000\nstep = 10\n");
    let engine = Engine::open(place.config(), Options::default()).await.unwrap();
    assert_eq!(take(&engine, "order", 1).await.unwrap(), [1000]);
    put_back(&place, "older");
    wait_until("it is noticed", async || engine.status().await.trouble.is_some()).await;
    assert!(
        engine.cluster().show(&"order".parse().unwrap()).await.is_err(),
        "nothing is written before `recover`"
    );
    recover(&place, 100_000).await;
    let shown = async || engine.cluster().show(&"order".parse().unwrap()).await;
    wait_until("it is written again", async || shown().await.is_ok()).await;
    let summary = shown().await.unwrap().summary;
    assert_eq!((summary.start, summary.step, summary.version), (1000, 10, 1));
    engine.shutdown().await;
}

#[tokio::test]
async fn a_start_beside_a_ledger_that_went_back_defines_nothing_before_recover() {
    let mut place = Place::new();
    place.take("other", 1).await;
    fs::copy(place.file("ledger.db"), place.file("older")).unwrap();
    place.take("other", 10).await;
    put_back(&place, "older");
    place.say("auto_create = [\"*\"]\n[[sequence]]\nname = \"order\"\nstart = 1000\nstep = 10\n");
    let engine = Engine::open(place.config(), Options::default()).await.unwrap();
    let error = take(&engine, "order", 1).await.unwrap_err();
    assert_eq!(error.reason(), Reason::RecoveryRequired, "{error}");
    assert_eq!(engine.reload(&place.config()).await.unwrap_err().exit_code(), 3);
    let listed = async || engine.cluster().list().await.unwrap().len();
    assert_eq!(listed().await, 1, "the copy may have to be replaced");
    recover(&place, 100_000).await;
    wait_until("it is defined", async || listed().await == 2).await;
    let numbers = take(&engine, "order", 2).await.unwrap();
    assert!(numbers[0] > 1000 && numbers[0] % 10 == 0 && numbers[1] == numbers[0] + 10, "{numbers:?}");
    engine.shutdown().await;
}

#[tokio::test]
async fn an_older_ledger_gives_no_dense_number_before_recovery() {
    let place = Place::with("[[sequence]]\nname = \"invoice\"\nplacement = \"dense\"\n");
    assert_eq!(place.take("invoice", 5).await, [1, 2, 3, 4, 5]);
    fs::copy(place.file("ledger.db"), place.file("older")).unwrap();
    assert_eq!(place.take("invoice", 5).await, [6, 7, 8, 9, 10]);
    fs::rename(place.file("older"), place.file("ledger.db")).unwrap();
    let engine = place.open().await.unwrap();
    assert_eq!(take(&engine, "invoice", 1).await.unwrap_err().reason(), Reason::RecoveryRequired);
    engine.shutdown().await;
    let admin = Admin::open(&place.config(), &Options::default()).await.unwrap();
    admin.recover(Loss::Bump(100)).await.unwrap();
    admin.close().await;
    assert_eq!(place.take("invoice", 2).await, [106, 107]);
}

#[tokio::test]
async fn a_ledger_of_another_cluster_is_refused_and_no_recovery_takes_it_up() {
    let (place, other) = (Place::new(), Place::new());
    place.take("order", 5).await;
    other.take("order", 5).await;
    fs::rename(place.file("ledger.db"), place.file("own")).unwrap();
    fs::rename(other.file("ledger.db"), place.file("ledger.db")).unwrap();
    let error = place.refused_after_a_look().await;
    assert!(error.contains("another ledger") && error.contains("expected"), "{error}");
    let admin = Admin::open(&place.config(), &once()).await.unwrap();
    let refused = admin.recover(Loss::Moved).await.unwrap_err().to_string();
    assert!(refused.contains("another ledger"), "{refused}");
    let trouble = format!("{:?}", admin.cluster().trouble().await.unwrap());
    assert!(trouble.contains("another ledger"), "{trouble}");
    admin.close().await;
    fs::rename(place.file("own"), place.file("ledger.db")).unwrap();
    assert_eq!(place.take("order", 5).await, [6, 7, 8, 9, 10]);
}
