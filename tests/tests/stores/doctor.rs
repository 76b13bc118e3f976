//! `sequent doctor` on real servers: sound ones with the book's grants, careless ones, and what was touched by hand.

use std::{fmt::Write as _, path::Path};

use sequent_admin::{
    Admin,
    doctor::{self, Checkup, Kind, Severity, Site},
};
use sequent_engine::{
    NextRequest, Options,
    config::{Config, Sources},
};
use sequent_testkit::servers::{MariaDb, Memcached, Postgres, Redis};
use tempfile::TempDir;

use crate::site::{maria, open, password_file, postgres, redis_users, take};

/// Numbers of each request.
const COUNT: u64 = 25;

/// A cluster of these shards and this ledger, each a table of TOML; what a busy machine makes slow is no failure here.
fn config(folder: &Path, bits: u8, shards: &[String], ledger: &str) -> Config {
    let mut text = format!("cluster = \"c\"\nauto_create = [\"*\"]\n[ring]\nshard_bits = {bits}\n");
    for (slot, shard) in shards.iter().enumerate() {
        writeln!(text, "[[shard]]\nslot = {slot}\n{shard}").unwrap();
    }
    writeln!(text, "[ledger]\n{ledger}").unwrap();
    let file = folder.join("sequent.toml");
    std::fs::write(&file, text).unwrap();
    let set = [
        // Two servers that come to a counter at once may wait so long for each other.
        ("ring.attempt_timeout_ms", "3000"),
        ("ring.slow_after_ms", "2000"),
        ("ring.rescue_after_max_s", "1"),
        ("limits.deadline_ms", "30000"),
        ("reservoir.at_risk_max", "512"),
        ("ledger.outage_s", "1"),
    ];
    let sources = Sources::embedded(folder.join("data")).file(file);
    Config::load(&set.iter().fold(sources, |sources, (key, value)| sources.flag(key, value))).unwrap()
}

async fn examine(config: &Config) -> Checkup {
    doctor::examine(config, &Options::default()).await.unwrap()
}

/// Each finding at a place, as `severity found`.
fn found(checkup: &Checkup, place: Site) -> Vec<String> {
    let of = checkup.findings.iter().filter(|finding| finding.place == place);
    of.map(|finding| format!("{} {}", finding.severity.as_str(), finding.found)).collect()
}

/// That a finding at a place begins with `start`.
fn says(checkup: &Checkup, place: Site, start: &str) {
    let found = found(checkup, place);
    assert!(found.iter().any(|found| found.starts_with(start)), "{start:?} is not in {found:#?}");
}

fn class(checkup: &Checkup, place: Site) -> &'static str {
    checkup.places.iter().find(|report| report.place == place).unwrap().durability.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn on_sound_servers_with_the_books_grants_nothing_is_found() {
    let (server, other) = tokio::join!(MariaDb::start(), Postgres::start());
    for (database, kind) in
        [("shard0", "mysql-row"), ("shard1", "mysql-auto-increment"), ("ledger", "ledger")]
    {
        maria(&server, database, kind).await;
    }
    postgres(&other).await;
    let folder = tempfile::tempdir().unwrap();
    let secret = password_file(folder.path(), "password");
    let place = |store: &str, url: String| {
        format!("store = \"{store}\"\nurl = \"{url}\"\npassword_file = \"{}\"", secret.display())
    };
    let mysql = |database: &str| format!("mysql://sequent@{}/{database}", server.address());
    let shards = [
        place("mysql-row", mysql("shard0")),
        place("mysql-auto-increment", mysql("shard1")),
        place("postgres-row", format!("postgres://seq@{}/seq", other.address())),
    ];
    let config = config(folder.path(), 2, &shards, &place("mysql", mysql("ledger")));
    let engine = open(&config).await;
    for _ in 0..20 {
        take(&engine, COUNT).await;
    }
    let checkup = examine(&config).await;
    assert_eq!((checkup.findings.len(), checkup.places.len()), (0, 4), "{checkup:#?}");
    let well = "1 of 1 counters are under their ceilings, and above what was given".to_owned();
    assert!(checkup.places[1..].iter().all(|place| place.fine.contains(&well)), "{checkup:#?}");
    engine.shutdown().await;
    // What a person may have done meanwhile.
    server.sql("GRANT DROP ON shard0.* TO 'sequent'@'%'; SET GLOBAL auto_increment_increment = 2").await;
    server.sql("REVOKE DELETE ON shard1.* FROM 'sequent'@'%'").await;
    other.sql("ALTER ROLE seq CREATEDB").await;
    let checkup = examine(&config).await;
    says(
        &checkup,
        Site::Slot(0),
        "warning grants is DROP on `shard0`.*, expected SELECT, INSERT, UPDATE, CREATE on shard0.*",
    );
    says(&checkup, Site::Slot(1), "error auto_increment_increment is 2, expected 1");
    says(&checkup, Site::Slot(1), "warning grants is none of DELETE");
    says(&checkup, Site::Slot(2), "warning role attributes is CREATEDB, expected LOGIN alone");
    assert_eq!(found(&checkup, Site::Slot(0)).len(), 1, "rows do not care for the increment: {checkup:#?}");
    let tables =
        server.sql("SELECT table_name FROM information_schema.tables WHERE table_schema = 'ledger'").await;
    for table in tables.split_whitespace() {
        server.sql(&format!("TRUNCATE ledger.{table}")).await;
    }
    emptied(&config).await;
    // Not even who it was is left there.
    server.sql("DROP DATABASE ledger; CREATE DATABASE ledger").await;
    emptied(&config).await;
}

