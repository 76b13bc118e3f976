//! Counters of other systems imported from real servers: each table of a known system, and ten thousand keys with a kill in the
//! middle. A move under load: [`moved`](super::moved).

use std::collections::BTreeMap;

use sequent_testkit::servers::{MariaDb, Postgres, Redis};
use serde_json::Value;

use crate::place::{Place, Ran, eventually};

/// Tables of known systems, with their columns as those systems have them.
const TABLES: &str = "
CREATE TABLE `sequence` (seq_name varchar(200) PRIMARY KEY, current_value bigint NOT NULL, _increment int NOT NULL);
INSERT INTO `sequence` VALUES ('by-ten', 48231, 10);
CREATE TABLE sequence_value (Name varbinary(50), ID int);
INSERT INTO sequence_value VALUES ('block', 2000);
CREATE TABLE xx_rowbased_sequence (owner_key varchar(32) PRIMARY KEY, current_value bigint NOT NULL);
INSERT INTO xx_rowbased_sequence VALUES ('row', 7), ('not/a/name', 1);
CREATE TABLE SequenceNumber (ID int, Code varchar(10) PRIMARY KEY, Prefix varchar(5), DateType varchar(8), Infix varchar(5),
  IndexLength int, Suffix varchar(5), MaxDate varchar(8), MaxIndex int DEFAULT 0);
INSERT INTO SequenceNumber VALUES (1, 'doc', 'P', 'yymmdd', 'M', 6, '', '260305', 41);
CREATE TABLE leaf_alloc (biz_tag varchar(128) PRIMARY KEY, max_id bigint NOT NULL, step int NOT NULL);
INSERT INTO leaf_alloc VALUES ('leaf', 2001, 2000);
CREATE TABLE tiny_id_info (id bigint PRIMARY KEY, biz_type varchar(63), begin_id bigint, max_id bigint, step int, delta int,
  remainder int);
INSERT INTO tiny_id_info VALUES (1, 'tiny', 1, 100000, 100000, 1, 0);
CREATE TABLE cosid (name varchar(100) PRIMARY KEY, last_max_id bigint NOT NULL, last_fetch_time bigint NOT NULL);
INSERT INTO cosid VALUES ('cos', 500, 0);
CREATE TABLE sto_code_0 (id bigint PRIMARY KEY AUTO_INCREMENT, generate_time timestamp DEFAULT current_timestamp);
CREATE TABLE sto_code_1 LIKE sto_code_0;
INSERT INTO sto_code_0 (generate_time) VALUES (now()), (now()), (now());
INSERT INTO sto_code_1 (generate_time) VALUES (now()), (now());
DELETE FROM sto_code_0;
CREATE TABLE orders (id bigint PRIMARY KEY AUTO_INCREMENT, amount int);
INSERT INTO orders VALUES (900, 1);
";

/// The keys of the test with a kill.
const KEYS: u64 = 10_000;

/// How many of them move after the import.
const MOVED: u64 = 300;

/// A place whose file names the other system, with its password.
pub(super) fn source(place: &Place, url: &str) -> String {
    let path = place.path("source");
    std::fs::write(&path, format!("{url}\n")).unwrap();
    path.display().to_string()
}

pub(super) fn run(place: &Place, args: &[&str]) -> Ran {
    tokio::task::block_in_place(|| place.run(args))
}

/// What is done with each counter, by its name.
pub(super) fn actions(ran: &Ran) -> BTreeMap<String, String> {
    let report = ran.json();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let counters = report["counters"].as_array().unwrap().iter();
    counters.map(|counter| (text(&counter["counter"]), text(&counter["action"]))).collect()
}

