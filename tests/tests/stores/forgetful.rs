//! Everything that makes a store forget, under two real servers and load: one slot after the other, the others going on.
//! No number comes twice, no request fails, each event is told, and each slot gives again in a new epoch above its ceiling.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Instant,
};

use sequent_testkit::{
    proxy::{Mode, Proxy},
    servers::Redis,
};

use crate::{
    bits::Bits,
    load::{Load, until},
    server::Server,
    site::redis_users,
    tale::{Before, INSTANCE_CHANGED, STAMPED, Tale, WENT_BACK},
    volatile::{CACHE, FILE, FORGETFUL, REDIS_A, REDIS_B, Ring},
};

/// Items that fill memcached at a time.
const FILLING: u32 = 40_000;

/// How often that is done at most.
const FILLINGS_MAX: u32 = 50;

/// Two servers over the ring, both under load all the time.
struct Scene {
    // First: the servers go before their stores.
    servers: [Server; 2],
    load: Load,
    ring: Ring,
}

impl Scene {
    async fn start() -> Self {
        let ring = Ring::start().await;
        let text = ring.text(true);
        let servers = [Server::start(&text), Server::start(&text)];
        let load = Load::on(&servers, &Arc::<Bits>::default());
        let scene = Self { servers, load, ring };
        for slot in [REDIS_A, REDIS_B, CACHE, FILE] {
            scene.gives(slot, 0, "the start").await;
        }
        scene
    }

    async fn gives(&self, slot: usize, before: u64, after: &str) {
        self.load.gives(&self.servers, slot, before, after).await;
    }

    /// Until the other slots have given more than was ready, whatever is with this one.
    async fn others_go_on(&self, slot: usize, after: &str) {
        let given = [REDIS_A, REDIS_B, CACHE, FILE].map(|other| (other, self.load.of_slot(other)));
        for (other, given) in given.into_iter().filter(|(other, _)| *other != slot) {
            self.gives(other, given, after).await;
        }
    }

    /// Lets something befall a slot: it is told, the others go on, it gives again, and no request fails.
    async fn befalls(&self, slot: usize, what: &str, told: &[Tale], deed: impl AsyncFnOnce()) {
        let (after, begun) = (format!("{what} of slot {slot}"), Instant::now());
        let refused = self.load.refused.load(Ordering::Relaxed);
        let mut tales: Vec<Before> = Vec::new();
        for tale in told {
            tales.push(tale.of(&self.servers, slot).await);
        }
        deed().await;
        let given = self.load.of_slot(slot);
        self.others_go_on(slot, &after).await;
        for tale in tales {
            tale.is_told(&self.servers, &after).await;
        }
        self.gives(slot, given, &after).await;
        self.load.nobody_failed(refused, &after);
        println!("{after}: {:?}", begun.elapsed());
    }

    /// The same of a Redis, whose cell has another epoch afterwards.
    async fn redis(&self, slot: usize, what: &str, told: &[Tale], deed: impl AsyncFnOnce(&Redis)) {
        let server = if slot == REDIS_A { &self.ring.a } else { &self.ring.b };
        let before = epoch(server, slot).await;
        assert!(!before.is_empty(), "before {what}");
        self.befalls(slot, what, told, async || deed(server).await).await;
        let after = epoch(server, slot).await;
        assert!(!after.is_empty() && after != before, "after {what}: epoch {after}");
    }

    async fn end(mut self) {
        self.load.end().await;
        for server in &mut self.servers {
            assert_eq!(server.drain(), Some(0));
        }
    }
}

fn cell(slot: usize) -> String {
    format!("sequent/c/{slot}/cell/order")
}

/// The epoch of the cell, or nothing where there is none.
async fn epoch(server: &Redis, slot: usize) -> String {
    server.ask(&["HGET", &cell(slot), "epoch"]).await
}

