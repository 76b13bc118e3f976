//! `sequent doctor` on real servers whose settings lose or forget, and what they then lose: no number twice all the same.

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use sequent_engine::{
    Engine, Options,
    config::{Config, Sources},
    doctor::{self, Checkup, Severity, Site},
};
use sequent_testkit::servers::{MariaDb, Memcached, Postgres, Redis};
use tempfile::TempDir;

use crate::site::{maria, open, password_file, postgres, redis_users, take};

/// Numbers of each request.
const COUNT: u64 = 25;
/// How many numbers are given between two kills.
const MORE: usize = 2_000;
/// How often it is looked whether they were given: two minutes at least.
const LOOKS_MAX: usize = 6_000;
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// How often a server is killed at most, until it has lost something.
const KILLS_MAX: usize = 5;

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
        ("ring.attempt_timeout_ms", "8000"),
        ("ring.slow_after_ms", "4000"),
        ("ring.rescue_after_max_s", "1"),
        ("limits.deadline_ms", "30000"),
        ("reservoir.at_risk_max", "512"),
        ("guard.ahead_s", "1"),
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

/// Two MariaDB shards that lose commits, by `innodb_flush_log_at_trx_commit`, and a ledger that does not.
struct Lossy {
    shards: [MariaDb; 2],
    _ledger: MariaDb,
    _folder: TempDir,
    config: Config,
}

impl Lossy {
    async fn start() -> Self {
        let flush = |value| MariaDb::start_with(value);
        let (zero, two, ledger) = tokio::join!(
            flush(&[("innodb-flush-log-at-trx-commit", "0")]),
            flush(&[("innodb-flush-log-at-trx-commit", "2")]),
            MariaDb::start(),
        );
        maria(&zero, "shard0", "mysql-row").await;
        maria(&two, "shard1", "mysql-row").await;
        maria(&ledger, "ledger", "ledger").await;
        let folder = tempfile::tempdir().unwrap();
        let secret = password_file(folder.path(), "password");
        let place = |store: &str, server: &MariaDb, database: &str| {
            let url = format!("mysql://sequent@{}/{database}", server.address());
            format!("store = \"{store}\"\nurl = \"{url}\"\npassword_file = \"{}\"", secret.display())
        };
        let shards = [place("mysql-row", &zero, "shard0"), place("mysql-row", &two, "shard1")];
        let config = config(folder.path(), 1, &shards, &place("mysql", &ledger, "ledger"));
        Self { shards: [zero, two], _ledger: ledger, _folder: folder, config }
    }

    async fn value(&self, slot: usize) -> u64 {
        let sql = format!("SELECT v FROM shard{slot}.sequent_cells WHERE k = 'order'");
        self.shards[slot].sql(&sql).await.trim().parse().unwrap()
    }
}

/// What was given so far.
#[derive(Default)]
struct Given {
    numbers: Mutex<BTreeSet<u64>>,
    stop: AtomicBool,
}

impl Given {
    fn add(&self, numbers: Vec<u64>) {
        let mut held = self.numbers.lock().unwrap();
        for number in numbers {
            assert!(held.insert(number), "{number} was given twice");
        }
    }

    /// The highest raw id of a slot, in a ring of two with one number an id.
    fn highest(&self, slot: usize) -> u64 {
        let held = self.numbers.lock().unwrap();
        held.iter()
            .rev()
            .map(|number| number + 1)
            .find(|encoded| encoded & 1 == slot as u64)
            .map_or(0, |encoded| encoded >> 1)
    }

    fn len(&self) -> usize {
        self.numbers.lock().unwrap().len()
    }
}

