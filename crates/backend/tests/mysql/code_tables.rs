//! Tables that other programs read, made, or still insert into; and those that can't count.

use std::{collections::BTreeSet, sync::Arc};

use sequent_backend::{
    mysql::MysqlAutoIncrementStore,
    net::{CodeTables, KeepRows, ServerOptions},
};
use sequent_core::{Cell, Epoch, ErrorKind, Key, SlotIndex, Store};
use tokio::task::JoinSet;

use crate::support::{CODES, Hand, Site, failed};

/// The table of the seed, on which an old program was at 5000 and deleted its rows but one.
const SEED: &str = "CREATE TABLE sto_code_0 (
    id bigint(20) NOT NULL AUTO_INCREMENT,
    generate_time timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (id)
) ENGINE = InnoDB AUTO_INCREMENT = 5000;
INSERT INTO sto_code_0 (generate_time) VALUES (current_timestamp);";

/// How often an old program inserts in one call, how many calls it makes, and the takes beside it.
const INSERTS: usize = 100;
const CALLS: usize = 8;
const TAKES: u64 = 200;
const WANT: u64 = 16;

fn adopting(options: ServerOptions) -> ServerOptions {
    with(options, |tables| tables.adopt = true)
}

fn with(mut options: ServerOptions, change: impl FnOnce(&mut CodeTables)) -> ServerOptions {
    change(&mut options.code_tables);
    options
}

fn store(options: ServerOptions, slot: SlotIndex) -> Arc<dyn Store> {
    Arc::new(MysqlAutoIncrementStore::new(options, slot))
}

async fn hand(options: ServerOptions) -> Hand {
    Hand::of(store(options, 0)).await.unwrap()
}

/// A number that the server says.
async fn said(site: &Site, sql: &str) -> u64 {
    let said = site.server.sql(sql).await;
    said.trim().parse().unwrap_or_else(|_| panic!("{sql}: {said:?}"))
}

/// The ids of an old program that inserts as the seed does.
async fn old_ids(site: &Site, table: &str) -> Vec<u64> {
    let one =
        format!("INSERT INTO {table} (generate_time) VALUES (current_timestamp); SELECT LAST_INSERT_ID();");
    let said = site.server.sql(&one.repeat(INSERTS)).await;
    said.lines().map(|line| line.trim().parse().unwrap()).collect()
}

#[tokio::test]
async fn a_table_that_is_made_has_the_two_columns_alone() {
    let site = Site::new(CODES).await;
    hand(site.options()).await.begin("order", 1, 0).await.unwrap();
    let columns = "SELECT GROUP_CONCAT(column_name ORDER BY ordinal_position) FROM information_schema.columns \
        WHERE table_schema = 'sequent' AND table_name = 'order_code_0'";
    assert_eq!(site.server.sql(columns).await.trim(), "id,generate_time");
}

#[tokio::test]
async fn a_table_of_the_seed_counts_on_above_what_it_gave_and_keeps_every_row() {
    let site = Site::new(CODES).await;
    site.server.sql(SEED).await;
    // Nobody touches a table of another program unasked; the slot's other keys don't mind.
    let careful = hand(site.options()).await;
    let refusal = careful.begin("sto", 1, 0).await;
    failed(refusal, ErrorKind::Unfit, &["sto_code_0", "another program made it", "adopt_tables = true"]);
    careful.begin("order", 1, 0).await.unwrap();
    assert_eq!(careful.take("order", 1, 2).await.unwrap().last(), 2);

    let hand = hand(adopting(site.options())).await;
    assert_eq!(hand.begin("sto", 1, 0).await.unwrap(), 5000);
    assert_eq!(hand.take("sto", 1, 1).await.unwrap().first(), 5001, "and nothing is left out");
    for _ in 0..20 {
        hand.take("sto", 1, 500).await.unwrap();
    }
    let rows = "SELECT COUNT(*) FROM sto_code_0";
    assert_eq!(said(&site, rows).await, 10_002, "each id has its row");
    let late = "SELECT COUNT(*) FROM sto_code_0 WHERE ABS(TIMESTAMPDIFF(SECOND, generate_time, NOW())) > 60";
    assert_eq!(said(&site, late).await, 0, "with its time");
    // Of an own table the old ones go.
    for _ in 0..20 {
        hand.take("order", 1, 500).await.unwrap();
    }
    assert!(said(&site, "SELECT COUNT(*) FROM order_code_0").await < 3_000);
}

