//! The ways back of the pages of moving from other systems: the old counter goes on above all that Sequent gave.

use sequent_testkit::servers::{MariaDb, Postgres, Redis};

use super::moving_pages::{MYSQL, POSTGRES};
use crate::place::Place;

/// The statement of a page that begins so, of the number N.
fn statement(page: &str, begin: &str, number: u64) -> String {
    let rest = page.split(&format!("`{begin}")).nth(1).unwrap_or_else(|| panic!("no page says {begin}"));
    let rest = rest.split('`').next().unwrap();
    assert!(rest.contains('N'), "{rest}");
    format!("{begin}{}", rest.replace('N', &number.to_string()))
}

/// Imports these tables, takes some numbers, and returns the highest that `show` says of a sequence.
fn move_and_take(place: &Place, (import, sequence): (&[&str], &str)) -> u64 {
    place.run(&[&["import"], import, &["--yes"]].concat()).succeeded();
    take(place, sequence)
}

fn take(place: &Place, sequence: &str) -> u64 {
    let taken = place.run(&["next", sequence, "-n", "9"]).succeeded();
    let shown: serde_json::Value =
        serde_json::from_str(&place.run(&["show", sequence, "--json"]).succeeded().out).unwrap();
    let counters = shown["counters"].as_array().unwrap().iter();
    let highest = counters.filter_map(|counter| counter["number_max"].as_str()?.parse().ok()).max().unwrap();
    assert!(taken.out.lines().all(|line| line.parse::<u64>().unwrap() <= highest), "{taken:?} {shown}");
    highest
}

#[tokio::test(flavor = "multi_thread")]
async fn the_ways_back_of_the_pages_repeat_no_number() {
    let (mysql, postgres, place) = (MariaDb::start().await, Postgres::start().await, Place::new());
    mysql
        .sql(
            "CREATE DATABASE shop; USE shop;
             CREATE TABLE sequence (seq_name varchar(200) PRIMARY KEY, current_value bigint, _increment int);
             INSERT INTO sequence VALUES ('order', 7, 1);
             CREATE TABLE orders (id bigint AUTO_INCREMENT PRIMARY KEY); INSERT INTO orders VALUES (), ();",
        )
        .await;
    postgres.sql("CREATE TABLE orders (id bigserial); INSERT INTO orders VALUES (default), (default)").await;
    let source = |name: &str, url: String| {
        std::fs::write(place.path(name), url).unwrap();
        place.path(name).display().to_string()
    };
    let mariadb = source("mariadb", format!("mysql://root@{}/shop", mysql.address()));
    let pg = source("pg", postgres.url());
    let moved =
        |import: &[&str], sequence| tokio::task::block_in_place(|| move_and_take(&place, (import, sequence)));
    let file = ["--source-file", &*mariadb];
    let row = moved(&file, "order");
    let table = moved(&[&file[..], &["--table", "orders"]].concat(), "orders");
    let sequence = moved(&["--source-file", &pg, "--map", "orders_id_seq=pg"], "pg");

    let back = |begin, number| format!("USE shop; {};", statement(MYSQL[0], begin, number));
    mysql.sql(&back("UPDATE sequence SET current_value = ", row)).await;
    mysql.sql(&back("ALTER TABLE orders AUTO_INCREMENT = ", table + 1)).await;
    postgres.sql(&statement(POSTGRES, "SELECT setval('orders_id_seq', ", sequence)).await;

    let last = |text: String| text.split_whitespace().last().unwrap().parse::<u64>().unwrap();
    let next = "UPDATE shop.sequence SET current_value = current_value + _increment; SELECT current_value FROM shop.sequence";
    assert!(last(mysql.sql(next).await) > row);
    assert!(last(mysql.sql("INSERT INTO shop.orders VALUES (); SELECT LAST_INSERT_ID()").await) > table);
    let next = "INSERT INTO orders VALUES (default); SELECT currval('orders_id_seq')";
    let told = postgres.sql(next).await;
    let numbers = told.split(|c: char| !c.is_ascii_digit()).filter_map(|word| word.parse::<u64>().ok());
    assert!(numbers.max().unwrap() > sequence, "{told}");
}

