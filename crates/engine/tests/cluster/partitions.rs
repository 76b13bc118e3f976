//! Bursts of callers at partitions that are new. In memory.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
    time::Duration,
};

use metrics_util::debugging::{DebugValue, DebuggingRecorder, Snapshotter};
use sequent_core::{Clock, Env, Event, Events, SystemClock};
use sequent_engine::{Engine, NextRequest, Options};
use sequent_testkit::PausedClock;
use tokio::{sync::Barrier, task::JoinSet};

use super::Place;

const CONFIG: &str = "[ring]\nshard_bits = 1\nallow_volatile = true\n[ledger]\nstore = \"memory\"\n\
    [[shard]]\nslot = 0\nstore = \"memory\"\n[[shard]]\nslot = 1\nstore = \"memory\"\n\
    [[sequence]]\nname = \"repair\"\ntemplate = \"@{ctx,shop,len=6}-@{seq,w=5}\"\n";

/// The slots of it.
const SLOTS: usize = 2;

/// Partitions that meet a burst, and the callers of each.
const BURSTS: usize = 8;
const CALLERS: usize = 128;

/// How long a caller waits on a machine that is busy with other things.
const PATIENCE: Duration = Duration::from_secs(120);

/// Epochs opened, by key.
type Epochs = Arc<Mutex<BTreeMap<String, usize>>>;

/// The text that a partition's next caller gets.
async fn next(engine: &Engine, partition: usize, clock: &dyn Clock) -> String {
    let request = NextRequest::new("repair").unwrap().with("shop", format!("{partition:06}"));
    let issued = engine.next(&request.deadline(clock.now() + PATIENCE)).await.unwrap();
    issued.dated.unwrap().texts.remove(0)
}

/// An engine that tells which epochs it opened.
async fn listened(place: &Place, clock: Arc<dyn Clock>) -> (Engine, Epochs) {
    let epochs = Epochs::default();
    let keep = Arc::clone(&epochs);
    let events = Events::to(move |event| {
        if let Event::EpochOpened { key, .. } = event {
            *keep.lock().unwrap().entry(key.to_string()).or_default() += 1;
        }
    });
    let options = Options { env: Env { events, clock, ..Env::default() }, ..Options::default() };
    (Engine::open(place.config(), options).await.unwrap(), epochs)
}

/// Many callers at each of some partitions that nobody has asked for before, all of them at the same time.
async fn burst(engine: &Engine, clock: Arc<dyn Clock>) {
    let (gate, mut callers) = (Arc::new(Barrier::new(BURSTS * CALLERS)), JoinSet::new());
    for caller in 0..BURSTS * CALLERS {
        let (engine, gate, clock) = (engine.clone(), Arc::clone(&gate), Arc::clone(&clock));
        callers.spawn(async move {
            gate.wait().await;
            next(&engine, caller % BURSTS, &*clock).await
        });
    }
    let texts = callers.join_all().await;
    let different: BTreeSet<&String> = texts.iter().collect();
    assert_eq!(different.len(), texts.len(), "a text twice");
}

fn each_was_made_once(epochs: &Epochs) {
    let epochs = epochs.lock().unwrap();
    assert_eq!(epochs.len(), BURSTS, "{epochs:?}");
    assert!(epochs.values().all(|count| *count == SLOTS), "a counter was made more than once: {epochs:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_burst_at_new_partitions_makes_each_counter_once() {
    let place = Place::with(CONFIG);
    let (engine, epochs) = listened(&place, Arc::new(SystemClock)).await;
    burst(&engine, Arc::new(SystemClock)).await;
    each_was_made_once(&epochs);
    assert_eq!(engine.live_keys(), BURSTS);
    engine.shutdown().await;
}

/// How often the ledger was asked since the last look, by the call's name.
fn calls(snapshots: &Snapshotter) -> BTreeMap<String, u64> {
    let mut calls = BTreeMap::new();
    for (key, .., value) in snapshots.snapshot().into_vec() {
        let key = key.key();
        let DebugValue::Counter(count) = value else { continue };
        let call = key.labels().find(|label| label.key() == "call");
        if let Some(call) = call.filter(|_| key.name() == "sequent_ledger_calls_total") {
            *calls.entry(call.value().to_owned()).or_default() += count;
        }
    }
    calls
}

/// With paused time and on one thread: nothing else asks the ledger meanwhile, and its calls are counted here alone.
#[tokio::test(start_paused = true)]
async fn a_burst_at_new_partitions_asks_the_ledger_once_for_each() {
    let recorder = DebuggingRecorder::new();
    let snapshots = recorder.snapshotter();
    let _counted = metrics::set_default_local_recorder(&recorder);
    let place = Place::with(CONFIG);
    let clock: Arc<dyn Clock> = Arc::new(PausedClock::new());
    let (engine, epochs) = listened(&place, Arc::clone(&clock)).await;
    calls(&snapshots);
    burst(&engine, clock).await;
    each_was_made_once(&epochs);
    let calls = calls(&snapshots);
    // The rows of a key together: that there is none yet the claim of each tells.
    assert_eq!(calls["read"], BURSTS as u64, "{calls:?}");
    assert!((1..=(BURSTS * SLOTS) as u64).contains(&calls["open"]), "{calls:?}");
    engine.shutdown().await;
}