async fn value(server: &Redis, slot: usize) -> u64 {
    server.ask(&["HGET", &cell(slot), "v"]).await.parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redis_that_forgets_repeats_nothing_fails_nobody_and_is_told() {
    let scene = Scene::start().await;
    let lost = [INSTANCE_CHANGED, STAMPED];
    scene
        .redis(REDIS_A, "a kill without persistence", &lost, async |a| {
            a.kill().await;
            scene.others_go_on(REDIS_A, "the kill").await;
            a.restart().await;
        })
        .await;
    scene.redis(REDIS_A, "FLUSHALL", &lost, async |a| drop(a.ask(&["FLUSHALL"]).await)).await;
    scene.redis(REDIS_A, "eviction", &lost, evict_everything).await;
    let name = cell(REDIS_B);
    scene.redis(REDIS_B, "DEL", &[WENT_BACK], async |b| drop(b.ask(&["DEL", &name]).await)).await;
    scene
        .redis(REDIS_B, "PEXPIRE", &[WENT_BACK], async |b| drop(b.ask(&["PEXPIRE", &name, "1"]).await))
        .await;
    // Only a little: nobody has seen more than what stands there but for the last take. The witness tells that a hand was
    // there, also where it was thorough.
    for fields in [&["v"][..], &["v", "w"]] {
        let deed = [&["EVAL", LOWER, "1", &name][..], fields].concat();
        scene.redis(REDIS_B, "a value set lower", &[WENT_BACK], async |b| drop(b.ask(&deed).await)).await;
    }
    scene
        .redis(REDIS_B, "an older copy of the cell", &[WENT_BACK], async |b| {
            b.ask(&["EVAL", COPY, "2", &name, "copy"]).await;
            let given = scene.load.of_slot(REDIS_B);
            scene.gives(REDIS_B, given, "the cell was copied").await;
            b.ask(&["EVAL", PUT_BACK, "2", &name, "copy"]).await;
        })
        .await;
    promoted(&scene).await;
    scene.end().await;
}

/// Sets fields of the hash `KEYS[1]` to one less than its value.
const LOWER: &str = "local v = string.format('%.0f', redis.call('HGET', KEYS[1], 'v') - 1)
    for _, field in ipairs(ARGV) do redis.call('HSET', KEYS[1], field, v) end";

/// Keeps a copy of `KEYS[1]` in `KEYS[2]`, and puts it in its place: an operator's `DUMP` and `RESTORE`.
const COPY: &str = "redis.call('SET', KEYS[2], redis.call('DUMP', KEYS[1]))";
const PUT_BACK: &str = "redis.call('RESTORE', KEYS[1], 0, redis.call('GET', KEYS[2]), 'REPLACE')";

/// Memory so short that everything goes, whatever is written; and then enough again.
async fn evict_everything(server: &Redis) {
    for (name, value) in [("maxmemory-policy", "allkeys-random"), ("maxmemory", "1")] {
        server.ask(&["CONFIG", "SET", name, value]).await;
    }
    until("everything is evicted", async || {
        // Whatever it answers: each write makes room first.
        let _ = server.try_ask(&["SET", "a", "b"]).await;
        server.ask(&["EXISTS", &cell(REDIS_A)]).await == "0"
    })
    .await;
    server.ask(&["CONFIG", "SET", "maxmemory", "0"]).await;
}

/// A replica without the last writes takes the place of its primary.
async fn promoted(scene: &Scene) {
    let (a, wire) = (&scene.ring.a, Proxy::to(scene.ring.a.address()).await);
    let replica = Redis::start_with(FORGETFUL).await;
    redis_users(&replica, "c").await;
    let given = scene.load.of_slot(REDIS_A);
    // It would wait for more replicas first.
    a.ask(&["CONFIG", "SET", "repl-diskless-sync-delay", "0"]).await;
    replica.ask(&["REPLICAOF", "127.0.0.1", &wire.port().to_string()]).await;
    until("the replica is filled", async || {
        replica.ask(&["INFO", "replication"]).await.contains("master_link_status:up")
    })
    .await;
    // From here on it hears nothing more, while its primary gives on.
    wire.set(Mode::Hold).await;
    scene.gives(REDIS_A, given, "a replica was filled").await;
    let given = scene.load.of_slot(REDIS_A);
    scene.gives(REDIS_A, given, "the wire to the replica was cut").await;
    let (last, behind) = tokio::join!(value(a, REDIS_A), value(&replica, REDIS_A));
    assert!(behind < last, "the replica has {behind}, the primary {last}");
    let before = epoch(&replica, REDIS_A).await;
    scene
        .befalls(REDIS_A, "a promotion", &[INSTANCE_CHANGED], async || {
            a.kill().await;
            scene.others_go_on(REDIS_A, "the kill of the primary").await;
            replica.ask(&["REPLICAOF", "NO", "ONE"]).await;
            // The slot's address leads to it now.
            replica.ask(&["CONFIG", "SET", "port", &a.port().to_string()]).await;
        })
        .await;
    // It is asked where the other one was.
    let (after, value) = (epoch(a, REDIS_A).await, value(a, REDIS_A).await);
    assert!(after != before && value > last, "epoch {after} at {value} after epoch {before} at {last}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_memcached_that_forgets_repeats_nothing_fails_nobody_and_is_told() {
    let scene = Scene::start().await;
    let (cache, lost) = (&scene.ring.cache, [INSTANCE_CHANGED, STAMPED]);
    scene.befalls(CACHE, "a restart", &lost, async || cache.restart().await).await;
    scene
        .befalls(CACHE, "a kill", &lost, async || {
            cache.kill().await;
            scene.others_go_on(CACHE, "the kill").await;
            cache.restart().await;
        })
        .await;
    scene.befalls(CACHE, "flush_all", &lost, async || drop(cache.ask("flush_all").await)).await;
    scene.befalls(CACHE, "others' items", &[], async || evict_under_load(&scene).await).await;
    scene.befalls(CACHE, "eviction", &lost, async || evict(&scene).await).await;
    scene.end().await;
}

/// Others fill it while requests go on: whatever is not in use at the moment goes.
async fn evict_under_load(scene: &Scene) {
    let evictions = async || {
        let stats = scene.ring.cache.ask("stats").await;
        let of = |line: &str| line.trim().strip_prefix("STAT evictions ")?.parse::<u64>().ok();
        stats.lines().find_map(of).unwrap()
    };
    let (begun, given) = (evictions().await, scene.load.given());
    // Others than those that come later.
    for filling in FILLINGS_MAX.. {
        scene.ring.cache.fill(filling * FILLING..(filling + 1) * FILLING).await;
        if evictions().await > begun + u64::from(FILLING) && scene.load.given() > given {
            return;
        }
        assert!(filling < 2 * FILLINGS_MAX, "nothing is evicted");
    }
}

/// Others fill it, between two takes: all requests stand still for so long.
async fn evict(scene: &Scene) {
    // Asked in a way that is no use of it.
    let is_gone = async |name: &str| scene.ring.cache.ask(&format!("me {name}")).await == "EN";
    let gone = async || is_gone(&cell(CACHE)).await && is_gone(&format!("sequent/c/{CACHE}/shard")).await;
    for server in &scene.servers {
        server.signal("STOP");
    }
    let mut fillings = 0;
    while !gone().await {
        assert!(fillings < FILLINGS_MAX, "cell and stamp are not evicted");
        scene.ring.cache.fill(fillings * FILLING..(fillings + 1) * FILLING).await;
        fillings += 1;
    }
    for server in &scene.servers {
        server.signal("CONT");
    }
}
