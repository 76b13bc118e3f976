//! Stores that forget, as slots of a ring, in one process: what they serve while the ledger is away, what is shown of them,
//! and what is refused at a start. What befalls them under real servers is in `forgetful`.

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use sequent_admin::Admin;
use sequent_engine::{
    NextRequest, Options,
    config::{Config, Sources},
};
use sequent_testkit::servers::{MariaDb, Memcached, Postgres, Redis};
use tempfile::TempDir;

use crate::{
    load::slot_of,
    place::Place,
    site::{PASSWORD, maria, open, password_file, postgres, redis_users, take},
};

/// Numbers of each request.
const COUNT: u64 = 25;

/// How many requests may be served before a ceiling is reached.
const REQUESTS_MAX: usize = 6_000;

/// The slots, by their stores.
pub(crate) const REDIS_A: usize = 0;
pub(crate) const REDIS_B: usize = 1;
pub(crate) const CACHE: usize = 2;
pub(crate) const FILE: usize = 3;

/// Nothing is ever written to the disk.
pub(crate) const FORGETFUL: &[(&str, &str)] = &[("save", ""), ("appendonly", "no")];

/// Small, so that the stores are asked again and again; what a busy machine makes slow is no failure here. A refill goes on soon
/// without a slot that is busy with a new epoch; and for an attempt's limit after an epoch was opened nobody ends it who is refused in it.
const SETTINGS: &str = "
cluster = \"c\"
auto_create = [\"*\"]
[ring]
shard_bits = 2
memory_bits = 0
attempt_timeout_ms = 4000
slow_after_ms = 2000
slow_limit = 1000
rescue_after_max_s = 1
[reservoir]
at_risk_max = 512
[limits]
deadline_ms = 30000
";

/// The servers of a ring: two Redis, one memcached, one file, over a ledger on MariaDB.
pub(crate) struct Ring {
    pub(crate) a: Redis,
    pub(crate) b: Redis,
    pub(crate) cache: Memcached,
    ledger: MariaDb,
    folder: TempDir,
}

impl Ring {
    pub(crate) async fn start() -> Self {
        let (a, b, cache, ledger) = tokio::join!(
            Redis::start_with(FORGETFUL),
            Redis::start_with(FORGETFUL),
            // As little memory as it starts with, so that it can be filled.
            Memcached::start_with(&[("memory-limit", "2")]),
            MariaDb::start(),
        );
        tokio::join!(redis_users(&a, "c"), redis_users(&b, "c"));
        maria(&ledger, "ledger", "ledger").await;
        let folder = tempfile::tempdir().unwrap();
        password_file(folder.path(), "password");
        Self { a, b, cache, ledger, folder }
    }

    /// All four slots, or those that forget alone.
    pub(crate) fn text(&self, has_file: bool) -> String {
        let folder = self.folder.path().display();
        let secret = format!("password_file = \"{folder}/password\"");
        let mut text = SETTINGS.to_owned();
        for (slot, server) in [(REDIS_A, &self.a), (REDIS_B, &self.b)] {
            let url = format!("redis://sequent@{}/0", server.address());
            writeln!(text, "[[shard]]\nslot = {slot}\nstore = \"redis\"\nurl = \"{url}\"\n{secret}").unwrap();
        }
        let cache = self.cache.url();
        writeln!(text, "[[shard]]\nslot = {CACHE}\nstore = \"memcached\"\nurl = \"{cache}\"").unwrap();
        if has_file {
            writeln!(text, "[[shard]]\nslot = {FILE}\nstore = \"sqlite\"\npath = \"{folder}/shard-3.db\"")
                .unwrap();
        }
        let ledger = format!("mysql://sequent@{}/ledger", self.ledger.address());
        writeln!(text, "[ledger]\noutage_s = 1\nstore = \"mysql\"\nurl = \"{ledger}\"\n{secret}").unwrap();
        text
    }

    fn config(&self, has_file: bool) -> Config {
        let file = self.folder.path().join("sequent.toml");
        std::fs::write(&file, self.text(has_file)).unwrap();
        Config::load(&Sources::embedded(self.folder.path().join("data")).file(file)).unwrap()
    }
}

/// What was given so far, to whomever.
#[derive(Default)]
struct Given {
    numbers: Mutex<BTreeSet<u64>>,
    of_slot: [AtomicU64; 4],
}

impl Given {
    fn add(&self, numbers: &[u64]) {
        let mut held = self.numbers.lock().unwrap();
        for number in numbers {
            assert!(held.insert(*number), "{number} was given twice");
            self.of_slot[slot_of(*number)].fetch_add(1, Ordering::Relaxed);
        }
    }

    fn of(&self, slot: usize) -> u64 {
        self.of_slot[slot].load(Ordering::Relaxed)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_ledger_what_forgets_serves_up_to_its_ceiling_and_not_beyond() {
    let ring = Ring::start().await;
    let config = ring.config(false);
    let engine = open(&config).await;
    let given = Given::default();
    // Permits and ceilings of all slots.
    for _ in 0..100 {
        given.add(&take(&engine, COUNT).await);
    }
    assert!([REDIS_A, REDIS_B, CACHE].iter().all(|slot| given.of(*slot) > 0), "each slot gives");
    ring.ledger.kill().await;
    let before = given.numbers.lock().unwrap().len();
    let request = NextRequest::new("order").unwrap().count(COUNT);
    let mut refused = None;
    for _ in 0..REQUESTS_MAX {
        match engine.next(&request).await {
            Ok(issued) => given.add(&issued.numbers.numbers().collect::<Vec<_>>()),
            Err(error) => {
                refused = Some(error.to_string());
                break;
            }
        }
    }
    let refused = refused.expect("a ceiling was passed, or is too far for this test");
    let without = given.numbers.lock().unwrap().len() - before;
    println!("{without} numbers without the ledger, then: {refused}");
    assert!(without > 0, "permits that were held serve on: {refused}");
    engine.shutdown().await;
    ring.ledger.restart().await;
    let rows = ring.ledger.sql("SELECT slot, MAX(ceiling) FROM ledger.sequent_counters GROUP BY slot").await;
    for row in rows.lines() {
        let (at, ceiling) = row.split_once('\t').unwrap();
        let (at, ceiling): (usize, u64) = (at.parse().unwrap(), ceiling.parse().unwrap());
        let numbers = given.numbers.lock().unwrap();
        let highest = numbers.iter().rev().find(|number| slot_of(**number) == at).copied().unwrap_or(0);
        assert!((highest + 3) >> 2 <= ceiling, "slot {at} gave {highest} above ceiling {ceiling}");
    }
    assert_eq!(rows.lines().count(), 3, "{rows}");
    let engine = open(&config).await;
    for _ in 0..50 {
        given.add(&take(&engine, COUNT).await);
    }
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_known_of_a_volatile_store_is_shown_without_its_secret() {
    let ring = Ring::start().await;
    let config = ring.config(true);
    let engine = open(&config).await;
    take(&engine, 1).await;
    engine.shutdown().await;
    let admin = Admin::open(&config, &Options::default()).await.unwrap();
    let reports = admin.cluster().shards().await;
    let kinds: Vec<&str> = reports.iter().map(|report| report.store).collect();
    assert_eq!(kinds, ["redis", "redis", "memcached", "sqlite"]);
    for report in &reports[..3] {
        assert_eq!(report.state, "open", "{report:?}");
        assert_eq!(report.found.as_ref().unwrap().durability, "volatile", "{report:?}");
    }
    let printed = format!("{reports:?} {config:?} {:?}", config.shown());
    assert!(printed.contains("redis://sequent@127.0.0.1:") && !printed.contains(PASSWORD), "{printed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ledger_that_forgets_over_shards_that_all_do_is_allowed_by_name_alone() {
    let (store, ledger) =
        tokio::join!(Redis::start_with(FORGETFUL), Postgres::start_with(&[("fsync", "off")]));
    tokio::join!(redis_users(&store, "c"), postgres(&ledger));
    let folder = tempfile::tempdir().unwrap();
    let secret = format!("password_file = \"{}\"", password_file(folder.path(), "password").display());
    let text = format!(
        "cluster = \"c\"\nauto_create = [\"*\"]\n[ring]\nshard_bits = 0\n\
         [[shard]]\nslot = 0\nstore = \"redis\"\nurl = \"redis://sequent@{}/0\"\n{secret}\n\
         [ledger]\noutage_s = 1\nstore = \"postgres\"\nurl = \"postgres://seq@{}/seq\"\n{secret}\n",
        store.address(),
        ledger.address(),
    );
    let file = folder.path().join("sequent.toml");
    std::fs::write(&file, text).unwrap();
    let (place, file) = (Place::new(), file.display().to_string());
    let next = |more: &[&str]| {
        let args = [&["next", "order", "-n", "3", "--config", &file], more].concat();
        tokio::task::block_in_place(|| place.run(&args))
    };
    let words =
        ["the ledger is volatile", "fsync=off", "every shard", "ring.allow_volatile = true is demanded"];
    next(&[]).refused(3, &words);
    assert_eq!(next(&["--set", "ring.allow_volatile=true"]).succeeded().numbers(), [1, 2, 3]);
    next(&[]).refused(3, &words);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ledger_in_a_file_under_network_stores_is_allowed_for_one_server_by_name_alone() {
    let store = Redis::start_with(FORGETFUL).await;
    redis_users(&store, "c").await;
    let place = Place::new();
    let secret = password_file(&place.path(""), "password").display().to_string();
    let shard = format!(
        "[[shard]]\nslot = 0\nstore = \"redis\"\nurl = \"redis://sequent@{}/0\"\npassword_file = \"{secret}\"\n",
        store.address()
    );
    let text = format!(
        "cluster = \"c\"\nauto_create = [\"*\"]\n[ring]\nshard_bits = 0\n{shard}[ledger]\noutage_s = 1\nstore = \"sqlite\"\n"
    );
    std::fs::write(place.path("sequent.toml"), text).unwrap();
    let next = |more: &[&str]| {
        let args = [&["next", "order", "--config", "sequent.toml"], more].concat();
        tokio::task::block_in_place(|| place.run(&args))
    };
    next(&[]).refused(3, &["ledger.single_server is false: true is demanded"]);
    assert_eq!(next(&["--set", "ledger.single_server=true"]).succeeded().numbers(), [1]);
}
