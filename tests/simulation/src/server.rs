//! One simulated server: the real guard, ring, expansion, span and reservoir over simulated wires.

use std::{sync::Arc, time::Duration};

use sequent_backend::memory::MemoryStore;
use sequent_buffer::{BitExpansion, RangeMapping, Reservoir, ReservoirConfig, Spawner};
use sequent_core::{
    Blocks, BoxFuture, Clock, Entropy, Env, Events, Key, Layout, MarkPlace, SlotIndex, Source, SourceError,
    Span, Store,
    ledger::{Counter, LayoutRecord, Ledger},
};
use sequent_guard::{Guard, GuardConfig, Opening};
use sequent_ha::{Ring, RingConfig};
use sequent_testkit::SeededEntropy;
use tokio::task::JoinSet;

use crate::{
    home::Home,
    ledger::SimLedger,
    network::{Network, Switches},
    scenario::Scenario,
    store::SimStore,
    world::World,
};

/// How long a caller waits for a number.
const PATIENCE: Duration = Duration::from_millis(1500);

/// A running server and its callers. Dropping it ends its callers; [`Switches::kill`] ends what it asks.
pub(crate) struct Server {
    /// Its name in reports.
    pub(crate) name: usize,
    /// Its lines.
    pub(crate) switches: Arc<Switches>,
    /// Its guard, once it is open.
    pub(crate) guard: Arc<Guard>,
    tasks: JoinSet<()>,
}

/// The guard's end of one counter, with every id that leaves written down.
struct Watched {
    counter: Counter,
    server: usize,
    inner: Arc<dyn Source>,
    switches: Arc<Switches>,
    world: Arc<World>,
}

impl Source for Watched {
    fn take(&self, want: u64) -> BoxFuture<'_, Result<Blocks, SourceError>> {
        Box::pin(async move {
            let blocks = self.inner.take(want).await?;
            if !self.switches.is_dead() {
                let mut truth = self.world.truth();
                blocks
                    .as_slice()
                    .iter()
                    .for_each(|block| truth.block_left(self.server, &self.counter, *block));
            }
            Ok(blocks)
        })
    }

    fn lift(&self, floor: u64) -> BoxFuture<'_, Result<(), SourceError>> {
        self.inner.lift(floor)
    }

    fn position(&self) -> Option<u64> {
        self.inner.position()
    }
}

impl Server {
    /// Opens a server over the world, or says why it can't.
    pub(crate) async fn open(
        name: usize,
        world: &Arc<World>,
        scenario: &Scenario,
        home: Home,
        dice: &SeededEntropy,
    ) -> Result<Self, SourceError> {
        let network = Network::new(dice.fork(), scenario.trouble, Arc::clone(&world.calm));
        let switches = Arc::clone(&network.switches);
        let noted = Arc::clone(world);
        let events = Events::to(move |event| noted.note(format_args!("server {name}: {event:?}")));
        let clock: Arc<dyn Clock> = Arc::clone(&world.clock) as Arc<dyn Clock>;
        let entropy: Arc<dyn Entropy> = Arc::new(dice.fork());
        let env = Env { clock, entropy, events };
        let layout = Layout::new(scenario.shard_bits, scenario.memory_bits).map_err(refused)?;

        let sim = |(slot, store): (SlotIndex, &MemoryStore)| {
            Some(Arc::new(SimStore::new(slot, store.clone(), network.clone())) as Arc<dyn Store>)
        };
        let ring_config = RingConfig { rescue_after_max: Duration::from_secs(2), ..RingConfig::default() };
        let stores = world.ring(layout.slots());
        let ring = Ring::new(layout, (0..).zip(&stores).map(sim).collect(), ring_config, env.clone());
        let opening = Opening {
            ledger: Arc::new(SimLedger::new(world.ledger.clone(), network.clone())) as Arc<dyn Ledger>,
            shards: (0..layout.slots()).filter_map(|slot| Some((slot, ring.store(slot)?))).collect(),
            first: LayoutRecord { cluster: "sim".parse().map_err(refused)?, layout, generation: 1 },
            home: Some(Arc::new(home) as Arc<dyn MarkPlace>),
            embedded: false,
            config: GuardConfig { outage: scenario.outage, ..GuardConfig::default() },
            env: env.clone(),
            rules: scenario.rules,
        };
        let (guard, outside) = Guard::open(opening).await?;
        for (slot, error) in &outside {
            ring.exclude(*slot, error);
        }
        let mut tasks = JoinSet::new();
        tasks.spawn(Arc::clone(&guard).run());
        tasks.spawn(ring.run());
        let mut server = Self { name, switches, guard, tasks };
        for key in &world.keys {
            server.serve(world, &ring, layout, key, &env, dice);
        }
        Ok(server)
    }

