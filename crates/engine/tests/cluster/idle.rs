//! A key that nobody uses is dropped whole, and joins again. In memory, with paused time.

use std::{sync::Arc, time::Duration};

use sequent_core::Env;
use sequent_engine::{Engine, NextRequest, Options};
use sequent_testkit::{Oracle, PausedClock};

use super::Place;

const MEMORY: &str = "auto_create = [\"*\"]\n[ring]\nshard_bits = 1\nallow_volatile = true\n\
    [ledger]\nstore = \"memory\"\n\
    [[shard]]\nslot = 0\nstore = \"memory\"\n[[shard]]\nslot = 1\nstore = \"memory\"\n";

#[tokio::test(start_paused = true)]
async fn an_idle_key_is_dropped_and_joins_again() {
    let place = Place::with(MEMORY);
    let env = Env { clock: Arc::new(PausedClock::new()), ..Env::default() };
    let engine = Engine::open(place.config(), Options { env, ..Options::default() }).await.unwrap();
    let oracle = Oracle::new();
    let order = NextRequest::new("order").unwrap().count(3);
    let held = engine.reservoir(&"held".parse().unwrap()).await.unwrap();
    for _ in 0..2 {
        let issued = engine.next(&order).await.unwrap();
        oracle.add_blocks(&issued.numbers, "before").unwrap();
        let in_use =
            || async { engine.status().await.keys.into_iter().map(|key| key.key).collect::<Vec<_>>() };
        assert_eq!(in_use().await, ["held", "order"]);
        tokio::time::sleep(Duration::from_secs(500)).await;
        assert_eq!(in_use().await, ["held", "order"], "not idle for long enough");
        tokio::time::sleep(Duration::from_secs(200)).await;
        assert_eq!(in_use().await, ["held"], "a key that somebody holds is never idle");
    }
    let issued = engine.next(&order).await.unwrap();
    oracle.add_blocks(&issued.numbers, "after").unwrap();
    drop(held);
    engine.shutdown().await;
}