/// Tables of other systems in one database, each with one counter.
const TABLES: &str = "CREATE DATABASE shop; USE shop;
    CREATE TABLE sequence_value (name varchar(50) PRIMARY KEY, id bigint); INSERT INTO sequence_value VALUES ('block', 900);
    CREATE TABLE rows_of (owner_key varchar(32) PRIMARY KEY, current_value bigint); INSERT INTO rows_of VALUES ('owned', 70);
    CREATE TABLE leaf_alloc (biz_tag varchar(128) PRIMARY KEY, max_id bigint, step int); INSERT INTO leaf_alloc VALUES ('leaf', 2001, 2000);
    CREATE TABLE tiny_id_info (biz_type varchar(63), max_id bigint, step int, delta int, remainder int);
    INSERT INTO tiny_id_info VALUES ('tiny', 4000, 100, 1, 0);
    CREATE TABLE cosid (name varchar(100) PRIMARY KEY, last_max_id bigint); INSERT INTO cosid VALUES ('cos', 500);";

/// The four tables of an old program, `id << 2 | index`.
fn slot_tables() -> String {
    let one = |at: usize| {
        format!(
            "CREATE TABLE sto_code_{at} (id bigint AUTO_INCREMENT PRIMARY KEY, generate_time timestamp DEFAULT CURRENT_TIMESTAMP);
             INSERT INTO sto_code_{at} () VALUES (), (), ();"
        )
    };
    (0..4).map(one).collect()
}

/// Sequences, what the page says to do with N, and how the old program takes its next number then.
const BACK: [(&str, &str, &str); 5] = [
    (
        "block",
        "UPDATE sequence_value SET id = N",
        "UPDATE sequence_value SET id = id + 1; SELECT id FROM sequence_value",
    ),
    (
        "owned",
        "UPDATE rows_of SET current_value = N",
        "UPDATE rows_of SET current_value = current_value + 1; SELECT current_value FROM rows_of",
    ),
    // A block of Leaf begins at `max_id`, so that it is set above N.
    ("leaf", "UPDATE leaf_alloc SET max_id = N + 1", "SELECT max_id FROM leaf_alloc"),
    ("tiny", "UPDATE tiny_id_info SET max_id = N + 1", "SELECT max_id + 1 FROM tiny_id_info"),
    ("cos", "UPDATE cosid SET last_max_id = N + 1", "SELECT last_max_id + 1 FROM cosid"),
];

#[tokio::test(flavor = "multi_thread")]
async fn the_old_programs_of_each_shape_go_on_above_what_was_given() {
    let (db, redis, place) = (MariaDb::start().await, Redis::start().await, Place::new());
    db.sql(&format!("{TABLES}{}", slot_tables())).await;
    redis.ask(&["SET", "seq:r", "41"]).await;
    std::fs::write(place.path("my"), format!("mysql://root@{}/shop", db.address())).unwrap();
    std::fs::write(place.path("redis"), redis.url()).unwrap();
    let run = |args: &[&str]| tokio::task::block_in_place(|| place.run(args)).succeeded();
    run(&["import", "--source-file", &place.path("my").display().to_string(), "--yes"]);
    run(&[
        "import",
        "--source-file",
        &place.path("redis").display().to_string(),
        "--map",
        "seq:*=*",
        "--yes",
    ]);
    let take = |sequence: &str| tokio::task::block_in_place(|| take(&place, sequence));

    let last = |text: String| text.split_whitespace().last().unwrap().parse::<u64>().unwrap();
    for (sequence, back, next) in BACK {
        let number = take(sequence);
        db.sql(&format!("USE shop; {}", back.replace('N', &number.to_string()))).await;
        let goes_on = last(db.sql(&format!("USE shop; {next}")).await);
        assert!(goes_on > number, "{sequence}: {goes_on} after {number}");
    }
    let number = take("r");
    redis.ask(&["SET", "seq:r", &(number + 1).to_string()]).await;
    assert!(redis.ask(&["INCR", "seq:r"]).await.parse::<u64>().unwrap() > number);

    let number = take("sto");
    for at in 0..4 {
        let id = (number >> 2) + 1;
        db.sql(&format!("ALTER TABLE shop.sto_code_{at} AUTO_INCREMENT = {id}")).await;
        let inserted = format!("INSERT INTO shop.sto_code_{at} () VALUES (); SELECT LAST_INSERT_ID()");
        let goes_on = last(db.sql(&inserted).await) << 2 | at;
        assert!(goes_on > number, "table {at}: {goes_on} after {number}");
    }
}
