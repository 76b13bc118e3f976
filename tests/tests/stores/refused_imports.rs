//! What an import refuses, since the next number of the other system is not known for sure, on real servers and in files.

use std::fmt::Write as _;

use sequent_testkit::servers::{MariaDb, Postgres, Redis};

use super::imported::{actions, run, source, starts};
use crate::place::{Place, Ran};

/// A table of which one column holds numbers as text, and a view of its numbers.
const TEXTS: &str = "CREATE TABLE notes (code varchar(20), amount decimal(20, 0)); \
    INSERT INTO notes VALUES ('9', 9), ('10', 10), ('11', 11); \
    CREATE VIEW numbers AS SELECT CAST(code AS decimal(20, 0)) AS code FROM notes; \
    CREATE TABLE cosid (name varchar(100) PRIMARY KEY, last_max_id bigint); INSERT INTO cosid VALUES ('cos', 500); \
    CREATE VIEW of_cosid AS SELECT * FROM cosid;";

/// The note of a counter of a plan.
fn note(ran: &Ran, name: &str) -> String {
    let report = ran.json();
    let mut counters = report["counters"].as_array().unwrap().iter();
    let found =
        counters.find(|counter| counter["counter"] == name).unwrap_or_else(|| panic!("{name}: {report}"));
    found["note"].as_str().unwrap_or_default().to_owned()
}

