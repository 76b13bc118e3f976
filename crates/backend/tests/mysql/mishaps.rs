//! What happens to servers while they are used: killed, suspended, cut off, their tables taken away or replaced.

use std::{sync::Arc, time::Duration};

use sequent_backend::mysql::MysqlStore;
use sequent_core::{ErrorKind, Store};
use sequent_testkit::{
    Oracle,
    proxy::{Mode, Proxy},
};
use tokio::{task::JoinSet, time::timeout};

use crate::support::{CODES, Hand, ROWS, Site, WAYS, failed};

/// How many tasks take at once.
const TAKERS: usize = 8;
/// How often the server is killed under them.
const KILLS: u64 = 5;
/// How many blocks they take between two kills, at least.
const BLOCKS: u64 = 60;

#[tokio::test]
async fn a_server_killed_amid_takes_never_gives_a_number_twice() {
    let site = Site::new(CODES).await;
    for (name, make) in WAYS {
        let (store, oracle) = (Arc::new(make(site.options())), Arc::new(Oracle::new()));
        let mut hand =
            Hand { under: store.inspect().await.unwrap().incarnation, store: make(site.options()) };
        hand.begin(name, 1, 0).await.unwrap();
        for turn in 1..=KILLS {
            let (mut tasks, before) = (JoinSet::new(), oracle.count());
            for _ in 0..TAKERS {
                let (hand, oracle) =
                    (Hand { store: make(site.options()), under: hand.under.clone() }, oracle.clone());
                tasks.spawn(async move {
                    loop {
                        match hand.take(name, 1, 3).await {
                            Ok(block) => oracle.add_block(block, name).unwrap(),
                            Err(error) => return error.kind(),
                        }
                    }
                });
            }
            while oracle.count() < before + 3 * BLOCKS {
                tokio::task::yield_now().await;
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            site.server.kill().await;
            while let Some(kind) = tasks.join_next().await {
                assert_eq!(kind.unwrap(), ErrorKind::Unavailable, "{name}");
            }
            site.server.restart().await;
            let now = hand.store.inspect().await.unwrap().incarnation;
            failed(hand.take(name, 1, 1).await, ErrorKind::Reborn, &["sequent", "127.0.0.1"]);
            hand.under = now;
            // The life goes on, as with a guard whose row was joined: what was acknowledged is there.
            let first = hand.take(name, 1, 1).await.unwrap();
            oracle.add_block(first, name).unwrap();
            assert!(first.first() > oracle.count() - 1, "{name}: {first} after kill {turn}");
        }
        println!("{name}: {} numbers over {KILLS} kills", oracle.count());
        assert!(hand.close(name, 2).await.unwrap() >= oracle.highest().unwrap());
    }
}

#[tokio::test]
async fn a_suspended_server_keeps_no_reply_for_the_next_caller() {
    let site = Site::new(CODES).await;
    for (name, make) in WAYS {
        let hand = Hand::of(make(site.options())).await.unwrap();
        for (key, base) in [("low", 0), ("high", 1_000_000)] {
            hand.begin(&format!("{name}-{key}"), 1, base).await.unwrap();
        }
        let (low, high) = (format!("{name}-low"), format!("{name}-high"));
        let oracle = Oracle::new();
        for _ in 0..3 {
            oracle.add_block(hand.take(&low, 1, 2).await.unwrap(), "low").unwrap();
            site.server.suspend().await;
            // Cut short on a connection that was used just now, and on one that can't be opened.
            for _ in 0..2 {
                assert!(timeout(Duration::from_millis(100), hand.take(&low, 1, 5)).await.is_err());
            }
            site.server.resume().await;
            let block = hand.take(&high, 1, 3).await.unwrap();
            assert!(block.first() > 1_000_000 && block.count() == 3, "{name}: {block} is another's answer");
            oracle.add_block(block, "high").unwrap();
            let block = hand.take(&low, 1, 4).await.unwrap();
            assert!(block.last() < 1_000_000 && block.count() == 4, "{name}: {block} is another's answer");
            oracle.add_block(block, "low").unwrap();
        }
    }
}

#[tokio::test]
async fn a_line_cut_off_amid_a_reply_costs_its_connection_alone() {
    let site = Site::new(ROWS).await;
    let proxy = Proxy::to(site.server.address()).await;
    let mut options = site.options();
    options.port = proxy.port();
    let hand = Hand::of(MysqlStore::row(options)).await.unwrap();
    hand.begin("order", 1, 0).await.unwrap();
    let oracle = Oracle::new();
    for mode in [Mode::Reset, Mode::Refuse] {
        oracle.add_block(hand.take("order", 1, 2).await.unwrap(), "before").unwrap();
        proxy.set(mode).await;
        failed(hand.take("order", 1, 2).await, ErrorKind::Unavailable, &["mysql://shop@127.0.0.1"]);
        failed(hand.take("order", 1, 2).await, ErrorKind::Unavailable, &[]);
        proxy.set(Mode::default()).await;
        oracle.add_block(hand.take("order", 1, 2).await.unwrap(), "after").unwrap();
    }
}

#[tokio::test]
async fn a_table_taken_away_under_a_process_is_not_made_anew() {
    let site = Site::new(ROWS).await;
    let hand = Hand::of(MysqlStore::row(site.options())).await.unwrap();
    hand.begin("order", 1, 0).await.unwrap();
    // When tables were made is known to the second.
    site.server.sql("DO SLEEP(1.01); DROP TABLE sequent_cells").await;
    failed(hand.take("order", 1, 1).await, ErrorKind::Refused, &["sequent_cells"]);
    for _ in 0..2 {
        failed(hand.store.inspect().await, ErrorKind::Refused, &["sequent_cells"]);
    }
    assert_eq!(site.server.sql("SHOW TABLES LIKE 'sequent_cells'").await.trim(), "");
    // Another process may; what speaks then is another.
    let other = Hand::of(MysqlStore::row(site.options())).await.unwrap();
    assert_eq!(other.close("order", 2).await.unwrap(), 0);
    assert_ne!(other.under, hand.under);
    hand.store.inspect().await.unwrap();
    failed(hand.take("order", 1, 1).await, ErrorKind::Reborn, &[]);
}

#[tokio::test]
async fn a_server_restored_from_an_old_copy_of_its_files_speaks_as_another() {
    let site = Site::new(CODES).await;
    for (name, make) in WAYS {
        let before = Hand::of(make(site.options())).await.unwrap();
        before.begin(name, 1, 0).await.unwrap();
        before.take(name, 1, 50).await.unwrap();
        let copy = site.server.copy().await;
        let now = Hand::of(make(site.options())).await.unwrap();
        now.take(name, 1, 50).await.unwrap();
        now.store.mark(&now.under, 9).await.unwrap();
        site.server.restore_from(&copy).await;
        for _ in 0..2 {
            let kind = now.take(name, 1, 1).await.unwrap_err().kind();
            assert!(matches!(kind, ErrorKind::Unavailable | ErrorKind::Reborn), "{name}: {kind}");
        }
        let restored = Hand::of(make(site.options())).await.unwrap();
        assert!(restored.under != now.under && restored.under != before.under);
        assert_eq!(restored.store.mark(&restored.under, 0).await.unwrap(), 0, "{name}: the copy's mark");
        // As the guard has it: what the ledger's ceiling covers is left out.
        assert_eq!(restored.begin(name, 2, 100).await.unwrap(), 50, "{name}: the copy's value");
        assert_eq!(restored.take(name, 2, 1).await.unwrap().first(), 101, "{name}");
    }
}

#[tokio::test]
async fn a_dump_loaded_under_a_process_is_seen_at_the_next_look() {
    let site = Site::new(ROWS).await;
    let hand = Hand::of(MysqlStore::row(site.options())).await.unwrap();
    hand.begin("order", 1, 0).await.unwrap();
    hand.take("order", 1, 5).await.unwrap();
    site.dump().await;
    hand.take("order", 1, 5).await.unwrap();
    site.reload().await;
    let now = hand.store.inspect().await.unwrap().incarnation;
    assert_ne!(now, hand.under, "the connection is the same, the tables are not");
    failed(hand.take("order", 1, 1).await, ErrorKind::Reborn, &[]);
    let hand = Hand { under: now, ..hand };
    assert_eq!(hand.close("order", 2).await.unwrap(), 5);
}

#[tokio::test]
async fn a_row_locked_by_somebody_else_is_said_to_be_contended() {
    let site = Site::new(ROWS).await;
    for (name, make) in &WAYS[..2] {
        let hand = Hand::of(make(site.options())).await.unwrap();
        hand.begin(name, 1, 0).await.unwrap();
        let sql = "START TRANSACTION; UPDATE sequent_cells SET v = v + 1; DO SLEEP(2); ROLLBACK";
        let held = async {
            // Until the row is locked, which a look at it without waiting shows.
            let look = "SELECT v FROM sequent_cells FOR UPDATE NOWAIT";
            while site.server.try_sql(look).await.is_ok() {}
            let refusal = hand.take(name, 1, 1).await;
            failed(refusal, ErrorKind::Contended, &["1205"]);
        };
        tokio::join!(site.server.sql(sql), held);
        assert_eq!(hand.take(name, 1, 1).await.unwrap().first(), 1, "{name}");
    }
}