/// That the ledger is told to be another one than the stores', and not a new one, whether its tables are empty or gone.
async fn emptied(config: &Config) {
    let start = "the ledger holds nothing, but stores bear stamps of cluster c and its ledger ";
    says(&examine(config).await, Site::Ledger, &format!("error {start}"));
    let refused = Admin::open(config, &Options::default()).await.err().unwrap();
    assert!(refused.exit_code() == 3 && !refused.to_string().contains("not been started"), "{refused}");
}

/// A ring of four kinds, none of them as it should be, whose ledger is a file.
struct Careless {
    redis: Redis,
    cache: Memcached,
    postgres: Postgres,
    _folder: TempDir,
    config: Config,
    /// The same with the stores of slots 0 and 1 in each other's place.
    swapped: Config,
}

impl Careless {
    async fn start() -> Self {
        let (redis, cache, server) = tokio::join!(
            Redis::start_with(&[
                ("save", ""),
                ("appendonly", "no"),
                ("maxmemory", "100mb"),
                ("maxmemory-policy", "allkeys-lru")
            ]),
            Memcached::start(),
            Postgres::start_with(&[("fsync", "off"), ("synchronous_commit", "off")]),
        );
        redis_users(&redis, "c").await;
        postgres(&server).await;
        let folder = tempfile::tempdir().unwrap();
        let secret = password_file(folder.path(), "password");
        let secret = format!("password_file = \"{}\"", secret.display());
        let mut shards = [
            format!("store = \"redis\"\nurl = \"redis://sequent@{}/0\"\n{secret}", redis.address()),
            format!("store = \"memcached\"\nurl = \"{}\"", cache.url()),
            format!("store = \"postgres-row\"\nurl = \"postgres://seq@{}/seq\"\n{secret}", server.address()),
            "store = \"sqlite\"\npath = \"shard-3.db\"".to_owned(),
        ];
        let ledger = "store = \"sqlite\"\nsingle_server = true";
        let own = config(folder.path(), 2, &shards, ledger);
        shards.swap(0, 1);
        let swapped = config(folder.path(), 2, &shards, ledger);
        Self { redis, cache, postgres: server, _folder: folder, config: own, swapped }
    }
}

fn cell(key: &str) -> String {
    format!("sequent/c/0/cell/{key}")
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_careless_or_was_touched_by_hand_is_found() {
    let ring = Careless::start().await;
    let engine = open(&ring.config).await;
    for name in ["order", "invoice"] {
        let request = NextRequest::new(name).unwrap().count(200);
        engine.next(&request).await.unwrap();
    }
    engine.shutdown().await;
    let checkup = examine(&ring.config).await;
    assert_eq!((checkup.errors, checkup.unreached.len()), (0, 0), "{checkup:#?}");
    let [redis, cache, postgres, file] = [0, 1, 2, 3].map(Site::Slot);
    says(&checkup, redis, "warning appendonly is no, expected yes");
    says(&checkup, redis, "warning maxmemory-policy is allkeys-lru, expected noeviction");
    says(&checkup, cache, "info memory: all that it has");
    says(&checkup, cache, "info evictions is on, 0 since its start, expected off");
    says(&checkup, postgres, "warning fsync is off, expected on");
    assert_eq!([redis, cache, postgres].map(|place| class(&checkup, place)), ["volatile"; 3]);
    assert_eq!(found(&checkup, file), [""; 0]);
    let whole = ring.redis.ask(&["DBSIZE"]).await;
    let checkup = examine(&ring.swapped).await;
    for (slot, other) in [(0, 1), (1, 0)] {
        let there = format!("error the database holds the store of slot {other}, and nothing of slot {slot}");
        says(&checkup, Site::Slot(slot), &there);
    }
    assert_eq!(checkup.errors, 2, "{checkup:#?}");
    let name = cell("order");
    ring.redis.ask(&["HSET", &name, "v", "3"]).await;
    ring.redis.ask(&["PEXPIRE", &cell("invoice"), "600000"]).await;
    ring.redis.ask(&["CONFIG", "SET", "appendonly", "yes"]).await;
    let checkup = examine(&ring.config).await;
    says(&checkup, redis, "error counter order: it goes on above 3, but ");
    says(&checkup, redis, "warning counter invoice: its cell has a time to live: ");
    says(&checkup, redis, "warning appendfsync is everysec, expected always");
    let back = checkup.findings.iter().find(|finding| finding.severity == Severity::Error).unwrap();
    assert_eq!((back.kind, &back.keys), (Kind::CounterBehind, &vec!["order".to_owned()]));
    assert_eq!(ring.redis.ask(&["DBSIZE"]).await, whole, "a look leaves nothing there");
    ring.redis.ask(&["FLUSHALL"]).await;
    ring.postgres.kill().await;
    let checkup = examine(&ring.config).await;
    says(&checkup, redis, "warning it is empty and has no stamp");
    says(&checkup, redis, "info 2 counters (invoice, order); of the first: it has no cell");
    assert_eq!(checkup.unreached, [postgres]);
    says(&checkup, postgres, "warning unavailable: ");
    assert_eq!(ring.redis.ask(&["DBSIZE"]).await, "0", "a look leaves nothing there");
    assert!(ring.cache.ask("stats").await.contains("STAT cmd_set "), "it is there");
}
