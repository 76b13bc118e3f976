//! Stores that forget, as slots of a ring: everything that makes them forget befalls them under load. No number comes
//! twice, no request fails, and each slot gives again afterwards, in a new life above its ceiling.

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use sequent_engine::{
    Engine, NextRequest, Options,
    config::{Config, Sources},
};
use sequent_testkit::{
    proxy::{Mode, Proxy},
    servers::{MariaDb, Memcached, Postgres, Redis},
};
use tempfile::TempDir;
use tokio::task::JoinHandle;

use crate::site::{PASSWORD, maria, open, password_file, postgres, redis_users, take};

/// Numbers of each request.
const COUNT: u64 = 25;
/// After so many numbers of a slot nothing is left of what was in memory when they were begun to be counted: more than two
/// servers may hold ready of all slots.
const MORE: u64 = 2_500;
/// How often it is looked whether they were given: two minutes at least.
const LOOKS_MAX: usize = 6_000;
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The slots, by their stores.
const REDIS_A: usize = 0;
const REDIS_B: usize = 1;
const CACHE: usize = 2;
const FILE: usize = 3;

/// Nothing is ever written to the disk.
const FORGETFUL: &[(&str, &str)] = &[("save", ""), ("appendonly", "no")];

/// The servers of a ring: two Redis, one memcached, one file, over a ledger on MariaDB.
struct Ring {
    a: Redis,
    b: Redis,
    cache: Memcached,
    ledger: MariaDb,
    folder: TempDir,
}

impl Ring {
    async fn start() -> Self {
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
    fn config(&self, has_file: bool) -> Config {
        let secret = format!("password_file = \"{}/password\"", self.folder.path().display());
        let mut text = "cluster = \"c\"\nauto_create = [\"*\"]\n[ring]\nshard_bits = 2\n".to_owned();
        for (slot, server) in [(REDIS_A, &self.a), (REDIS_B, &self.b)] {
            let url = format!("redis://sequent@{}/0", server.address());
            writeln!(text, "[[shard]]\nslot = {slot}\nstore = \"redis\"\nurl = \"{url}\"\n{secret}").unwrap();
        }
        let cache = self.cache.url();
        writeln!(text, "[[shard]]\nslot = {CACHE}\nstore = \"memcached\"\nurl = \"{cache}\"").unwrap();
        if has_file {
            writeln!(text, "[[shard]]\nslot = {FILE}\nstore = \"sqlite\"\npath = \"shard-3.db\"").unwrap();
        }
        let ledger = format!("mysql://sequent@{}/ledger", self.ledger.address());
        writeln!(text, "[ledger]\nstore = \"mysql\"\nurl = \"{ledger}\"\n{secret}").unwrap();
        let file = self.folder.path().join("sequent.toml");
        std::fs::write(&file, text).unwrap();
        let sources = Sources::embedded(self.folder.path().join("data")).file(file);
        // Small, so that the stores are asked again and again; what a busy machine makes slow is no failure here.
        let set = [
            ("ring.attempt_timeout_ms", "8000"),
            ("ring.slow_after_ms", "4000"),
            ("ring.rescue_after_max_s", "1"),
            ("limits.deadline_ms", "30000"),
            ("reservoir.at_risk_max", "512"),
            ("guard.ahead_s", "1"),
        ];
        let sources = set.iter().fold(sources, |sources, (key, value)| sources.flag(key, value));
        Config::load(&sources).unwrap()
    }
}

/// The slot that a number tells, in a ring of four with one number an id.
fn slot(number: u64) -> usize {
    usize::try_from((number + 3) & 3).unwrap()
}

/// What was given so far, to whomever.
#[derive(Default)]
struct Given {
    numbers: Mutex<BTreeSet<u64>>,
    of_slot: [AtomicU64; 4],
    stop: AtomicBool,
}

impl Given {
    fn add(&self, numbers: &[u64]) {
        let mut held = self.numbers.lock().unwrap();
        for number in numbers {
            assert!(held.insert(*number), "{number} was given twice");
            self.of_slot[slot(*number)].fetch_add(1, Ordering::Relaxed);
        }
    }

