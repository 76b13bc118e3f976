//! The pages of moving from other systems: each of their imports is run, on servers that hold what the page is about, as a user
//! who may only read.

use std::net::SocketAddr;

use sequent_testkit::servers::{MariaDb, Postgres, Redis};

use crate::place::Place;

/// The pages, with the server that each speaks of.
pub(super) const MYSQL: [&str; 3] = [
    include_str!("../../../docs/using/moving-from/mysql.md"),
    include_str!("../../../docs/using/moving-from/leaf-tinyid-cosid.md"),
    include_str!("../../../docs/using/moving-from/snowflake.md"),
];
pub(super) const POSTGRES: &str = include_str!("../../../docs/using/moving-from/postgres.md");
const REDIS: &str = include_str!("../../../docs/using/moving-from/redis.md");
const FILES: &str = include_str!("../../../docs/using/moving-from/mongodb.md");

const PASSWORD: &str = "geheim-of-a-page";

/// The imports in a page's blocks of commands.
fn imports(page: &str) -> Vec<Vec<String>> {
    let mut is_commands = false;
    let mut found = Vec::new();
    for line in page.lines().map(str::trim) {
        if line.starts_with("```") {
            is_commands = line == "```sh";
        } else if is_commands && let Some(args) = line.strip_prefix("sequent ") {
            found.push(words(args));
        }
    }
    assert!(!found.is_empty(), "the page has no import: {page}");
    found
}

/// The words of a command line, of which some are in single quotes.
fn words(line: &str) -> Vec<String> {
    let parts = line.split('\'').enumerate();
    let words = parts.flat_map(|(at, part)| match at % 2 {
        0 => part.split_whitespace().map(str::to_owned).collect(),
        _ => vec![part.to_owned()],
    });
    words.collect()
}

/// A new cluster, with the files that the pages name.
fn cluster() -> Place {
    let place = Place::new();
    for name in ["shop", "leaf"] {
        std::fs::write(place.path(&format!("{name}.password")), PASSWORD).unwrap();
    }
    std::fs::write(place.path("counters.csv"), "counter,last_number,step\norder,48231,1\n").unwrap();
    let document = "{\"collectionName\": \"user\", \"step\": 1, \"current\": 5}";
    std::fs::write(place.path("sequences.json"), document).unwrap();
    place
}

/// Runs a page's imports in turn, with the server at `address` in the place of the page's. Each that is carried out is another way,
/// and has a cluster of its own, which those after it see.
fn follow(page: &str, (host, address): (&str, SocketAddr)) {
    let mut place = cluster();
    for words in imports(page) {
        let words: Vec<String> = words.iter().map(|word| word.replace(host, &address.to_string())).collect();
        let args: Vec<&str> = words.iter().map(String::as_str).collect();
        if args.contains(&"--yes") {
            place = cluster();
        }
        let ran = tokio::task::block_in_place(|| place.run(&args));
        assert_eq!(ran.code, Some(0), "{args:?}: {ran:?}");
    }
    let listed = tokio::task::block_in_place(|| place.run(&["list"])).succeeded();
    assert!(listed.out.lines().count() > 1, "nothing was defined: {listed:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_imports_of_the_pages_about_mysql_run() {
    let db = MariaDb::start().await;
    for name in ["shop", "leaf"] {
        db.sql(&format!(
            "CREATE DATABASE {name}; CREATE USER {name}@'%' IDENTIFIED BY '{PASSWORD}'; GRANT SELECT ON {name}.* TO {name}@'%'"
        ))
        .await;
    }
    db.sql(
        "CREATE TABLE shop.sequence (seq_name varchar(200) PRIMARY KEY, current_value bigint, _increment int);
         INSERT INTO shop.sequence VALUES ('order', 7, 1);
         CREATE TABLE shop.orders (id bigint PRIMARY KEY); INSERT INTO shop.orders VALUES (7285947294720000000);
         CREATE TABLE leaf.leaf_alloc (biz_tag varchar(128) PRIMARY KEY, max_id bigint, step int);
         INSERT INTO leaf.leaf_alloc VALUES ('order', 2001, 2000);",
    )
    .await;
    for page in MYSQL {
        follow(page, ("db1", db.address()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_imports_of_the_page_about_postgres_run() {
    let db = Postgres::start().await;
    db.sql("CREATE DATABASE shop").await;
    db.sql(&format!("CREATE ROLE shop LOGIN PASSWORD '{PASSWORD}'; ALTER DATABASE shop OWNER TO shop;"))
        .await;
    let grant = |what| format!("GRANT SELECT ON ALL {what} IN SCHEMA public TO shop;");
    let rows = "CREATE TABLE orders (id bigserial); INSERT INTO orders VALUES (default), (default);";
    db.sql(&format!("\\c shop\n{rows} {} {}", grant("TABLES"), grant("SEQUENCES"))).await;
    follow(POSTGRES, ("db1", db.address()));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_imports_of_the_page_about_redis_run() {
    let redis = Redis::start().await;
    redis.ask(&["SET", "seq:order", "41"]).await;
    follow(REDIS, ("cache:6379", redis.address()));
    follow(FILES, ("cache:6379", redis.address()));
}
