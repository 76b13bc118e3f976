//! Tables of another program that count on: it inserts all the while, in tables of one database, and servers over two slots
//! count in the same tables. And a table that can't count takes nothing but its own counter out.

use std::sync::Arc;

use sequent_testkit::servers::MariaDb;

use crate::{
    bits::Bits,
    load::{Load, until},
    moved::{Old, TABLES},
    server::Server,
    site::Plan,
};

/// Numbers as the old program makes them, `id << 1 | index`. Little is in memory, so the tables are asked all the time.
const SETTINGS: &str = "
cluster = \"c\"
[ring]
shard_bits = 1
memory_bits = 0
attempt_timeout_ms = 4000
slow_after_ms = 2000
[reservoir]
at_risk_max = 512
[limits]
deadline_ms = 30000
[[sequence]]
name = \"sto\"
numbering = \"encoded\"
";

/// The tables are in the other program's database.
const ADOPTING: &str = "table_name = \"sequent.%s_code_%d\"\nadopt_tables = true";

/// Numbers that callers take from servers beside the old program.
const NEW_SPENT: u64 = 10_000;

/// Both slots of the other program's tables on one server, with what it takes to count in them, and no more.
async fn plan(db: &MariaDb, settings: &str) -> Plan {
    let plan = Plan::of(settings).ledger(db, "ledger").await;
    let plan = plan.codes(0, db, "shard0", ADOPTING).await.codes(1, db, "shard1", ADOPTING).await;
    db.sql("GRANT SELECT, INSERT ON sequent.* TO 'sequent'@'%'").await;
    plan
}

