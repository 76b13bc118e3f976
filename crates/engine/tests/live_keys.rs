//! Many partitions in use at the same time, in real time: a second number of each, while the guard sends its heartbeat again and again. A
//! program of its own, since what shares its runtime would hold it up.

#![allow(clippy::unwrap_used, reason = "what fails here fails the test")]

use std::{sync::Arc, time::Duration};

use sequent_engine::{
    Engine, NextRequest, Options,
    config::{Config, Sources},
};
use tokio::{sync::Mutex, task::JoinSet};

const CONFIG: &str = "[ring]\nshard_bits = 1\nallow_volatile = true\n[ledger]\nstore = \"memory\"\n\
    [[shard]]\nslot = 0\nstore = \"memory\"\n[[shard]]\nslot = 1\nstore = \"memory\"\n\
    [limits]\nkeys_per_sequence_max = 1048576\n[[sequence]]\nname = \"repair\"\ntemplate = \"@{ctx,shop,len=6}-@{seq,w=5}\"\n";

/// Partitions of the test command; `SEQUENT_PARTITIONS` says how many there are before a release.
const PARTITIONS: usize = 10_000;

/// How many partitions are asked for at the same time.
const AT_ONCE: usize = 64;

/// Until all has been said, however slow the machine is.
const SAID_MAX: Duration = Duration::from_secs(60);

/// Two heartbeats, and some more: of counters that have nothing to say.
const REST: Duration = Duration::from_secs(5);

async fn opened() -> Engine {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sequent.toml");
    std::fs::write(&file, CONFIG).unwrap();
    let config = Config::load(&Sources::embedded(folder.path().join("data")).file(file)).unwrap();
    Engine::open(config, Options::default()).await.unwrap()
}

/// Asks each partition once; returns what was refused.
async fn ask_each(engine: &Engine, partitions: usize) -> Vec<String> {
    let (mut callers, refused) = (JoinSet::new(), Arc::new(Mutex::new(Vec::new())));
    for caller in 0..AT_ONCE {
        let (engine, refused) = (engine.clone(), Arc::clone(&refused));
        callers.spawn(async move {
            for partition in (caller..partitions).step_by(AT_ONCE) {
                let request = NextRequest::new("repair").unwrap().with("shop", format!("{partition:06}"));
                if let Err(error) = engine.next(&request).await {
                    refused.lock().await.push(format!("{partition:06}: {error}"));
                }
            }
        });
    }
    callers.join_all().await;
    std::mem::take(&mut *refused.lock().await)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_number_of_each_of_many_live_partitions_is_refused_to_nobody() {
    let said = std::env::var("SEQUENT_PARTITIONS").ok().and_then(|text| text.parse().ok());
    let partitions: usize = said.unwrap_or(PARTITIONS);
    let engine = opened().await;
    for round in ["first", "second", "third"] {
        let refused = ask_each(&engine, partitions).await;
        assert!(refused.is_empty(), "{} of the {round} numbers: {:?}", refused.len(), refused.first());
    }
    assert_eq!(engine.live_keys(), partitions);
    let said = tokio::time::timeout(SAID_MAX, async {
        while engine.reporting().0 > 0 {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    });
    assert!(said.await.is_ok(), "{} counters still have something to say", engine.reporting().0);
    let before = engine.reporting();
    tokio::time::sleep(REST).await;
    assert_eq!(
        engine.reporting(),
        before,
        "counters that had nothing to say were looked at, of {partitions} keys"
    );
    engine.shutdown().await;
}
