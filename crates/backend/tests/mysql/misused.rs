//! What people do to a database: count in it in two ways, set a value below zero, change a setting while it runs.

use std::{sync::Arc, time::Duration};

use sequent_core::{Cell, DurabilityClass, Epoch, ErrorKind, InstanceId, Key, Store};
use tokio::task::JoinSet;

use crate::support::{CODES, Site, auto_increment, row, segment};

/// Takes of several rows, and lifts beside them.
const TAKES: usize = 400;
const ROWS: u64 = 64;
const LIFT_EVERY: Duration = Duration::from_millis(2);

fn key() -> Key {
    Key::from_stored("order")
}

async fn begin(store: &Arc<dyn Store>, epoch: Epoch) -> InstanceId {
    let under = store.inspect().await.unwrap().instance;
    let key = key();
    let cell = Cell { key: &key, under: &under };
    store.close(cell, epoch).await.unwrap();
    store.install(cell, epoch, 0).await.unwrap();
    under
}

#[tokio::test]
async fn a_database_that_is_counted_in_otherwise_is_refused() {
    let site = Site::new(CODES).await;
    let (rows, codes) = (row(site.options()), auto_increment(site.options()));
    rows.inspect().await.unwrap();
    let error = codes.inspect().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
    let told = error.to_string();
    assert!(told.contains("counts in rows") && told.contains("in tables with AUTO_INCREMENT"), "{told}");
    segment(site.options()).inspect().await.expect("both count in the same rows");

    let other = Site::new(CODES).await;
    auto_increment(other.options()).inspect().await.unwrap();
    for store in [row(other.options()), segment(other.options())] {
        assert_eq!(store.inspect().await.unwrap_err().kind(), ErrorKind::Refused);
    }
}

#[tokio::test]
async fn a_lift_between_the_ids_of_a_take_is_not_the_end_of_its_range() {
    let site = Site::new(CODES).await;
    let store = Arc::new(auto_increment(site.options()));
    let epoch = Epoch::from_stored(7);
    let under = Arc::new(begin(&store, epoch).await);
    let mut tasks = JoinSet::new();
    for _ in 0..2 {
        let (store, under) = (Arc::clone(&store), Arc::clone(&under));
        tasks.spawn(async move {
            for _ in 0..TAKES {
                let key = key();
                if let Err(error) = store.take(Cell { key: &key, under: &under }, epoch, ROWS).await {
                    // On a busy machine lifts may come in between again and again: that is no end either.
                    assert_eq!(error.kind(), ErrorKind::Contended, "{error}");
                }
            }
        });
    }
    let lifts = tokio::spawn(async move {
        loop {
            let key = key();
            let cell = Cell { key: &key, under: &under };
            let at = store.lift(cell, epoch, 0).await.unwrap();
            store.lift(cell, epoch, at + ROWS / 2).await.unwrap();
            tokio::time::sleep(LIFT_EVERY).await;
        }
    });
    tasks.join_all().await;
    lifts.abort();
}

#[tokio::test]
async fn a_value_below_zero_concerns_its_counter_alone() {
    let site = Site::new(CODES).await;
    for store in [row(site.options()), segment(site.options())] {
        goes_on_from_below_zero(&site, &store).await;
    }
    let other = Site::new(CODES).await;
    goes_on_from_below_zero(&other, &auto_increment(other.options())).await;
}

async fn goes_on_from_below_zero(site: &Site, store: &Arc<dyn Store>) {
    let (epoch, next) = (Epoch::from_stored(7), Epoch::from_stored(8));
    let under = begin(store, epoch).await;
    let key = key();
    let cell = Cell { key: &key, under: &under };
    site.server.sql("UPDATE sequent.sequent_cells SET v = -5").await;
    // Whatever a take says, it is said of the counter; the next epoch begins above what the ledger knows.
    if let Err(error) = store.take(cell, epoch, 1).await {
        assert_eq!(error.kind(), ErrorKind::Regressed, "{error}");
    }
    site.server.sql("UPDATE sequent.sequent_cells SET v = -5").await;
    store.close(cell, next).await.unwrap();
    store.install(cell, next, 100).await.unwrap();
    assert_eq!(store.take(cell, next, 2).await.unwrap().first(), 101);
}

#[tokio::test]
async fn durability_is_what_it_is_now() {
    let site = Site::new(CODES).await;
    let store = row(site.options());
    assert_eq!(store.inspect().await.unwrap().durability.class, DurabilityClass::Durable);
    site.server.sql("SET GLOBAL innodb_flush_log_at_trx_commit = 0").await;
    assert_eq!(store.inspect().await.unwrap().durability.class, DurabilityClass::Lossy);
}
