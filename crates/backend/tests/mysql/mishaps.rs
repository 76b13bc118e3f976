//! What happens to servers while they are used: cut off, their tables taken away or
//! replaced. That they are killed and hung is in the suite.

use sequent_core::ErrorKind;
use sequent_testkit::{
    Oracle,
    proxy::{Mode, Proxy},
};

use crate::support::{CODES, Hand, ROWS, Site, WAYS, failed, row};

#[tokio::test]
async fn a_line_cut_off_amid_a_reply_costs_its_connection_alone() {
    let site = Site::new(ROWS).await;
    let proxy = Proxy::to(site.server.address()).await;
    let options = site.options_through(proxy.port());
    let hand = Hand::of(row(options)).await.unwrap();
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
    let hand = Hand::of(row(site.options())).await.unwrap();
    hand.begin("order", 1, 0).await.unwrap();
    // When tables were made is known to the second.
    site.server.sql("DO SLEEP(1.01); DROP TABLE sequent_cells").await;
    failed(hand.take("order", 1, 1).await, ErrorKind::Refused, &["sequent_cells"]);
    for _ in 0..2 {
        failed(hand.store.inspect().await, ErrorKind::Refused, &["sequent_cells"]);
    }
    assert_eq!(site.server.sql("SHOW TABLES LIKE 'sequent_cells'").await.trim(), "");
    // Another process may; what speaks then is another.
    let other = Hand::of(row(site.options())).await.unwrap();
    assert_eq!(other.close("order", 2).await.unwrap(), 0);
    assert_ne!(other.under, hand.under);
    hand.store.inspect().await.unwrap();
    failed(hand.take("order", 1, 1).await, ErrorKind::InstanceChanged, &[]);
}

#[tokio::test]
async fn a_server_restored_from_an_old_copy_of_its_files_speaks_as_another() {
    for (name, make) in WAYS {
        let site = Site::new(CODES).await;
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
            assert!(matches!(kind, ErrorKind::Unavailable | ErrorKind::InstanceChanged), "{name}: {kind}");
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
    let hand = Hand::of(row(site.options())).await.unwrap();
    hand.begin("order", 1, 0).await.unwrap();
    hand.take("order", 1, 5).await.unwrap();
    site.dump().await;
    hand.take("order", 1, 5).await.unwrap();
    site.reload().await;
    let now = hand.store.inspect().await.unwrap().instance;
    assert_ne!(now, hand.under, "the connection is the same, the tables are not");
    failed(hand.take("order", 1, 1).await, ErrorKind::InstanceChanged, &[]);
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