#[tokio::test]
async fn an_old_program_and_two_stores_over_one_table_get_no_id_twice() {
    let site = Arc::new(Site::new(CODES).await);
    site.server.sql(SEED).await;
    let hands = [hand(adopting(site.options())).await, hand(adopting(site.options())).await].map(Arc::new);
    let mut work: JoinSet<Vec<u64>> = JoinSet::new();
    let old = Arc::clone(&site);
    work.spawn(async move {
        let mut ids = Vec::new();
        for _ in 0..CALLS {
            ids.extend(old_ids(&old, "sto_code_0").await);
        }
        ids
    });
    hands[0].begin("sto", 1, 0).await.unwrap();
    for hand in &hands {
        let hand = Arc::clone(hand);
        work.spawn(async move {
            let mut ids = Vec::new();
            for at in 0..TAKES {
                // Single rows and several, prepared and not.
                match hand.take("sto", 1, if at % 3 == 0 { 1 } else { WANT }).await {
                    Ok(block) => ids.extend(block.first()..=block.last()),
                    Err(error) => assert_eq!(error.kind(), ErrorKind::Contended, "{error}"),
                }
            }
            ids
        });
    }
    let (mut all, mut count) = (BTreeSet::new(), 0);
    for ids in work.join_all().await {
        count += ids.len();
        all.extend(ids);
    }
    assert_eq!(all.len(), count, "an id was given twice");
    assert!(count > CALLS * INSERTS && !all.contains(&5000));
    assert_eq!(said(&site, "SELECT COUNT(*) FROM sto_code_0 WHERE id > 5000").await, count as u64);
}

#[tokio::test]
async fn an_epoch_that_ended_inserts_nothing_whatever_the_column_allows() {
    // A server on which NULL becomes the time of a TIMESTAMP column, and a column that allows NULL.
    let site = Site::with(CODES, &[("explicit_defaults_for_timestamp", "0")]).await;
    site.server.sql(SEED).await;
    site.server
        .sql("CREATE TABLE nul_code_0 (id bigint PRIMARY KEY AUTO_INCREMENT, generate_time datetime NULL)")
        .await;
    let hand = hand(adopting(site.options())).await;
    for key in ["sto", "nul"] {
        hand.begin(key, 1, 0).await.unwrap();
        for _ in 0..3 {
            hand.take(key, 1, 4).await.unwrap();
        }
        hand.close(key, 2).await.unwrap();
        let rows = format!("SELECT COUNT(*) FROM {key}_code_0");
        let before = said(&site, &rows).await;
        for want in [1, 4, 4, 100] {
            failed(hand.take(key, 1, want).await, ErrorKind::Regressed, &[key]);
        }
        assert_eq!(said(&site, &rows).await, before);
    }
}

