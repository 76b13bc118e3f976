//! Tests of the ring under paused time: scripted stores, a minimal guard over them, and an oracle of numbers.

mod cancel;
mod commands;
mod errors;
mod faults;
mod healthy;
mod late_blocks;
mod probes;
mod timeout_store;

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use sequent_core::{
    Block, Blocks, Cell, Durability, DurabilityClass, Entropy, Env, Epoch, ErrorKind, Event, Events,
    Inspection, InstanceId, Key, Layout, Reply, SlotIndex, Source, SourceError, Stamp, Store,
};
use sequent_testkit::{Act, Oracle, PausedClock, ScriptedSource, SeededEntropy};

use super::{Ring, source::RingSource};
use crate::{config::RingConfig, status::SlotState};

const MS: Duration = Duration::from_millis(1);

/// A jump that the minimal guard refuses.
const JUMP: u64 = 1 << 30;

/// A store whose takes and lifts follow a script.
struct ScriptedStore(Arc<ScriptedSource>);

impl Store for ScriptedStore {
    fn inspect(&self) -> Reply<'_, Inspection> {
        let durability = Durability { class: DurabilityClass::Durable, settings: Vec::new() };
        let inspection = Inspection {
            instance: InstanceId::new("one"),
            stamp: None,
            has_cells: false,
            durability,
            clock_ms: 0,
            version: "scripted".into(),
        };
        Box::pin(async move { Ok(inspection) })
    }

    fn stamp<'a>(&'a self, _: &'a InstanceId, _: Option<&'a Stamp>, _: &'a Stamp) -> Reply<'a, ()> {
        Box::pin(async { Err(SourceError::new(ErrorKind::Refused, "another stamp was found")) })
    }

    fn mark<'a>(&'a self, _: &'a InstanceId, version: u64) -> Reply<'a, u64> {
        Box::pin(async move { Ok(version) })
    }

    fn take<'a>(&'a self, _: Cell<'a>, _: Epoch, want: u64) -> Reply<'a, Block> {
        Box::pin(async move { Ok(self.0.take(want).await?.as_slice()[0]) })
    }

    fn close<'a>(&'a self, _: Cell<'a>, _: Epoch) -> Reply<'a, u64> {
        Box::pin(async { Ok(0) })
    }

    fn install<'a>(&'a self, _: Cell<'a>, _: Epoch, _: u64) -> Reply<'a, ()> {
        Box::pin(async { Ok(()) })
    }

    fn lift<'a>(&'a self, _: Cell<'a>, _: Epoch, floor: u64) -> Reply<'a, u64> {
        Box::pin(async move {
            self.0.lift(floor).await?;
            Ok(self.0.position().unwrap_or(floor))
        })
    }
}

/// As much of a guard as the ring can see: what goes backwards is `Regressed`, what runs away `Jumped`.
struct Counter {
    store: Arc<dyn Store>,
    key: Key,
    seen: Mutex<u64>,
}

impl Source for Counter {
    fn take(&self, want: u64) -> Reply<'_, Blocks> {
        Box::pin(async move {
            let (under, epoch) = (InstanceId::new("one"), Epoch::from_stored(1));
            let before = *self.seen.lock().unwrap();
            let block = self.store.take(Cell { key: &self.key, under: &under }, epoch, want).await?;
            if block.first() <= before {
                return Err(SourceError::new(ErrorKind::Regressed, "went backwards"));
            }
            if block.last() > before + JUMP {
                return Err(SourceError::new(ErrorKind::Jumped, "ran away"));
            }
            let mut seen = self.seen.lock().unwrap();
            *seen = block.last().max(*seen);
            Ok(block.into())
        })
    }

    fn lift(&self, floor: u64) -> Reply<'_, ()> {
        Box::pin(async move {
            let (under, epoch) = (InstanceId::new("one"), Epoch::from_stored(1));
            self.store.lift(Cell { key: &self.key, under: &under }, epoch, floor).await?;
            let mut seen = self.seen.lock().unwrap();
            *seen = floor.max(*seen);
            Ok(())
        })
    }

    fn position(&self) -> Option<u64> {
        Some(*self.seen.lock().unwrap())
    }
}

/// A ring of scripted stores, one key over it, and its events.
struct Fixture {
    ring: Arc<Ring>,
    layout: Layout,
    clock: Arc<PausedClock>,
    scripts: Vec<Arc<ScriptedSource>>,
    source: Arc<RingSource>,
    events: Arc<Mutex<Vec<Event>>>,
    oracle: Oracle,
}

