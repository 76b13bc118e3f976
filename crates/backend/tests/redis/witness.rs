//! The second of the two places that hold a value: whoever sets back the first is told from the verbs by it.

use sequent_core::{ErrorKind, Store, Why};

use crate::support::{Counting, Site, cell_name, epoch, failed, key, witness_name};

/// Lua that puts a copy of the cell `KEYS[1]` in its place once it was counted on: `DUMP` and `RESTORE` of an operator.
const COPY: &str = "redis.call('SET', KEYS[2], redis.call('DUMP', KEYS[1])) return 'kept'";
const PUT_BACK: &str = "return redis.call('RESTORE', KEYS[1], 0, redis.call('GET', KEYS[2]), 'REPLACE')";

#[tokio::test]
async fn a_cell_set_back_whole_gives_nothing_and_a_close_finds_what_was_given() {
    let site = Site::new().await;
    let counting = Counting::begin(site.store(), 1000).await;
    let name = cell_name("order");
    counting.take(5).await.unwrap();
    let epoch = site.server.ask(&["HGET", &name, "epoch"]).await;
    site.server.ask(&["EVAL", COPY, "2", &name, "copy"]).await;
    let mut given = counting.take(95).await.unwrap().last();
    let deeds: &[&[&str]] = &[
        &["HSET", &name, "v", "1005", "w", "1005"],
        &["EVAL", PUT_BACK, "2", &name, "copy"],
        &[
            "EVAL",
            "redis.call('DEL', KEYS[1]) return redis.call('HSET', KEYS[1], unpack(ARGV))",
            "1",
            &name,
            "epoch",
            &epoch,
            "open",
            "1",
            "v",
            "5",
            "w",
            "5",
        ],
    ];
    for deed in deeds {
        site.server.ask(deed).await;
        let refusal = counting.take(1).await;
        assert_eq!(refusal.as_ref().unwrap_err().why(), Some(Why::SetByHand), "{deed:?}");
        failed(refusal, ErrorKind::Regressed, &["order in epoch", "which no verb has left"]);
        assert_eq!(counting.reopen(1, 0).await.unwrap(), given, "{deed:?}");
        given = counting.take(1).await.unwrap().last();
        assert_eq!(given, 1100 + deeds.iter().position(|other| other == deed).unwrap() as u64 + 1);
    }
}

#[tokio::test]
async fn a_cell_without_its_witness_gives_nothing_and_a_witness_without_its_cell_covers_what_was_given() {
    let site = Site::new().await;
    let counting = Counting::begin(site.store(), 1000).await;
    let (cell, witness) = (cell_name("order"), witness_name("order"));
    let given = counting.take(5).await.unwrap().last();
    // As a server that evicts it does: nobody's hand is told of.
    site.server.ask(&["DEL", &witness]).await;
    let refusal = counting.take(1).await;
    assert_eq!(refusal.as_ref().unwrap_err().why(), Some(Why::LostInPart));
    failed(refusal, ErrorKind::Regressed, &["found 1005 in its cell, and no witness"]);
    failed(counting.store.lift(counting.cell(), epoch(1), 2000).await, ErrorKind::Regressed, &["witness"]);
    assert_eq!(counting.reopen(1, 0).await.unwrap(), given);
    site.server.ask(&["DEL", &cell]).await;
    failed(counting.take(1).await, ErrorKind::Regressed, &["found 1005 in its witness, and no cell"]);
    let page = counting.store.examiner().unwrap().cells(None).await.unwrap();
    assert_eq!(page.cells, [(key("order"), given)], "who has no rows is told by the witness");
    assert_eq!(counting.reopen(1, 0).await.unwrap(), given);
    assert_eq!(counting.store.examiner().unwrap().cells(None).await.unwrap().cells, page.cells, "once");
    for deed in [&["SET", &witness, "1"][..], &["HSET", &witness, "v", "x"]] {
        let given = counting.take(1).await.unwrap().last();
        site.server.ask(&["DEL", &witness]).await;
        site.server.ask(deed).await;
        failed(counting.take(1).await, ErrorKind::Regressed, &["order in epoch"]);
        assert_eq!(counting.reopen(1, 0).await.unwrap(), given, "{deed:?}");
    }
    site.server.ask(&["HSET", &witness, "v", "99999"]).await;
    failed(counting.take(1).await, ErrorKind::Regressed, &["order in epoch"]);
    assert_eq!(counting.reopen(1, 0).await.unwrap(), 99999);
}

#[tokio::test]
async fn a_cell_with_other_fields_and_no_witness_is_closed_over_and_covered() {
    let site = Site::new().await;
    let counting = Counting::begin(site.store(), 1000).await;
    let (cell, witness) = (cell_name("order"), witness_name("order"));
    counting.take(5).await.unwrap();
    site.server.ask(&["DEL", &witness]).await;
    site.server.ask(&["HSET", &cell, "v", "1007", "w", "1009"]).await;
    assert_eq!(counting.store.examiner().unwrap().cells(None).await.unwrap().cells, [(key("order"), 1007)]);
    failed(counting.take(1).await, ErrorKind::Regressed, &["witness"]);
    assert_eq!(counting.reopen(1, 0).await.unwrap(), 1007);
    assert_eq!(site.server.ask(&["HEXISTS", &cell, "w"]).await, "0");
    assert_eq!(counting.take(1).await.unwrap().first(), 1008);
}

#[tokio::test]
async fn what_is_removed_leaves_no_witness() {
    let site = Site::new().await;
    let counting = Counting::begin(site.store(), 1000).await;
    assert!(counting.store.remove(counting.cell()).await.unwrap());
    assert!(!counting.store.remove(counting.cell()).await.unwrap());
    assert_eq!(site.server.ask(&["EXISTS", &cell_name("order"), &witness_name("order")]).await, "0");
    assert_eq!(counting.store.close(counting.cell(), epoch(1)).await.unwrap(), 0);
}

#[tokio::test]
async fn a_full_server_refuses_a_close_whole() {
    let site = Site::new().await;
    let counting = Counting::begin(site.store(), 1000).await;
    let given = counting.take(1).await.unwrap().last();
    site.server.ask(&["CONFIG", "SET", "maxmemory", "1"]).await;
    failed(counting.reopen(2, 0).await, ErrorKind::Unavailable, &["memory is full"]);
    site.server.ask(&["CONFIG", "SET", "maxmemory", "0"]).await;
    assert_eq!(counting.take(1).await.unwrap().first(), given + 1, "nothing of it was done");
}