/// The first number of each sequence.
pub(super) fn starts(place: &Place) -> BTreeMap<String, u64> {
    let listed = run(place, &["list", "--json"]).succeeded().json();
    let sequences = listed["sequences"].as_array().unwrap().iter();
    let start = |sequence: &Value| sequence["start"].as_str().unwrap().parse().unwrap();
    sequences.map(|sequence| (sequence["sequence"].as_str().unwrap().to_owned(), start(sequence))).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_known_table_goes_on_and_what_is_no_name_is_refused() {
    let (db, place) = (MariaDb::start().await, Place::new());
    db.sql(TABLES).await;
    let file = source(&place, &db.url());
    let some = run(&place, &["import", "--source-file", &file, "--json"]);
    assert_eq!(actions(&some)["sto"], "refused", "two tables are found, and the ring has four slots");
    let import = ["import", "--source-file", &file, "--tables", "2", "--json"];

    let plan = run(&place, &import);
    assert_eq!(plan.code, Some(3), "one is refused: {plan:?}");
    let planned = actions(&plan);
    assert_eq!(planned["not/a/name"], "refused");
    assert_eq!(planned["sto"], "define", "its ids are deleted, and were given");
    assert!(!planned.contains_key("orders"), "{planned:?}");
    assert_eq!(starts(&place), BTreeMap::new(), "a plan defines nothing");

    let done = run(&place, &[&import[..], &["--yes"]].concat());
    assert_eq!(done.code, Some(3), "{done:?}");
    let expected = [
        ("block", 2_001),
        ("by-ten", 48_241),
        ("cos", 501),
        ("doc", 1),
        ("leaf", 2_001),
        ("row", 8),
        ("sto", 7),
        ("tiny", 100_001),
    ];
    assert_eq!(starts(&place), expected.map(|(name, start)| (name.to_owned(), start)).into());
    let text = run(&place, &["next", "doc", "--at", "2026-03-05T12:00:00Z"]).succeeded().out;
    let index: u64 =
        text.trim().strip_prefix("P260305M").unwrap_or_else(|| panic!("{text}")).parse().unwrap();
    assert!(index > 41, "{text}");

    let again = run(&place, &[&import[..], &["--yes"]].concat());
    let changed =
        actions(&again).into_iter().filter(|(_, action)| action != "nothing" && action != "refused");
    let changed: Vec<_> = changed.collect();
    assert!(changed.is_empty(), "the same once more changed {changed:?}");

    let orders = run(
        &place,
        &["import", "--source-file", &file, "--table", "orders", "--map", "orders=order", "--yes"],
    );
    orders.succeeded();
    assert_eq!(starts(&place)["order"], 901);
}

#[tokio::test(flavor = "multi_thread")]
async fn sequences_and_columns_of_postgres_go_on() {
    let (db, place) = (Postgres::start().await, Place::new());
    db.sql("CREATE SEQUENCE used INCREMENT 5; SELECT nextval('used'); SELECT nextval('used');").await;
    db.sql(
        "CREATE SEQUENCE fresh START 100; CREATE TABLE bill (\"No\" bigint); INSERT INTO bill VALUES (77);",
    )
    .await;
    let file = source(&place, &db.url());
    run(&place, &["import", "--source-file", &file, "--yes"]).succeeded();
    run(&place, &["import", "--source-file", &file, "--column", "bill.No", "--yes"]).succeeded();
    let expected = [("bill", 78), ("fresh", 100), ("used", 11)];
    assert_eq!(starts(&place), expected.map(|(name, start)| (name.to_owned(), start)).into());

    // A user who may not read a sequence sees the same as of one that was never called.
    db.sql("CREATE ROLE nobody LOGIN PASSWORD 'x'; GRANT USAGE ON SCHEMA public TO nobody;").await;
    let (file, place) = (source(&place, &db.url_as("nobody", "x")), Place::new());
    let blind = run(&place, &["import", "--source-file", &file, "--table", "used", "--json", "--yes"]);
    assert_eq!((blind.code, actions(&blind)["used"].as_str()), (Some(3), "refused"), "{blind:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_of_one_owner_in_two_databases_are_one_counter_and_memory_bits_count() {
    let (db, place) = (MariaDb::start().await, Place::new());
    let table = |database: char, index: u8, next: u64| {
        format!(
            "CREATE TABLE {database}.sto_code_{index} (id bigint PRIMARY KEY AUTO_INCREMENT, generate_time datetime) \
             AUTO_INCREMENT = {next};"
        )
    };
    let tables = [table('a', 0, 10), table('b', 1, 12), table('a', 2, 11), table('b', 3, 9)].concat();
    db.sql(&format!("CREATE DATABASE a; CREATE DATABASE b; {tables}")).await;
    let [a, b] = ["a", "b"].map(|name| format!("mysql://root@{}/{name}", db.address()));
    let one = run(&place, &["import", &a, "--json"]);
    assert_eq!((one.code, actions(&one)["sto"].as_str()), (Some(3), "refused"), "{one:?}");
    run(&place, &["import", &a, &b, "--memory-bits", "3", "--yes"]).succeeded();
    assert_eq!(starts(&place)["sto"], ((((11 << 2) | 1) << 3) | 7) + 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn numbers_of_as_many_tables_as_slots_stay_as_the_old_program_computed_them() {
    let (db, place) = (MariaDb::start().await, Place::new());
    for (index, last) in [5000_u64, 5002, 4999, 5001].iter().enumerate() {
        db.sql(&format!(
            "CREATE TABLE sto_code_{index} (id bigint PRIMARY KEY AUTO_INCREMENT, generate_time timestamp \
             DEFAULT current_timestamp); INSERT INTO sto_code_{index} (id) VALUES ({last});"
        ))
        .await;
        db.sql(&format!("CREATE TABLE unused_code_{index} LIKE sto_code_{index};")).await;
    }
    let file = source(&place, &db.url());
    let import = ["import", "--source-file", &file, "--yes", "--json"];
    let done = run(&place, &import).succeeded().json();
    let counter = &done["counters"][0];
    let last = 5002 << 2 | 1;
    assert_eq!(counter["numbering"], "encoded", "{done}");
    assert_eq!(counter["to"], last.to_string(), "{done}");
    let numbers = run(&place, &["next", "sto", "-n", "40"]).succeeded().numbers();
    assert!(numbers.iter().all(|number| *number > last && number >> 2 < 5100), "{numbers:?}");
    for number in numbers {
        let told = run(&place, &["explain", "sto", &number.to_string(), "--json"]).succeeded().json();
        let raw = (number >> 2).to_string();
        assert_eq!((told["slot"].as_u64(), told["raw"].as_str()), (Some(number & 3), Some(&*raw)), "{told}");
    }
    let again = actions(&run(&place, &import).succeeded());
    assert_eq!((&*again["sto"], &*again["unused"]), ("nothing", "nothing"));
}

#[tokio::test(flavor = "multi_thread")]
async fn files_of_sqlite_csv_and_mongoexport_go_on() {
    let place = Place::new();
    let script = "import sqlite3; c = sqlite3.connect('shop.db'); c.executescript('create table orders(id integer \
        primary key autoincrement); insert into orders values (70); delete from orders; \
        create table bills(id integer primary key); insert into bills values (9);')";
    let made =
        std::process::Command::new("python3").args(["-c", script]).current_dir(place.path(".")).status();
    assert!(made.unwrap().success());
    let tables = ["import", "shop.db", "--table", "orders", "--column", "bills.id", "--yes"];
    run(&place, &tables).succeeded();
    std::fs::write(place.path("a.csv"), "counter,last_number,step\n\"csv\",41,10\n").unwrap();
    run(&place, &["import", "a.csv", "--yes"]).succeeded();
    let document = "{\"_id\": {\"$oid\": \"65\"}, \"collectionName\": \"user\", \"start\": {\"$numberLong\": \"0\"}, \
        \"end\": {\"$numberLong\": \"9223372036854775807\"}, \"step\": 10, \"current\": {\"$numberLong\": \"120\"}}\n";
    std::fs::write(place.path("m.json"), document).unwrap();
    run(&place, &["import", "m.json", "--yes"]).succeeded();
    let unused = document.replace("120", "0").replace("user", "unused");
    std::fs::write(place.path("u.json"), unused).unwrap();
    run(&place, &["import", "u.json", "--yes"]).succeeded();
    assert_eq!(run(&place, &["next", "unused"]).succeeded().numbers(), [0]);
    let expected = [("bills", 10), ("csv", 51), ("orders", 71), ("unused", 0), ("user", 120)];
    assert_eq!(starts(&place), expected.map(|(name, start)| (name.to_owned(), start)).into());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slot_that_lags_gives_no_number_of_the_other_system() {
    let place = Place::new();
    run(&place, &["define", "order"]).succeeded();
    run(&place, &["evict", "0", "--why", "it lags"]).succeeded();
    let given = run(&place, &["next", "order", "-n", "200"]).succeeded().numbers();
    assert!(given.iter().all(|number| number % 4 != 1), "slot 0 was out: {given:?}");
    run(&place, &["rescue", "0", "--why", "it is back"]).succeeded();

    // Other slots are past the other system's last number, 150, while slot 0 has given nothing.
    std::fs::write(place.path("a.csv"), "counter,last_number,step\norder,150,1\n").unwrap();
    let done = run(&place, &["import", "a.csv", "--yes", "--json"]).succeeded();
    assert_eq!(actions(&done)["order"], "advance");
    assert!(done.out.contains("those up to 150 may be the other system's, too"), "{done:?}");
    let next = run(&place, &["next", "order", "-n", "200"]).succeeded().numbers();
    assert!(next.iter().any(|number| number % 4 == 1) && next.iter().all(|number| *number > 150), "{next:?}");
    assert!(next.iter().all(|number| !given.contains(number)), "{given:?} {next:?}");
    let again = run(&place, &["import", "a.csv", "--yes", "--json"]).succeeded();
    assert_eq!(actions(&again)["order"], "nothing");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_password_in_an_argument_is_refused_and_not_repeated() {
    let place = Place::new();
    let ran = run(&place, &["import", "mysql://shop:geheim@127.0.0.1/shop"]);
    let ran = ran.refused(2, &["--password-file"]);
    assert!(!ran.err.contains("geheim"), "{}", ran.err);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_that_is_killed_and_begun_again_ends_the_same() {
    let (redis, place) = (Redis::start().await, Place::new());
    let script = format!("for i = 1, {KEYS} do redis.call('SET', 'seq:' .. i, i * 7) end");
    redis.ask(&["EVAL", &script, "0"]).await;
    redis.ask(&["HSET", "seq:rule", "base", "1000", "cur", "5", "pre", "QJ", "needTime", "false"]).await;
    let url = redis.url();
    let import = ["import", &url, "--pattern", "seq:*", "--map", "seq:*=*", "--yes"];

    let running = place.start(&import);
    tokio::task::block_in_place(|| {
        eventually("some are defined", || {
            let listed = place.run(&["list", "--json"]);
            (listed.code == Some(0) && listed.out.contains("\"start\"")).then_some(())
        });
    });
    running.kill();
    let some = starts(&place).len() as u64;
    assert!(some > 0 && some <= KEYS, "{some} were defined when it was killed");

    run(&place, &import).succeeded();
    let starts = starts(&place);
    assert_eq!(starts.len() as u64, KEYS + 1);
    assert_eq!(starts["rule"], 1_006);
    assert!((1..=KEYS).all(|key| starts[&key.to_string()] == key * 7 + 1));

    // Some move on, and the same command makes way for them.
    let script = format!("for i = 1, {MOVED} do redis.call('INCRBY', 'seq:' .. i, 1000) end");
    redis.ask(&["EVAL", &script, "0"]).await;
    let verify = [&import[..6], &["--verify", "--watch-s", "0", "--json"]].concat();
    let (of, passed) = (|ran: &Ran, word| ran.out.matches(word).count() as u64, run(&place, &verify));
    assert_eq!((passed.code, of(&passed, "\"passed\"")), (Some(3), MOVED), "{}", passed.err);
    let moved = run(&place, &[&import[..], &["--json"]].concat()).succeeded();
    assert_eq!((of(&moved, "\"advance\""), of(&moved, "\"nothing\"")), (MOVED, KEYS + 1 - MOVED));
    assert_eq!(of(&run(&place, &verify).succeeded(), "\"kept\""), KEYS + 1);
    assert_eq!(run(&place, &["next", "3"]).succeeded().numbers(), [1022]);
}
