//! Callers that go away midway: the connection is closed, and what was half done is undone.

use std::{collections::BTreeSet, future::poll_fn, task::Poll, time::Duration};

use sequent_backend::{net::ServerOptions, postgres::PostgresStore};
use sequent_core::{
    Epoch, ErrorKind, Key, Layout, Store,
    ledger::{
        Counter, Identity, LayoutBook, LayoutRecord, Opening, Over, Pass, Rows, ServerId, SlotCommands,
    },
};
use sequent_testkit::cut_short;
use tokio::time::timeout;

use crate::support::{Counting, MAKER, Site, options};

/// More polls than any call needs.
const POLLS_MAX: usize = 400;

/// The server's processes behind our connections.
async fn pids(site: &Site) -> BTreeSet<String> {
    let sql = "SELECT pid FROM pg_stat_activity WHERE application_name = 'sequent'";
    site.server.sql(sql).await.lines().map(str::to_owned).collect()
}

#[tokio::test]
async fn a_verb_dropped_midway_costs_its_connection() {
    let site = Site::new().await;
    let one = ServerOptions { connections_max: 1, ..options(site.url(MAKER)) };
    let counting = Counting::begin(PostgresStore::new(one), 0).await;
    for round in 1..=3 {
        assert_eq!(counting.take(1).await.unwrap().first(), round);
        let before = pids(&site).await;
        assert_eq!(
            before.len(),
            1,
            "round {round}: {}",
            site.server.sql("SELECT pid, application_name, state, query FROM pg_stat_activity").await
        );
        site.server.suspend().await;
        assert!(timeout(Duration::from_millis(50), counting.store.mark(&counting.under, 1)).await.is_err());
        site.server.resume().await;
        // The dropped mark may be left or not.
        assert!(counting.store.mark(&counting.under, 0).await.unwrap() <= 1);
        // The server notices by itself that the client is gone.
        let count = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'sequent'";
        site.until(count, |count| count == "1").await;
        let after = pids(&site).await;
        assert!(after.is_disjoint(&before), "the connection of a dropped verb was used again: {after:?}");
    }
}

#[tokio::test]
async fn a_verb_dropped_while_it_waits_for_a_row_leaves_no_reply_and_no_process() {
    let site = Site::new().await;
    let one = ServerOptions { connections_max: 1, ..options(site.url(MAKER)) };
    let counting = Counting::begin(PostgresStore::new(one), 0).await;
    let holder = site.server.sql("BEGIN; UPDATE sequent_store.cells SET v = v; SELECT pg_sleep(2); COMMIT;");
    let dropped = async {
        let sleeps = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'";
        site.until(sleeps, |count| count != "0").await;
        assert!(timeout(Duration::from_millis(100), counting.take(9)).await.is_err());
        // Another verb on the same pool of one: its own answer, not the take's.
        assert_eq!(counting.store.mark(&counting.under, 77).await.unwrap(), 77);
        let waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
        site.until(waits, |count| count == "0").await;
    };
    tokio::join!(holder, dropped);
    // Made or not, the dropped take's ids are nobody's.
    assert!(matches!(counting.take(1).await.unwrap().first(), 1 | 10));
}

#[tokio::test]
async fn a_ledgers_call_dropped_midway_is_done_whole_or_not_at_all() {
    let site = Site::new().await;
    let ledger = site.ledger();
    let under = ledger.inspect().await.unwrap().instance;
    let layout = Layout::new(2, 0).unwrap();
    ledger.found(&LayoutRecord { cluster: "shop".parse().unwrap(), layout, generation: 1 }).await.unwrap();
    let server = ServerId(7);
    ledger.enlist(&under, server, 0).await.unwrap();
    let counter = Counter { slot: 0, key: Key::from_stored("order") };
    let (mut nonces, mut whole) = (vec![0], 0);
    for polls in 1..POLLS_MAX {
        let next = polls as u64;
        let opening = Opening {
            counter: counter.clone(),
            epoch: Epoch::from_stored(next.cast_signed()),
            over: Over::Any,
            store: under.clone(),
            value: 0,
            beside: 0,
            ahead: 10,
            jump_max: 1 << 40,
        };
        let pass = Pass { under: &under, record: None, server, nonces: &nonces, next, generation: 1 };
        let done = cut_short(polls, ledger.open(pass, std::slice::from_ref(&opening))).await;
        nonces.push(next);
        // On whatever connection comes next.
        ledger.slot_commands().await.unwrap();
        ledger.record(&under, Some(1), &under).await.unwrap();
        let row = ledger.read(&under, std::slice::from_ref(&counter)).await.unwrap().rows.remove(0);
        let (version, ended) =
            (ledger.inspect().await.unwrap().version, ledger.history(&counter).await.unwrap());
        let epochs = ended.len() as u64 + u64::from(row.is_some());
        assert_eq!(version, epochs, "after a drop at poll {polls}: {row:?}, {ended:?}");
        if let Some(done) = done {
            assert_eq!(row.map(|row| row.epoch), Some(opening.epoch));
            done.unwrap();
            whole += 1;
        }
        if whole == 3 {
            return;
        }
    }
    panic!("a call was not ready after {POLLS_MAX} polls");
}

#[tokio::test]
async fn a_caller_that_stalls_in_a_transaction_holds_up_others_for_seconds_only() {
    let site = Site::new().await;
    let (stalled, other) = (site.ledger(), site.ledger());
    let under = stalled.inspect().await.unwrap().instance;
    let layout = Layout::new(2, 0).unwrap();
    stalled.found(&LayoutRecord { cluster: "shop".parse().unwrap(), layout, generation: 1 }).await.unwrap();
    let mut call = stalled.enlist(&under, ServerId(7), 1);
    let holds = "SELECT count(*) FROM pg_stat_activity \
        WHERE state = 'idle in transaction' AND query LIKE '%FOR UPDATE%'";
    let mut polls = 0;
    while site.server.sql(holds).await.trim() == "0" {
        polls += 1;
        assert!(polls < POLLS_MAX, "no call was seen to hold the lock");
        if poll_fn(|context| Poll::Ready(call.as_mut().poll(context))).await.is_ready() {
            // Its answers came faster than it was looked at: another one.
            call = stalled.enlist(&under, ServerId(7), 1);
        }
    }
    let mut refused = 0;
    while let Err(error) = other.enlist(&under, ServerId(8), 1).await {
        assert_eq!(error.kind(), ErrorKind::Contended, "{error}");
        refused += 1;
        assert!(refused < 20, "the lock is held for ever");
    }
    assert!(refused > 0, "nobody held the lock");
    assert_eq!(call.await.unwrap_err().kind(), ErrorKind::Unavailable);
}