#[tokio::test(flavor = "multi_thread")]
async fn callers_change_over_one_by_one_while_an_old_program_inserts_and_no_id_is_left_out() {
    let (db, bits) = (Arc::new(MariaDb::start().await), Arc::<Bits>::default());
    db.sql(TABLES).await;
    let plan = plan(&db, SETTINGS).await;
    let old = Old::start(&db, &bits);
    old.takes_more().await;
    let mut servers = vec![Server::start(&plan.text)];
    let first = Load::of("sto", &servers, &bits);
    old.takes_more().await;
    first.more(NEW_SPENT).await;
    servers.push(Server::start(&plan.text));
    let second = Load::of("sto", &servers[1..], &bits);
    second.more(NEW_SPENT).await;
    old.takes_more().await;
    let last = old.stop().await;
    first.more(NEW_SPENT).await;
    for load in [&first, &second] {
        load.nobody_failed(0, "the move");
    }
    first.end().await;
    second.end().await;
    for server in &mut servers {
        assert_eq!(server.drain(), Some(0));
    }
    for index in [0, 1] {
        // The plan: they begin right above what the table has given, so that each id is a row.
        let sql =
            format!("SELECT COUNT(*), MAX(id) - 5000 + 1, MAX(id) << 1 | {index} FROM sto_code_{index}");
        let said = db.sql(&sql).await;
        let found: Vec<u64> = said.split_whitespace().map(|number| number.parse().unwrap()).collect();
        assert_eq!(found[0], found[1], "an id was left out in table {index}");
        assert!(found[2] > last, "servers counted in table {index}");
    }
    let tables = db.sql("SHOW TABLES").await;
    assert_eq!(tables.split_whitespace().collect::<Vec<_>>(), ["sto_code_0", "sto_code_1"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn numbers_that_differ_from_the_old_programs_are_refused() {
    let db = MariaDb::start().await;
    db.sql(TABLES).await;
    let plan = plan(&db, &SETTINGS.replace("numbering", "# numbering")).await;
    let refused = Server::try_start(&plan.text).err().expect("the numbers would be other ones");
    assert_eq!(refused.code, Some(3), "{refused:?}");
    let said = format!("{refused:?}");
    assert!(
        said.contains("sequence sto") && said.contains("adopt_tables = true") && said.contains("encoded"),
        "{said}"
    );
}

/// Above the ids of the tables that it counts in, an import would skip as many at each run.
#[tokio::test(flavor = "multi_thread")]
async fn tables_that_the_ring_counts_in_are_not_imported() {
    let (db, place) = (MariaDb::start().await, crate::place::Place::new());
    db.sql(TABLES).await;
    db.sql("INSERT INTO sto_code_0 () VALUES ()").await;
    let plan = plan(&db, SETTINGS).await;
    let server = Server::start(&plan.text);
    let file = crate::imported::source(&place, &db.url());
    let ran = server.operate(&["import", "--source-file", &file, "--yes", "--json"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let note = ran.json()["counters"][0]["note"].to_string();
    assert!(note.contains("adopt_tables = true: this ring counts in such tables by itself"), "{note}");
}

/// Equal ids of both programs would be other numbers in a ring of another shape, and equal numbers would come twice.
#[tokio::test(flavor = "multi_thread")]
async fn a_ring_of_another_shape_gives_none_of_the_old_programs_numbers() {
    let db = MariaDb::start().await;
    db.sql(TABLES).await;
    db.sql("CREATE TABLE sto_code_2 LIKE sto_code_0; CREATE TABLE sto_code_3 LIKE sto_code_0").await;
    let settings = SETTINGS.replace("deadline_ms = 30000", "deadline_ms = 3000");
    let plan = plan(&db, &settings).await;
    let server = Server::start(&plan.text);
    let asked = server.operate(&["next", "sto"]);
    assert_ne!(asked.code, Some(0), "{asked:?}");
    let shown = server.operate(&["shards"]).succeeded().out;
    assert!(shown.contains("there is a table of index 3, and the ring has 2 slots"), "{shown}");
    let told = server.operate(&["doctor"]).out;
    assert!(told.contains("its counter can't be read: table sequent.sto_code_0 can't count sto"), "{told}");
    let rows = db.sql("SELECT COUNT(*) FROM sto_code_0").await;
    assert_eq!(rows.trim(), "0");
}

/// A sequence that was defined before its slots adopted tables gives no number: it would be one of the old program's.
#[tokio::test(flavor = "multi_thread")]
async fn a_sequence_from_before_the_adoption_is_refused_at_its_use() {
    let db = MariaDb::start().await;
    db.sql(TABLES).await;
    let plan = plan(&db, &SETTINGS.replace("numbering", "# numbering")).await;
    let mut before = Server::start(&plan.text.replace("adopt_tables = true", "adopt_tables = false"));
    assert_eq!(before.drain(), Some(0));
    let server = Server::start(&plan.text);
    let asked = server.operate(&["next", "sto"]);
    assert_ne!(asked.code, Some(0), "{asked:?}");
    assert!(asked.err.contains("adopt_tables = true") && asked.err.contains("encoded"), "{asked:?}");
}

/// A ring over one server, of which slot 0 has a table a sequence.
const MIXED: &str = "
cluster = \"c\"
auto_create = [\"*\"]
[ring]
shard_bits = 1
memory_bits = 0
attempt_timeout_ms = 4000
slow_after_ms = 2000
[reservoir]
at_risk_max = 64
[limits]
deadline_ms = 30000
";

#[tokio::test(flavor = "multi_thread")]
async fn a_table_of_another_shape_takes_its_own_counter_out_and_nothing_else() {
    let (db, bits) = (MariaDb::start().await, Arc::<Bits>::default());
    let plan = Plan::of(MIXED).ledger(&db, "ledger").await;
    let plan = plan.codes(0, &db, "shard0", "adopt_tables = false").await.shard(1, &db, "shard1").await;
    db.sql("CREATE TABLE shard0.sto_code_0 (id int PRIMARY KEY AUTO_INCREMENT, customer int NOT NULL)").await;
    let servers = [Server::start(&plan.text)];
    let load = Load::of("sto", &servers, &bits);
    load.more(500).await;
    load.nobody_failed(0, "the foreign table");
    load.end().await;
    let slots = servers[0].look().await;
    assert!(slots.is_live(0) && slots.is_live(1), "{slots:?}");
    let log = servers[0].log();
    let told = log.lines().find(|line| line.contains("counter quarantined")).unwrap_or_default();
    for part in ["slot=0", "key=\"sto\"", "table sto_code_0 can't count sto", "adopt_tables = true"] {
        assert!(told.contains(part), "{part:?} is not in {log}");
    }
    let shown = servers[0].operate(&["shards"]).succeeded().out;
    assert!(shown.contains("sto_code_0"), "{shown}");
    assert_eq!(db.sql("SELECT COUNT(*) FROM shard0.sto_code_0").await.trim(), "0");
    let told = servers[0].operate(&["doctor"]).out;
    assert!(told.contains("its counter can't be read: table sto_code_0 can't count sto"), "{told}");
    assert!(!told.contains("not all looked for"), "{told}");

    // Other sequences count in both slots; and this one, too, once the cause is gone.
    let other = Load::of("order", &servers, &Arc::default());
    other.more(500).await;
    other.nobody_failed(0, "the foreign table");
    other.end().await;
    let counted = async |name: &str| {
        let sql = format!("SELECT COALESCE(MAX(id), 0) > 0 FROM shard0.{name}_code_0");
        db.sql(&sql).await.trim() == "1"
    };
    assert!(counted("order").await);
    db.sql("DROP TABLE shard0.sto_code_0").await;
    servers[0].operate(&["rescue", "0", "--why", "the table is gone"]).succeeded();
    let load = Load::of("sto", &servers, &bits);
    until("slot 0 counts", async || {
        let made = db.sql("SHOW TABLES IN shard0 LIKE 'sto_code_0'").await;
        !made.trim().is_empty() && counted("sto").await
    })
    .await;
    load.end().await;
}
