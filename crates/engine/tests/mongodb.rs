//! Clusters with shards on MongoDB, or rather on doubles of it: there is no server to be had.
#![cfg(feature = "full")]
#![allow(clippy::unwrap_used, reason = "a test that can't go on has failed")]

use sequent_engine::ClusterHandle;
use sequent_engine::{
    Engine, NextRequest, Options,
    config::{Config, Sources},
};
use sequent_testkit::{Oracle, mongo::MongoDouble};
use tempfile::TempDir;

/// Two slots on doubles, and a ledger in a file.
struct Site {
    doubles: [MongoDouble; 2],
    folder: TempDir,
}

impl Site {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("password"), format!("{}\n", MongoDouble::PASSWORD)).unwrap();
        Self { doubles: [MongoDouble::start(), MongoDouble::start()], folder }
    }

    fn sources(&self, more: &str) -> Sources {
        let folder = self.folder.path().display();
        let shard = |slot: usize| {
            let place = format!("127.0.0.1:{}/{}", self.doubles[slot].port(), MongoDouble::DATABASE);
            format!(
                "[[shard]]\nslot = {slot}\nstore = \"mongodb\"\nurl = \"mongodb://{}@{place}\"\n\
                 password_file = \"{folder}/password\"\n",
                MongoDouble::USER
            )
        };
        let text = format!(
            "cluster = \"c\"\nauto_create = [\"*\"]\n[ring]\nshard_bits = 1\nrescue_after_ms = 10\nrescue_after_max_s = 1\n\
             [ledger]\nsingle_server = true\n{}{}{more}",
            shard(0),
            shard(1)
        );
        let file = self.folder.path().join("sequent.toml");
        std::fs::write(&file, text).unwrap();
        // A test's machine may be busy: what is tested is not how fast it answers.
        let sources = Sources::embedded(self.folder.path().join("data")).file(file);
        let sources = sources.flag("ring.attempt_timeout_ms", "8000").flag("ring.slow_after_ms", "8000");
        sources.flag("limits.deadline_ms", "30000")
    }

    async fn open(&self) -> Engine {
        Engine::open(Config::load(&self.sources("")).unwrap(), Options::default()).await.unwrap()
    }
}

/// Takes numbers of `order`, one after the other; no request may fail, and none may come twice.
async fn take(engine: &Engine, oracle: &Oracle, count: u64) {
    for _ in 0..count {
        let issued = engine.next(&NextRequest::new("order").unwrap().count(7)).await;
        let issued = issued.unwrap_or_else(|error| panic!("a request failed: {error} {error:?}"));
        for number in issued.numbers.numbers() {
            oracle.add(number, "a request").unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn doubles_that_are_killed_and_put_back_repeat_nothing() {
    let (site, oracle) = (Site::start(), Oracle::new());
    let engine = site.open().await;
    take(&engine, &oracle, 50).await;
    let copies = site.doubles.each_ref().map(MongoDouble::copy);
    take(&engine, &oracle, 200).await;
    for (double, copy) in site.doubles.iter().zip(&copies) {
        double.kill();
        take(&engine, &oracle, 100).await;
        double.restore(copy);
        take(&engine, &oracle, 100).await;
    }
    engine.shutdown().await;
    let engine = site.open().await;
    take(&engine, &oracle, 50).await;
    engine.shutdown().await;
}

#[tokio::test]
async fn shards_are_listed_without_their_secret() {
    let site = Site::start();
    site.open().await.shutdown().await;
    let config = Config::load(&site.sources("")).unwrap();
    let shards = ClusterHandle::open(&config, &Options::default()).await.unwrap().shards().await;
    let said = format!("{shards:?}");
    assert!(said.contains("mongodb://seq@127.0.0.1") && said.contains("MongoDB 7.0-double"), "{said}");
    assert!(said.contains("durable") && !said.contains(MongoDouble::PASSWORD), "{said}");
}

#[test]
fn faults_of_the_table_name_key_and_bound() {
    let site = Site::start();
    let faults = |more: &str| {
        let found = Config::load(&site.sources(more)).unwrap_err().0;
        found.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    // What follows belongs to the last shard.
    let found = faults("tls = \"prefer\"\nconnections_max = 65\nschema = \"s\"\n");
    for start in [
        "shard[1].tls is \"prefer\": ",
        "shard[1].connections_max is 65: 1 to 64 are allowed",
        "shard[1].schema is ",
    ] {
        let is_it = |fault: &String| fault.contains(&format!(": {start}"));
        assert!(found.iter().any(is_it), "{start}: {found:#?}");
    }
    assert_eq!(found.len(), 3, "{found:#?}");
    let found = faults("[[shard]]\nslot = 1\nstore = \"mongodb\"\nurl = \"mongodb://u:s3cret@h/d?w=1\"\n");
    assert!(found.iter().any(|fault| fault.contains(": shard[2].url is ")), "{found:#?}");
    assert!(!found.concat().contains("s3cret"), "{found:#?}");
}