#[tokio::test]
async fn a_table_that_cant_count_is_told_what_to_do_and_its_slot_counts_on() {
    let site = Site::new(CODES).await;
    let key = "id bigint PRIMARY KEY AUTO_INCREMENT";
    let tables = [
        ("notime", key.to_owned(), "ADD generate_time TIMESTAMP"),
        ("flagged", format!("{key}, f tinyint NOT NULL, generate_time datetime"), "column f needs a value"),
        ("short", "id int PRIMARY KEY AUTO_INCREMENT, generate_time datetime".to_owned(), "MODIFY id BIGINT"),
        ("plain", "id bigint PRIMARY KEY, generate_time datetime".to_owned(), "MODIFY id BIGINT"),
        (
            "twice",
            "id bigint AUTO_INCREMENT, site int, generate_time datetime, PRIMARY KEY (id, site)".to_owned(),
            "MODIFY id BIGINT",
        ),
    ];
    let hand = hand(adopting(site.options())).await;
    for (name, columns, advice) in &tables {
        site.server.sql(&format!("CREATE TABLE {name}_code_0 ({columns})")).await;
        failed(hand.begin(name, 1, 0).await, ErrorKind::Unfit, &[&format!("{name}_code_0"), advice]);
    }
    site.server.sql("CREATE VIEW seen_code_0 AS SELECT * FROM flagged_code_0").await;
    failed(hand.begin("seen", 1, 0).await, ErrorKind::Unfit, &["seen_code_0", "expected InnoDB"]);
    // A shape that fits, and a rule that no new row meets.
    let rule = format!("{key}, generate_time datetime, CHECK (generate_time < '2000-01-01')");
    let sql =
        format!("CREATE TABLE checked_code_0 ({rule}); INSERT INTO checked_code_0 VALUES (4, '1999-12-31')");
    site.server.sql(&sql).await;
    assert_eq!(hand.begin("checked", 1, 0).await.unwrap(), 4);
    failed(hand.take("checked", 1, 2).await, ErrorKind::Unfit, &["checked_code_0"]);
    hand.begin("order", 1, 0).await.unwrap();
    assert_eq!(hand.take("order", 1, 2).await.unwrap().last(), 2);
    // Once it is mended, it counts.
    site.server
        .sql("ALTER TABLE notime_code_0 ADD generate_time timestamp NOT NULL DEFAULT current_timestamp")
        .await;
    hand.begin("notime", 2, 0).await.unwrap();
    assert_eq!(hand.take("notime", 2, 3).await.unwrap().last(), 3);
    // A table that is changed under an epoch.
    site.server.sql("ALTER TABLE notime_code_0 DROP generate_time").await;
    for want in [1, 3] {
        failed(hand.take("notime", 2, want).await, ErrorKind::Unfit, &["notime_code_0", "1054"]);
    }
    assert_eq!(hand.take("order", 1, 2).await.unwrap().last(), 4);
}

#[tokio::test]
async fn unsigned_ids_count_on_as_others_do() {
    let site = Site::new(CODES).await;
    let columns =
        "id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, generate_time TIMESTAMP DEFAULT NOW()";
    for (name, rows) in [("uns", "INSERT INTO uns_code_0 VALUES (41, NOW())"), ("fresh", "DO 0")] {
        site.server.sql(&format!("CREATE TABLE {name}_code_0 ({columns}); {rows}")).await;
    }
    let hand = hand(adopting(site.options())).await;
    for (name, last) in [("uns", 41), ("fresh", 0)] {
        assert_eq!(hand.begin(name, 1, 0).await.unwrap(), last);
        let (key, epoch) = (Key::from_stored(name), Epoch::from_stored(1));
        let cell = Cell { key: &key, under: &hand.under };
        assert_eq!(hand.take(name, 1, 1).await.unwrap().first(), last + 1);
        for turn in 0..3 {
            assert_eq!(hand.take(name, 1, 4).await.unwrap().first(), last + 2 + 4 * turn);
        }
        assert_eq!(hand.store.lift(cell, epoch, 100).await.unwrap(), 100);
        assert_eq!(hand.take(name, 1, 4).await.unwrap().first(), 101);
        assert_eq!(hand.close(name, 2).await.unwrap(), 104);
    }
    site.server.sql("INSERT INTO uns_code_0 VALUES (18446744073709551600, NOW())").await;
    assert_eq!(hand.begin("uns", 3, 0).await.unwrap(), i64::MAX.cast_unsigned());
    failed(hand.take("uns", 3, 1).await, ErrorKind::Exhausted, &["uns"]);
}