/// Until every engine has a slot in use, it has given more, and so many were given in all.
async fn more(engines: &[Engine], given: &Given, slot: usize) {
    let (highest, len) = (given.highest(slot), given.len());
    for _ in 0..LOOKS_MAX {
        let is_live = engines.iter().all(|engine| engine.slots()[slot].state == "live");
        if is_live && given.highest(slot) > highest && given.len() >= len + MORE {
            return;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    panic!("slot {slot} does not give: {:?}", engines.iter().map(Engine::slots).collect::<Vec<_>>());
}

fn load(engine: &Engine, given: &Arc<Given>) -> tokio::task::JoinHandle<()> {
    let (engine, given) = (engine.clone(), Arc::clone(given));
    tokio::spawn(async move {
        while !given.stop.load(Ordering::Relaxed) {
            given.add(take(&engine, COUNT).await);
        }
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mariadb_that_loses_commits_is_called_lossy_and_repeats_nothing_after_a_kill() {
    let ring = Lossy::start().await;
    let engines = [open(&ring.config).await, open(&ring.config).await];
    let given = Arc::<Given>::default();
    let callers = engines.each_ref().map(|engine| load(engine, &given));
    more(&engines, &given, 0).await;
    let checkup = examine(&ring.config).await;
    assert_eq!((checkup.errors, checkup.unreached.len()), (0, 0), "{checkup:#?}");
    for (slot, flush) in [(0, "0"), (1, "2")] {
        assert_eq!(class(&checkup, Site::Slot(slot)), "lossy");
        let text = format!("warning innodb_flush_log_at_trx_commit is {flush}, expected 1");
        assert!(found(&checkup, Site::Slot(slot)).contains(&text), "{checkup:#?}");
    }
    assert_eq!((class(&checkup, Site::Ledger), found(&checkup, Site::Ledger)), ("durable", vec![]));
    let mut lost = 0;
    for kill in 0..KILLS_MAX {
        for slot in [1, 0] {
            more(&engines, &given, slot).await;
            let before = ring.value(slot).await;
            ring.shards[slot].kill().await;
            ring.shards[slot].restart().await;
            let after = ring.value(slot).await;
            println!("kill {kill} of slot {slot}: its value was {before} at least, and is {after}");
            lost = lost.max(before.saturating_sub(after));
            more(&engines, &given, slot).await;
        }
        if lost > 0 {
            break;
        }
    }
    assert!(lost > 0, "no kill of {KILLS_MAX} lost a commit: nothing was proven");
    given.stop.store(true, Ordering::Relaxed);
    for caller in callers {
        caller.await.unwrap();
    }
    for engine in engines {
        engine.shutdown().await;
    }
    // Whoever only looks leaves no name for a run that nobody has spoken with.
    ring.shards[0].restart().await;
    let checkup = examine(&ring.config).await;
    assert_eq!(checkup.errors, 0, "{checkup:#?}");
    assert_eq!(ring.shards[0].sql("SELECT COUNT(*) FROM shard0.sequent_boot").await.trim(), "0");
}

#[tokio::test(flavor = "multi_thread")]
async fn on_sound_servers_with_the_readmes_grants_nothing_is_found() {
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
}

/// A ring of four kinds, none of them as it should be, whose ledger is a file.
struct Careless {
    redis: Redis,
    cache: Memcached,
    postgres: Postgres,
    _folder: TempDir,
    config: Config,
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
        let shards = [
            format!("store = \"redis\"\nurl = \"redis://sequent@{}/0\"\n{secret}", redis.address()),
            format!("store = \"memcached\"\nurl = \"{}\"", cache.url()),
            format!("store = \"postgres-row\"\nurl = \"postgres://seq@{}/seq\"\n{secret}", server.address()),
            "store = \"sqlite\"\npath = \"shard-3.db\"".to_owned(),
        ];
        let config = config(folder.path(), 2, &shards, "store = \"sqlite\"\nsingle_server = true");
        Self { redis, cache, postgres: server, _folder: folder, config }
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
        let request = sequent_engine::NextRequest::new(name).unwrap().count(200);
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
    let name = cell("order");
    ring.redis.ask(&["HSET", &name, "v", "3"]).await;
    ring.redis.ask(&["PEXPIRE", &cell("invoice"), "600000"]).await;
    ring.redis.ask(&["CONFIG", "SET", "appendonly", "yes"]).await;
    let checkup = examine(&ring.config).await;
    says(&checkup, redis, "error counter order: its value is 3, and ");
    says(&checkup, redis, "warning counter invoice: it has a time to live: ");
    says(&checkup, redis, "warning appendfsync is everysec, expected always");
    let back = checkup.findings.iter().find(|finding| finding.severity == Severity::Error).unwrap();
    assert_eq!((back.check, &back.keys), ("counter", &vec!["order".to_owned()]));
    assert_eq!(ring.redis.ask(&["DBSIZE"]).await, whole, "a look leaves nothing there");
    ring.redis.ask(&["FLUSHALL"]).await;
    ring.postgres.kill().await;
    let checkup = examine(&ring.config).await;
    says(&checkup, redis, "warning it is empty and bears no stamp");
    says(&checkup, redis, "info 2 counters (invoice, order); of the first: there is no cell of it");
    assert_eq!(checkup.unreached, [postgres]);
    says(&checkup, postgres, "warning unavailable: ");
    assert_eq!(ring.redis.ask(&["DBSIZE"]).await, "0", "a look leaves nothing there");
    assert!(ring.cache.ask("stats").await.contains("STAT cmd_set "), "it lives");
}