impl Fixture {
    /// A ring of 2^n slots that give numbers.
    fn new(n: u8) -> Self {
        Self::seeded(n, 1)
    }

    fn seeded(n: u8, seed: u64) -> Self {
        let layout = Layout::new(n, 0).unwrap();
        let slots = usize::from(layout.slots());
        Self::of(n, (0..slots).map(|_| Some(ScriptedSource::giving())).collect(), SeededEntropy::new(seed))
    }

    /// A ring of slots with these scripts; `None` is an empty slot.
    fn of(n: u8, scripts: Vec<Option<ScriptedSource>>, entropy: SeededEntropy) -> Self {
        let layout = Layout::new(n, 0).unwrap();
        let clock = Arc::new(PausedClock::new());
        let events: Arc<Mutex<Vec<Event>>> = Arc::default();
        let sink = Arc::clone(&events);
        let entropy: Arc<dyn Entropy> = Arc::new(entropy);
        let env = Env {
            clock: clock.clone(),
            entropy,
            events: Events::to(move |event| sink.lock().unwrap().push(event)),
        };
        let has_store: Vec<bool> = scripts.iter().map(Option::is_some).collect();
        let scripts: Vec<Arc<ScriptedSource>> = scripts
            .into_iter()
            .map(|script| Arc::new(script.unwrap_or_else(ScriptedSource::giving)))
            .collect();
        let store = |(script, has): (&Arc<ScriptedSource>, &bool)| -> Option<Arc<dyn Store>> {
            has.then(|| Arc::new(ScriptedStore(Arc::clone(script))) as Arc<dyn Store>)
        };
        let stores = scripts.iter().zip(&has_store).map(store).collect();
        let ring = Ring::new(layout, stores, RingConfig::default(), env);
        let source = key_over(&ring, "order");
        Self { ring, layout, clock, scripts, source, events, oracle: Oracle::new() }
    }

    /// Takes within the time limit of a take, and adds the numbers to the oracle.
    async fn take(&self, want: u64) -> Result<Blocks, SourceError> {
        self.take_from(&self.source, want).await
    }

    async fn take_from(&self, source: &RingSource, want: u64) -> Result<Blocks, SourceError> {
        let config = RingConfig::default();
        // One more millisecond, since the timer counts in whole ones.
        let longest = config.slow_after + config.attempt_timeout + MS;
        let taken =
            tokio::time::timeout(longest, source.take(want)).await.expect("a take lasted too long")?;
        assert!(taken.count() >= 1 && taken.count() <= want, "{} of {want}", taken.count());
        assert!(taken.as_slice().is_sorted_by_key(Block::first));
        self.oracle.add_blocks(&taken, "the key").unwrap();
        Ok(taken)
    }

    async fn numbers(&self, want: u64) -> Vec<u64> {
        self.take(want).await.unwrap().numbers().collect()
    }

    fn state(&self, slot: SlotIndex) -> SlotState {
        self.ring.status()[usize::from(slot)].state
    }

    fn script(&self, slot: SlotIndex) -> &ScriptedSource {
        &self.scripts[usize::from(slot)]
    }

    fn has_event(&self, is_it: impl Fn(&Event) -> bool) -> bool {
        self.events.lock().unwrap().iter().any(is_it)
    }

    fn count_events(&self, is_it: impl Fn(&Event) -> bool) -> usize {
        self.events.lock().unwrap().iter().filter(|event| is_it(event)).count()
    }

    /// The raw ids that one slot has in some blocks.
    fn raws(&self, blocks: &Blocks, slot: SlotIndex) -> Vec<u64> {
        let decoded = blocks.numbers().map(|number| self.layout.decode(number));
        decoded.filter(|(_, of, _)| *of == slot).map(|(raw, ..)| raw).collect()
    }
}

/// A key over every slot of a ring, behind the minimal guard.
fn key_over(ring: &Arc<Ring>, name: &str) -> Arc<RingSource> {
    let key = Key::of(&name.parse().unwrap());
    let counter = |slot| {
        let store = ring.store(slot)?;
        Some(Arc::new(Counter { store, key: key.clone(), seen: Mutex::new(0) }) as Arc<dyn Source>)
    };
    ring.source(key.clone(), (0..ring.shared.layout.slots()).map(counter).collect())
}

async fn sleep_ms(ms: u64) {
    tokio::time::sleep(MS * u32::try_from(ms).unwrap()).await;
}

fn fails(kind: ErrorKind) -> Act {
    Act::Err(kind)
}