#[tokio::test]
async fn an_index_or_a_trigger_that_new_rows_break_is_told_and_the_slot_counts_on() {
    let site = Site::new(CODES).await;
    site.server.sql("GRANT TRIGGER ON sequent.* TO 'shop'@'127.0.0.1'").await;
    let trigger = "CREATE TRIGGER trg BEFORE INSERT ON trg_code_0 FOR EACH ROW SET NEW.`Id` = 7";
    let tables = [
        (
            "uq",
            ", UNIQUE once (generate_time)",
            "",
            "unique index once has no id: ALTER TABLE … DROP INDEX once",
        ),
        ("two", ", c INT NULL DEFAULT 4, UNIQUE pair (c, generate_time)", "", "unique index pair"),
        ("trg", "", trigger, "trigger trg sets id: DROP TRIGGER trg"),
    ];
    let hand = hand(adopting(site.options())).await;
    for (name, more, then, advice) in tables {
        create(&site, name, more, then).await;
        failed(hand.begin(name, 1, 0).await, ErrorKind::Unfit, &[&format!("{name}_code_0"), advice]);
    }
    // No NULL is the same as another, nor are rows with an id.
    let trigger = "CREATE TRIGGER named BEFORE INSERT ON named_code_0 FOR EACH ROW SET NEW.who = 'x'";
    for (name, more, then) in
        [("free", ", n INT NULL UNIQUE, UNIQUE (generate_time, id)", ""), ("named", ", who TEXT", trigger)]
    {
        create(&site, name, more, then).await;
        hand.begin(name, 1, 0).await.unwrap();
        assert_eq!(hand.take(name, 1, 20).await.unwrap().last(), 20);
    }
    site.server.sql("DROP TRIGGER trg").await;
    hand.begin("trg", 2, 0).await.unwrap();
    assert_eq!(hand.take("trg", 2, 2).await.unwrap().last(), 2);
}

#[tokio::test]
async fn what_only_an_insertion_shows_is_the_keys_fault_too() {
    let site = Site::new(CODES).await;
    let trigger = |name: &str, when: &str, what: &str| {
        format!("CREATE TRIGGER {name} {when} INSERT ON {name}_code_0 FOR EACH ROW {what}")
    };
    let hand = hand(adopting(site.options())).await;
    // Before an epoch begins, and at its first row: this user can't read triggers.
    for (name, when, what, told) in [
        (
            "unseen",
            "BEFORE",
            "SET NEW.id = 7",
            "trigger unseen can't be read, and must not set id: GRANT TRIGGER",
        ),
        ("after", "AFTER", "INSERT INTO gone VALUES (NEW.id)", "1146"),
    ] {
        create(&site, name, "", &trigger(name, when, what)).await;
        failed(hand.begin(name, 1, 0).await, ErrorKind::Unfit, &[&format!("{name}_code_0"), told]);
    }
    create(&site, "ruled", ", CHECK (generate_time < '2000-01-01')", "").await;
    let told = ["ruled_code_0", "the first row of an epoch, with id 0, is not in it"];
    failed(hand.begin("ruled", 1, 0).await, ErrorKind::Unfit, &told);
    // Under an epoch.
    let log = "CREATE TABLE log (one INT PRIMARY KEY)";
    create(
        &site,
        "logged",
        "",
        &format!("{log}; {}", trigger("logged", "AFTER", "INSERT INTO log VALUES (1)")),
    )
    .await;
    create(&site, "late", "", "").await;
    create(&site, "dft", ", d INT NULL UNIQUE", "").await;
    for key in ["logged", "late", "dft", "order"] {
        hand.begin(key, 1, 0).await.unwrap();
    }
    site.server.sql(&trigger("late", "AFTER", "INSERT INTO gone VALUES (NEW.id)")).await;
    site.server
        .sql("ALTER TABLE dft_code_0 ALTER d SET DEFAULT 3; INSERT INTO dft_code_0 (d) VALUES (3)")
        .await;
    for (key, told) in [("logged", "1062"), ("late", "1146"), ("dft", "1062")] {
        for want in [1, 4] {
            failed(hand.take(key, 1, want).await, ErrorKind::Unfit, &[&format!("{key}_code_0"), told]);
        }
        let key = Key::from_stored(key);
        let cell = Cell { key: &key, under: &hand.under };
        failed(hand.store.lift(cell, Epoch::from_stored(1), 50).await, ErrorKind::Unfit, &["_code_0"]);
    }
    assert_eq!(hand.take("order", 1, 4).await.unwrap().last(), 4);
    // The fence that is missing is the slot's.
    site.server.sql("DROP TABLE sequent_cells").await;
    failed(hand.take("order", 1, 4).await, ErrorKind::Refused, &["1146"]);
}