/// The text column is refused, its view and the decimal one go on, and no view counts unless it is named.
fn text_columns(place: &Place, file: &str) {
    let column = |name: &str| run(place, &["import", "--source-file", file, "--column", name, "--yes"]);
    column("notes.code")
        .refused(1, &["column is \"code\"", "table notes", "values of type", "whole numbers"]);
    column("notes.amount").succeeded();
    column("numbers.code").succeeded();
    let all = run(place, &["import", "--source-file", file, "--json"]).succeeded();
    assert_eq!(actions(&all).len(), 1, "a view shows the same counters once more: {all:?}");
    let starts = starts(place);
    assert_eq!((starts["notes"], starts["numbers"]), (12, 12));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sequence_of_postgres_that_was_set_goes_on_there_and_one_that_goes_round_is_refused() {
    let (db, place) = (Postgres::start().await, Place::new());
    db.sql(
        "CREATE SEQUENCE was_set; SELECT nextval('was_set'); SELECT setval('was_set', 48231, false);
         CREATE SEQUENCE restarted START 5; ALTER SEQUENCE restarted RESTART WITH 900;
         CREATE SEQUENCE \"O'Hara \"\"x\"\"\" CACHE 50; SELECT nextval('\"O''Hara \"\"x\"\"\"');
         CREATE SEQUENCE round MAXVALUE 3 CYCLE; SELECT nextval('round');",
    )
    .await;
    let mut many = String::new();
    for index in 0..450 {
        write!(many, "CREATE SEQUENCE many_{index} START {};", index + 7).unwrap();
    }
    db.sql(&many).await;
    let file = source(&place, &db.url());
    let import = ["import", "--source-file", &file, "--map", "O'Hara*=odd", "--json", "--yes"];
    let done = run(&place, &import);
    assert_eq!((done.code, actions(&done)["round"].as_str()), (Some(3), "refused"), "{done:?}");
    let why = note(&done, "round");
    assert!(why.contains("CYCLE") && why.contains("ALTER SEQUENCE public.round NO CYCLE"), "{why}");
    let starts = starts(&place);
    assert_eq!((starts["was_set"], starts["restarted"], starts["odd"]), (48231, 900, 51));
    assert!((0..450).all(|index| starts[&format!("many_{index}")] == index + 7));

    db.sql("ALTER SEQUENCE round NO CYCLE; CREATE ROLE nobody LOGIN PASSWORD 'x'; GRANT USAGE ON SCHEMA public TO nobody;")
        .await;
    db.sql("GRANT USAGE ON SEQUENCE restarted TO nobody;").await;
    let known = run(&place, &["import", "--source-file", &file, "--table", "round", "--json"]).succeeded();
    assert_eq!(actions(&known)["round"], "define");
    let file = source(&place, &db.url_as("nobody", "x"));
    let blind = run(&place, &["import", "--source-file", &file, "--table", "restarted", "--json"]);
    let why = note(&blind, "restarted");
    assert!(why.contains("GRANT SELECT ON SEQUENCE public.restarted"), "{why}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_text_column_of_postgres_is_refused_and_a_view_counts_if_it_is_named() {
    let (db, place) = (Postgres::start().await, Place::new());
    db.sql(TEXTS).await;
    let file = source(&place, &db.url());
    text_columns(&place, &file);
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_of_postgres_that_a_policy_hides_are_told() {
    let (db, place) = (Postgres::start().await, Place::new());
    db.sql(
        "CREATE TABLE orders (no bigint); INSERT INTO orders SELECT generate_series(1, 100);
         CREATE TABLE cosid (name varchar(100) PRIMARY KEY, last_max_id bigint); INSERT INTO cosid VALUES ('cos', 500);
         ALTER TABLE orders ENABLE ROW LEVEL SECURITY; CREATE POLICY half ON orders USING (no <= 50);
         ALTER TABLE cosid ENABLE ROW LEVEL SECURITY;
         CREATE ROLE reader LOGIN PASSWORD 'x'; GRANT USAGE ON SCHEMA public TO reader;
         GRANT SELECT ON orders, cosid TO reader; CREATE ROLE auditor LOGIN PASSWORD 'x' BYPASSRLS;
         GRANT USAGE ON SCHEMA public TO auditor; GRANT SELECT ON orders, cosid TO auditor;",
    )
    .await;
    let file = source(&place, &db.url_as("reader", "x"));
    for (name, table) in [("--column", "orders.no"), ("--table", "cosid")] {
        let ran = run(&place, &["import", "--source-file", &file, name, table, "--yes"]);
        let table = table.split('.').next().unwrap();
        ran.refused(1, &["row-level security policy", table, "the documentation lists what it needs"]);
    }
    let file = source(&place, &db.url_as("auditor", "x"));
    run(&place, &["import", "--source-file", &file, "--column", "orders.no", "--yes"]).succeeded();
    assert_eq!(starts(&place), [("orders".to_owned(), 101)].into());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_text_column_of_mariadb_is_refused_and_a_view_counts_if_it_is_named() {
    let (db, place) = (MariaDb::start().await, Place::new());
    db.sql(TEXTS).await;
    let file = source(&place, &db.url());
    text_columns(&place, &file);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_text_in_a_column_of_sqlite_is_refused() {
    let place = Place::new();
    let script = "import sqlite3; c = sqlite3.connect('shop.db'); c.executescript('create table notes(code text, n integer); \
        insert into notes values (9, 9), (10, 10)')";
    let made =
        std::process::Command::new("python3").args(["-c", script]).current_dir(place.path(".")).status();
    assert!(made.unwrap().success());
    run(&place, &["import", "shop.db", "--column", "notes.code"])
        .refused(1, &["type text", "counter, last_number"]);
    run(&place, &["import", "shop.db", "--pattern", "n*"]).refused(1, &["pattern is \"n*\"", "--table"]);
    run(&place, &["import", "shop.db", "--column", "notes.n", "--yes"]).succeeded();
    assert_eq!(starts(&place)["notes"], 11);
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_of_redis_that_match_and_are_no_counters_are_told() {
    let (redis, place) = (Redis::start().await, Place::new());
    redis.ask(&["SET", "seq:order", "41"]).await;
    redis.ask(&["RPUSH", "seq:queue", "1", "2"]).await;
    redis.ask(&["HSET", "seq:hash", "max", "7"]).await;
    redis.ask(&["EVAL", "redis.call('SET', 'seq:\\255', 9)", "0"]).await;
    redis.ask(&["EVAL", "for i = 1, 30 do redis.call('SADD', 'seq:set' .. i, 1) end", "0"]).await;
    let url = redis.url();
    let done = run(&place, &["import", &url, "--pattern", "seq:*", "--map", "seq:*=*", "--json", "--yes"]);
    assert_eq!(done.code, Some(3), "{done:?}");
    assert_eq!(note(&done, "seq:hash"), "it is a hash with max: base, cur, pre, needTime are expected");
    assert!(note(&done, "seq:\u{fffd}").contains("not UTF-8"), "{done:?}");
    assert_eq!(note(&done, "seq:queue"), "it is a list: a number is expected");
    assert_eq!(note(&done, "…"), "13 more keys are no counters", "33 are none, and 20 are named");
    assert_eq!(starts(&place), [("order".to_owned(), 42)].into());
    // Without a pattern nobody said that they count.
    run(&place, &["import", &url, "--map", "seq:*=*", "--json"]).succeeded();
}

#[tokio::test(flavor = "multi_thread")]
async fn counters_of_one_name_in_two_tables_are_told_apart_by_their_tables() {
    let (db, place) = (MariaDb::start().await, Place::new());
    db.sql(
        "CREATE TABLE a (owner_key varchar(32) PRIMARY KEY, current_value bigint); INSERT INTO a VALUES ('order', 7), ('x', 1);
         CREATE TABLE b (owner_key varchar(32) PRIMARY KEY, current_value bigint); INSERT INTO b VALUES ('order', 9);",
    )
    .await;
    let file = source(&place, &db.url());
    let import = ["import", "--source-file", &file];
    let plan = run(&place, &import);
    assert_eq!(plan.code, Some(3), "{plan:?}");
    for word in ["a.order ", "b.order ", "\nx ", "--map b.order=NEW"] {
        assert!(plan.out.contains(word), "{word:?} is not in {}", plan.out);
    }
    run(&place, &[&import[..], &["--map", "b.order=bill", "--yes"]].concat()).succeeded();
    let starts = starts(&place);
    assert_eq!((starts["order"], starts["bill"], starts["x"]), (8, 10, 2));
    let verified =
        run(&place, &[&import[..], &["--map", "b.order=bill", "--verify", "--watch-s", "0"]].concat());
    assert!(verified.succeeded().out.contains("3 kept, 0 passed, 0 missing, 0 unread; 0 move"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forgotten_name_and_a_choice_that_means_nothing_are_refused() {
    let place = Place::new();
    run(&place, &["define", "order"]).succeeded();
    run(&place, &["forget", "order", "--yes"]).succeeded();
    std::fs::write(place.path("a.csv"), "counter,last_number,step\norder,41,1\n").unwrap();
    for more in [&["--json"][..], &["--json", "--yes"]] {
        let ran = run(&place, &[&["import", "a.csv"], more].concat());
        assert_eq!((ran.code, actions(&ran)["order"].as_str()), (Some(3), "refused"), "{ran:?}");
        assert!(note(&ran, "order").contains("was forgotten"), "{ran:?}");
    }
    for option in ["--table", "--column", "--pattern"] {
        run(&place, &["import", "a.csv", option, "order.x"]).refused(1, &["choose nothing in it"]);
    }
    run(&place, &["import", "a.csv", "--zone", "Asia/Peking"]).refused(2, &["zone is \"Asia/Peking\""]);
    run(&place, &["import", "a.csv", "--placement", "wide"]).refused(2, &["spread and dense are known"]);
}
