//! One server: a guard with its own task, its own wires, and a log of its events.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use sequent_core::{
    Entropy, Env, Event, Events, Key, MarkPlace, SlotIndex, Source, SourceError, Store,
    ledger::{Counter, LayoutRecord, Ledger},
};
use sequent_guard::{Guard, GuardConfig, Opening};
use tokio::task::JoinHandle;

use super::{World, key, numbers::Numbers, wire::Wire, wired::Wired};

/// How a server is opened.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setup {
    pub(crate) config: GuardConfig,
    pub(crate) embedded: bool,
    pub(crate) home: bool,
    pub(crate) raw_max: u64,
}

impl Default for Setup {
    fn default() -> Self {
        Self { config: GuardConfig::default(), embedded: false, home: true, raw_max: 1 << 40 }
    }
}

/// A server's wires: to the ledger, and to each slot's store.
#[derive(Debug, Clone)]
pub(crate) struct Wires {
    pub(crate) ledger: Arc<Wire>,
    pub(crate) stores: Vec<Arc<Wire>>,
}

/// The counters of a key, by slot.
type Counters = Vec<Option<Arc<dyn Source>>>;

/// A running server.
pub(crate) struct Server {
    pub(crate) guard: Arc<Guard>,
    /// Slots that could not be admitted at the opening.
    pub(crate) outside: Vec<(SlotIndex, SourceError)>,
    pub(crate) wires: Wires,
    name: &'static str,
    raw_max: u64,
    events: Arc<Mutex<Vec<Event>>>,
    numbers: Arc<Numbers>,
    sources: Mutex<BTreeMap<Key, Counters>>,
    run: JoinHandle<()>,
}

impl Wires {
    pub(crate) fn new(slots: usize) -> Self {
        Self { ledger: Arc::default(), stores: (0..slots).map(|_| Arc::default()).collect() }
    }
}

impl Server {
    pub(crate) async fn open(
        world: &World,
        name: &'static str,
        setup: Setup,
        wires: Wires,
    ) -> Result<Arc<Self>, SourceError> {
        let events: Arc<Mutex<Vec<Event>>> = Arc::default();
        let log = Arc::clone(&events);
        let entropy: Arc<dyn Entropy> = Arc::new(world.entropy.fork());
        let env = Env {
            clock: Arc::clone(&world.clock) as _,
            entropy,
            events: Events::to(move |event| {
                log.lock().unwrap_or_else(PoisonError::into_inner).push(event);
            }),
        };
        let (guard, outside) = Guard::open(opening(world, setup, &wires, env)).await?;
        let run = tokio::spawn(Arc::clone(&guard).run());
        let (numbers, sources) = (Arc::clone(&world.numbers), Mutex::default());
        let raw_max = setup.raw_max;
        Ok(Arc::new(Self { guard, outside, wires, name, raw_max, events, numbers, sources, run }))
    }

    /// Takes `want` ids of [`key`] from a slot, and notes them.
    pub(crate) async fn take(&self, slot: SlotIndex, want: u64) -> Result<Vec<u64>, SourceError> {
        self.take_of(&key(), slot, want).await
    }

    /// Takes `want` ids of a key from a slot, and notes them.
    pub(crate) async fn take_of(
        &self,
        key: &Key,
        slot: SlotIndex,
        want: u64,
    ) -> Result<Vec<u64>, SourceError> {
        let source = self.source(key, slot).await?;
        let blocks = source.take(want).await?;
        self.numbers.note(&Counter { slot, key: key.clone() }, &blocks, self.name);
        Ok(blocks.numbers().collect())
    }

    /// Takes one id after the other until one at or above `goal` came; returns it.
    pub(crate) async fn take_to(&self, slot: SlotIndex, goal: u64) -> u64 {
        loop {
            let id = self.take(slot, 1).await.unwrap()[0];
            if id >= goal {
                return id;
            }
        }
    }

    /// A counter as a source; the key's counters are opened once.
    pub(crate) async fn source(&self, key: &Key, slot: SlotIndex) -> Result<Arc<dyn Source>, SourceError> {
        let held = self.sources.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned();
        let sources = match held {
            Some(sources) => sources,
            None => self.guard.counters(key, self.raw_max).await?,
        };
        let source = sources[usize::from(slot)].clone().expect("a slot with a store");
        self.sources.lock().unwrap_or_else(PoisonError::into_inner).insert(key.clone(), sources);
        Ok(source)
    }

    /// Lets go of a key.
    pub(crate) fn drop_key(&self, key: &Key) {
        self.sources.lock().unwrap_or_else(PoisonError::into_inner).remove(key);
    }

    /// What happened so far.
    pub(crate) fn events(&self) -> Vec<Event> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many events were of this kind.
    pub(crate) fn count(&self, kind: impl Fn(&Event) -> bool) -> usize {
        self.events().iter().filter(|event| kind(event)).count()
    }

    /// Long enough for one heartbeat.
    pub(crate) async fn heartbeat(&self) {
        tokio::time::sleep(Duration::from_millis(2050)).await;
    }

    /// A clean stop.
    pub(crate) async fn stop(&self) {
        self.guard.close().await;
        self.run.abort();
    }

    /// `kill -9`: nothing is said to anybody any more.
    pub(crate) fn kill(&self) {
        self.run.abort();
        self.wires.ledger.cut();
        self.wires.stores.iter().for_each(|wire| wire.cut());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.run.abort();
    }
}

fn opening(world: &World, setup: Setup, wires: &Wires, env: Env) -> Opening {
    let store = |(slot, inner): (SlotIndex, &super::MemoryStore)| {
        let wire = Arc::clone(&wires.stores[usize::from(slot)]);
        (slot, Arc::new(Wired { wire, inner: inner.clone() }) as Arc<dyn Store>)
    };
    let ledger = Wired { wire: Arc::clone(&wires.ledger), inner: world.ledger.clone() };
    Opening {
        ledger: Arc::new(ledger) as Arc<dyn Ledger>,
        shards: (0..).zip(&world.stores).map(store).collect(),
        first: LayoutRecord { cluster: "test".parse().unwrap(), layout: world.layout(), generation: 1 },
        home: setup.home.then(|| Arc::clone(&world.home) as Arc<dyn MarkPlace>),
        embedded: setup.embedded,
        config: setup.config,
        env,
        rules: world.rules,
    }
}