async fn create(site: &Site, name: &str, more: &str, then: &str) {
    let columns = "id BIGINT AUTO_INCREMENT PRIMARY KEY, generate_time TIMESTAMP DEFAULT NOW()";
    site.server.sql(&format!("CREATE TABLE {name}_code_0 ({columns}{more}); {then}")).await;
}

#[tokio::test]
async fn rows_are_kept_as_the_shard_says() {
    let site = Site::new(CODES).await;
    let all = hand(with(site.options(), |tables| tables.keep = KeepRows::All)).await;
    all.begin("all", 1, 0).await.unwrap();
    let days = hand(with(site.options(), |tables| tables.keep = KeepRows::Days(3))).await;
    days.begin("days", 1, 0).await.unwrap();
    for _ in 0..6 {
        all.take("all", 1, 500).await.unwrap();
        days.take("days", 1, 500).await.unwrap();
    }
    let rows = async |name: &str| said(&site, &format!("SELECT COUNT(*) FROM {name}_code_0")).await;
    assert_eq!((rows("all").await, rows("days").await), (3001, 3001), "with the anchor");
    site.server.sql("UPDATE days_code_0 SET generate_time = NOW() - INTERVAL 73 HOUR WHERE id <= 2000").await;
    for _ in 0..6 {
        days.take("days", 1, 500).await.unwrap();
    }
    assert_eq!(rows("days").await, 4001, "the old ones are gone, but for the anchor");
    assert_eq!(said(&site, "SELECT MIN(id) FROM days_code_0 WHERE id > 0").await, 2001);
}

#[tokio::test]
async fn two_slots_count_in_one_database_of_another_program_and_put_nothing_of_theirs_there() {
    let site = Site::new("SELECT, INSERT").await;
    let grants = "CREATE DATABASE s0; CREATE DATABASE s2; GRANT SELECT, INSERT, UPDATE, CREATE ON s0.* TO 'shop'@'127.0.0.1'; \
        GRANT SELECT, INSERT, UPDATE, CREATE ON s2.* TO 'shop'@'127.0.0.1'";
    site.server.sql(grants).await;
    site.server.sql(SEED).await;
    site.server
        .sql("CREATE TABLE sto_code_2 LIKE sto_code_0; ALTER TABLE sto_code_2 AUTO_INCREMENT = 70")
        .await;
    let slot = async |slot: SlotIndex| {
        let url = site.url().replace("/sequent", &format!("/s{slot}"));
        let options = with(adopting(Site::options_at(&url)), |tables| {
            tables.names = "sequent.%s_code_%d".parse().unwrap();
        });
        Hand::of(store(options, slot)).await.unwrap()
    };
    let (zero, two) = (slot(0).await, slot(2).await);
    assert_ne!(zero.under, two.under);
    for (hand, first) in [(&zero, 5001), (&two, 70)] {
        hand.begin("sto", 1, 0).await.unwrap();
        assert_eq!(hand.take("sto", 1, 3).await.unwrap().first(), first);
        assert_eq!(hand.take("sto", 1, 1).await.unwrap().first(), first + 3);
    }
    let tables = site.server.sql("SHOW TABLES IN sequent").await;
    assert_eq!(tables.split_whitespace().collect::<Vec<_>>(), ["sto_code_0", "sto_code_2"]);
    // This user may make no table there: the key's matter.
    failed(zero.begin("order", 1, 0).await, ErrorKind::Unfit, &["sequent.order_code_0", "CREATE"]);
    assert_eq!(zero.take("sto", 1, 1).await.unwrap().first(), 5005);
}