    fn of(&self, slot: usize) -> u64 {
        self.of_slot[slot].load(Ordering::Relaxed)
    }
}

/// Two servers over the ring, both under load all the time. A request that fails ends the test.
struct Load {
    engines: [Engine; 2],
    given: Arc<Given>,
    callers: Vec<JoinHandle<()>>,
}

impl Load {
    async fn on(config: &Config) -> Self {
        let (engines, given) = ([open(config).await, open(config).await], Arc::<Given>::default());
        let callers = engines.iter().map(|engine| {
            let (engine, given) = (engine.clone(), Arc::clone(&given));
            tokio::spawn(async move {
                while !given.stop.load(Ordering::Relaxed) {
                    given.add(&take(&engine, COUNT).await);
                }
            })
        });
        let callers = callers.collect();
        Self { engines, given, callers }
    }

    /// Waits until both servers have the slot in use, and it has given more than they can have had in memory.
    async fn gives(&self, slot: usize, after: &str) {
        self.has_given(slot, self.given.of(slot), after).await;
    }

    /// The same, counted from when it had given `before`.
    async fn has_given(&self, slot: usize, before: u64, after: &str) {
        for _ in 0..LOOKS_MAX {
            assert!(self.callers.iter().all(|caller| !caller.is_finished()), "a request failed: {after}");
            let is_live = self.engines.iter().all(|engine| engine.slots()[slot].state == "live");
            if is_live && self.given.of(slot) >= before + MORE {
                return;
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
        panic!("slot {slot} does not give, after {after}: {:?}", self.engines.each_ref().map(Engine::slots));
    }

    async fn end(self) {
        self.given.stop.store(true, Ordering::Relaxed);
        for caller in self.callers {
            caller.await.unwrap();
        }
        for engine in self.engines {
            engine.shutdown().await;
        }
    }
}

fn cell(slot: usize) -> String {
    format!("sequent/c/{slot}/cell/order")
}

/// The life of the cell, or nothing where there is none.
async fn life(server: &Redis, slot: usize) -> String {
    server.ask(&["HGET", &cell(slot), "life"]).await
}

/// The value of slot 0's cell.
async fn value(server: &Redis) -> u64 {
    server.ask(&["HGET", &cell(REDIS_A), "v"]).await.parse().unwrap()
}

/// Lets something befall the Redis in `slot`: the other slots go on, another life follows, and gives.
async fn befalls(load: &Load, server: &Redis, slot: usize, what: &str, deed: impl AsyncFnOnce(&Redis)) {
    let before = life(server, slot).await;
    assert!(!before.is_empty(), "before {what}");
    let given = [REDIS_A, REDIS_B, CACHE, FILE].map(|other| (other, load.given.of(other)));
    deed(server).await;
    for (other, given) in given.into_iter().filter(|(other, _)| *other != slot) {
        load.has_given(other, given, &format!("{what} of slot {slot}")).await;
    }
    load.gives(slot, what).await;
    let after = life(server, slot).await;
    assert!(!after.is_empty() && after != before, "after {what}: life {after}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redis_that_forgets_repeats_nothing_and_fails_nobody() {
    let ring = Ring::start().await;
    let load = Load::on(&ring.config(true)).await;
    for slot in [REDIS_A, REDIS_B, CACHE, FILE] {
        load.gives(slot, "the start").await;
    }
    befalls(&load, &ring.a, REDIS_A, "a kill without persistence", async |a| {
        a.kill().await;
        load.gives(REDIS_B, "the kill of another").await;
        a.restart().await;
    })
    .await;
    befalls(&load, &ring.a, REDIS_A, "FLUSHALL", async |a| drop(a.ask(&["FLUSHALL"]).await)).await;
    let name = cell(REDIS_B);
    befalls(&load, &ring.b, REDIS_B, "DEL", async |b| drop(b.ask(&["DEL", &name]).await)).await;
    befalls(&load, &ring.b, REDIS_B, "PEXPIRE", async |b| drop(b.ask(&["PEXPIRE", &name, "1"]).await)).await;
    // Only a little: nobody has seen more than what stands there but for the last take.
    befalls(&load, &ring.b, REDIS_B, "a value set lower", async |b| {
        b.ask(&["HINCRBY", &name, "v", "-1"]).await;
    })
    .await;
    befalls(&load, &ring.a, REDIS_A, "eviction", evict_everything).await;
    load.end().await;
}

/// Memory so short that everything goes, whatever is written; and then enough again.
async fn evict_everything(server: &Redis) {
    for (name, value) in [("maxmemory-policy", "allkeys-random"), ("maxmemory", "1")] {
        server.ask(&["CONFIG", "SET", name, value]).await;
    }
    for _ in 0..LOOKS_MAX {
        // Whatever it answers: each write makes room first.
        let _ = server.try_ask(&["SET", "a", "b"]).await;
        if server.ask(&["EXISTS", &cell(REDIS_A)]).await == "0" {
            server.ask(&["CONFIG", "SET", "maxmemory", "0"]).await;
            return;
        }
    }
    panic!("nothing was evicted");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replica_promoted_without_the_last_writes_repeats_nothing() {
    let ring = Ring::start().await;
    let (replica, wire) = (Redis::start_with(FORGETFUL).await, Proxy::to(ring.a.address()).await);
    redis_users(&replica, "c").await;
    let load = Load::on(&ring.config(true)).await;
    load.gives(REDIS_A, "the start").await;
    replica.ask(&["REPLICAOF", "127.0.0.1", &wire.port().to_string()]).await;
    for _ in 0..LOOKS_MAX {
        if replica.ask(&["INFO", "replication"]).await.contains("master_link_status:up") {
            break;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    // From here on it hears nothing more, while its primary gives on.
    wire.set(Mode::Hold).await;
    load.gives(REDIS_A, "the wire to its replica was cut").await;
    let (last, behind) = tokio::join!(value(&ring.a), value(&replica));
    assert!(behind < last, "the replica has {behind}, the primary {last}");
    assert_eq!(life(&replica, REDIS_A).await, life(&ring.a, REDIS_A).await, "in one life");
    let before = life(&replica, REDIS_A).await;
    ring.a.kill().await;
    for other in [REDIS_B, CACHE, FILE] {
        load.gives(other, "the kill of the primary").await;
    }
    replica.ask(&["REPLICAOF", "NO", "ONE"]).await;
    // The slot's address leads to it now.
    replica.ask(&["CONFIG", "SET", "port", &ring.a.port().to_string()]).await;
    load.gives(REDIS_A, "the promotion").await;
    load.end().await;
    // It is asked where the other one was.
    let (after, value) = (life(&ring.a, REDIS_A).await, value(&ring.a).await);
    assert!(after != before && value > last, "life {after} at {value} after life {before} at {last}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_memcached_that_forgets_repeats_nothing_and_fails_nobody() {
    let ring = Ring::start().await;
    let load = Load::on(&ring.config(true)).await;
    load.gives(CACHE, "the start").await;
    let evictions = async || {
        let stats = ring.cache.ask("stats").await;
        stats.lines().find(|line| line.starts_with("STAT evictions")).map(str::to_owned)
    };
    ring.cache.restart().await;
    load.gives(CACHE, "a restart").await;
    ring.cache.kill().await;
    load.gives(REDIS_A, "the kill of another").await;
    ring.cache.restart().await;
    load.gives(CACHE, "a kill").await;
    ring.cache.ask("flush_all").await;
    load.gives(CACHE, "flush_all").await;
    // Others fill it: what is not in use just then is pushed out.
    let before = evictions().await;
    for turn in 0..20_000 {
        let set = format!("ms foreign-{turn} 300\r\n{}", "x".repeat(300));
        assert_eq!(ring.cache.ask(&set).await, "HD");
    }
    load.gives(CACHE, "eviction").await;
    assert_ne!(evictions().await, before, "nothing was evicted");
    load.end().await;
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
    for _ in 0..LOOKS_MAX {
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
        let highest = numbers.iter().rev().find(|number| slot(**number) == at).copied().unwrap_or(0);
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
    let desk = sequent_engine::Desk::open(&config, &Options::default()).await.unwrap();
    let reports = desk.shards().await;
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
         [ledger]\nstore = \"postgres\"\nurl = \"postgres://seq@{}/seq\"\n{secret}\n",
        store.address(),
        ledger.address(),
    );
    let file = folder.path().join("sequent.toml");
    std::fs::write(&file, text).unwrap();
    let sources = Sources::embedded(folder.path().join("data")).file(file);
    let config = Config::load(&sources).unwrap();
    let refused = Engine::open(config, Options::default()).await.err().expect("refused");
    assert_eq!(refused.exit_code(), 3);
    for part in
        ["the ledger is volatile", "fsync=off", "every shard", "ring.allow_volatile = true is demanded"]
    {
        assert!(refused.to_string().contains(part), "{part:?} is not in {refused}");
    }
    let engine = open(&Config::load(&sources.flag("ring.allow_volatile", "true")).unwrap()).await;
    assert_eq!(take(&engine, 3).await, [1, 2, 3]);
    engine.shutdown().await;
}