    fn serve(
        &mut self,
        world: &Arc<World>,
        ring: &Arc<Ring>,
        layout: Layout,
        key: &Key,
        env: &Env,
        dice: &SeededEntropy,
    ) {
        let caller = Caller {
            name: self.name,
            world: Arc::clone(world),
            switches: Arc::clone(&self.switches),
            guard: Arc::clone(&self.guard),
            ring: Arc::clone(ring),
            layout,
            key: key.clone(),
            env: env.clone(),
            dice: dice.fork(),
        };
        self.tasks.spawn(caller.run());
    }

    /// Stops in order: what it holds is burnt, and the guard sends its last heartbeat.
    pub(crate) async fn stop(mut self) {
        self.guard.close().await;
        self.switches.kill();
        self.tasks.abort_all();
    }
}

fn refused(error: impl std::error::Error + Send + Sync + 'static) -> SourceError {
    SourceError::new(sequent_core::ErrorKind::Refused, "simulated server").because(error)
}

/// A service that takes numbers of one key, at its own pace.
struct Caller {
    name: usize,
    world: Arc<World>,
    switches: Arc<Switches>,
    guard: Arc<Guard>,
    ring: Arc<Ring>,
    layout: Layout,
    key: Key,
    env: Env,
    dice: SeededEntropy,
}

impl Caller {
    async fn run(self) {
        let reservoir = loop {
            match self.reservoir().await {
                Ok(reservoir) => break reservoir,
                Err(_) => tokio::time::sleep(Duration::from_millis(500)).await,
            }
        };
        loop {
            let deadline = self.env.clock.now() + PATIENCE;
            let count = 1 + self.dice.below(12);
            let taken = reservoir.take(count, Some(deadline)).await;
            self.switches.awake().await;
            if self.switches.is_dead() {
                return;
            }
            for block in taken.iter().flat_map(Blocks::as_slice) {
                self.world.truth().numbers_given(self.name, &self.key, *block);
            }
            tokio::time::sleep(Duration::from_millis(self.dice.below(300))).await;
        }
    }

    async fn reservoir(&self) -> Result<Reservoir, SourceError> {
        let span = Span::default();
        let counters = self.guard.counters(&self.key, span.raw_max(self.layout)).await?;
        let watched =
            (0..).zip(counters).map(|(slot, inner)| inner.map(|inner| self.watch(slot, inner))).collect();
        let ring = self.ring.source(self.key.clone(), watched);
        let expansion = Arc::new(BitExpansion::new(ring, self.layout));
        let spanned = Arc::new(RangeMapping::new(expansion, self.layout, span));
        let spawner: Spawner = Arc::new(|task| drop(tokio::spawn(task)));
        Ok(Reservoir::new(spanned, ReservoirConfig::default(), self.env.clone(), spawner))
    }

    fn watch(&self, slot: SlotIndex, inner: Arc<dyn Source>) -> Arc<dyn Source> {
        // A raw id of one layout is none of another.
        let counter = Counter { slot, key: self.key.in_generation(self.guard.layout().generation) };
        let (world, switches) = (Arc::clone(&self.world), Arc::clone(&self.switches));
        Arc::new(Watched { counter, server: self.name, inner, switches, world })
    }
}
