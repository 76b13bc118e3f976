//! Tables of an old program in rings of another shape, and tables of another shape under examination.

use std::sync::Arc;

use sequent_backend::{
    mysql::MysqlAutoIncrementStore,
    net::{ServerOptions, SlotTables},
};
use sequent_core::{ErrorKind, Key, Sight, SlotIndex};

use crate::support::{CODES, Hand, Site, failed};

/// Adopting, in a ring of so many slots, of which these have their tables here.
fn in_ring(options: ServerOptions, slots: SlotIndex, together: &[SlotIndex]) -> ServerOptions {
    let slot_tables = Some(SlotTables { slots, together: together.to_vec() });
    let mut options = ServerOptions { slot_tables, ..options };
    options.code_tables.adopt = true;
    options
}

async fn hand(options: &ServerOptions, slot: SlotIndex) -> Hand {
    Hand::of(Arc::new(MysqlAutoIncrementStore::new(options.clone(), slot))).await.unwrap()
}

/// In a ring of another shape, a number of the old program would come of another id, and both would give it.
#[tokio::test]
async fn a_ring_with_more_or_fewer_slots_than_the_old_program_has_tables_counts_in_none() {
    let site = Site::new(CODES).await;
    let tables = "CREATE TABLE sto_code_0 (id bigint PRIMARY KEY AUTO_INCREMENT, generate_time timestamp) AUTO_INCREMENT = 5000; \
        CREATE TABLE sto_code_1 LIKE sto_code_0; CREATE TABLE sto_code_10x LIKE sto_code_0; \
        INSERT INTO sto_code_0 (generate_time) VALUES (now())";
    site.server.sql(tables).await;
    let one = hand(&in_ring(site.options(), 1, &[0]), 0).await;
    failed(
        one.begin("sto", 1, 0).await,
        ErrorKind::Unfit,
        &["index 1", "the ring has 1 slots", "shard_bits"],
    );
    let four = in_ring(site.options(), 4, &[0, 1, 2, 3]);
    for slot in 0..4 {
        let slot = hand(&four, slot).await;
        failed(slot.begin("sto", 1, 0).await, ErrorKind::Unfit, &["slot 2 is missing", "another program's"]);
    }
    let tables = site.server.sql("SHOW TABLES LIKE 'sto%'").await;
    let tables: Vec<&str> = tables.split_whitespace().collect();
    assert_eq!(tables, ["sto_code_0", "sto_code_1", "sto_code_10x"], "none is made beside them");
    // Sequences of its own are made as ever, and the old program's count in a ring of its shape.
    hand(&four, 3).await.begin("order", 1, 0).await.unwrap();
    let two = in_ring(site.options(), 2, &[0, 1]);
    for (slot, epoch) in [(0, 2), (1, 3)] {
        let slot = hand(&two, slot).await;
        slot.begin("sto", epoch, 0).await.unwrap();
        slot.take("sto", epoch, 1).await.unwrap();
    }
    // A table that its slot has lost is no matter of the others.
    site.server.sql("DROP TABLE sto_code_1").await;
    hand(&two, 0).await.begin("sto", 4, 0).await.unwrap();
    let one = hand(&two, 1).await;
    failed(one.begin("sto", 5, 0).await, ErrorKind::Unfit, &["slot 1 is missing"]);
}

/// An examination tells a table of another shape by its counter, and reads the others.
#[tokio::test]
async fn a_table_of_another_shape_is_examined_as_its_counters_fault() {
    let site = Site::new(CODES).await;
    let tables = "CREATE TABLE worse_code_0 (id varchar(9) PRIMARY KEY, generate_time datetime); \
        CREATE TABLE bare_code_0 (nr bigint PRIMARY KEY)";
    site.server.sql(tables).await;
    let hand = hand(&site.options(), 0).await;
    for key in ["worse", "bare"] {
        failed(hand.begin(key, 1, 0).await, ErrorKind::Unfit, &["another program made it"]);
    }
    hand.begin("order", 1, 0).await.unwrap();
    hand.take("order", 1, 7).await.unwrap();
    site.server.sql("INSERT INTO worse_code_0 VALUES ('x', now())").await;
    let examiner = hand.store.examiner().unwrap();
    let keys = ["bare", "order", "worse"].map(Key::from_stored);
    let found = examiner.examine(&keys).await.unwrap().cells;
    for (sight, name) in [(&found[0], "bare_code_0"), (&found[2], "worse_code_0")] {
        assert!(
            matches!(sight, Sight::Odd(why) if why.contains(name) && why.contains("can't count")),
            "{sight:?}"
        );
    }
    assert!(matches!(found[1], Sight::Held { value: 7, open: true, .. }), "{found:?}");
    let page = examiner.cells(None).await.unwrap();
    assert_eq!(page.cells, [(keys[0].clone(), 0), (keys[1].clone(), 7), (keys[2].clone(), 0)]);
}
