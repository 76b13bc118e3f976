//! One seed of rings that change: layouts follow one another while servers sleep, crash and lose the ledger, stores are
//! away or forget, and whoever changes the ring is killed on the way. Numbers are compared over all layouts.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use sequent_core::{Clock, DurabilityClass, Env, Events, Layout, Rules, SlotIndex, Store};
use sequent_guard::{Placed, Resize};
use sequent_testkit::SeededEntropy;

use crate::{
    dice::index, home::Home, ledger::SimLedger, network::Network, run::Outcome, scenario::Scenario,
    server::Server, store::SimStore, world::World,
};

/// Stores that there are; a ring has some of them.
const STORES: SlotIndex = 5;

/// Things that happen in a seed.
const STEPS: usize = 14;

/// Servers at most, those of layouts before among them.
const SERVERS_MAX: usize = 4;

/// Servers of the layout in force that there shall be.
const SERVERS_MIN: usize = 2;

/// How often the last change is tried in the calm.
const CALM_TRIES_MAX: usize = 30;

/// Runs a seed.
pub fn run_resizing(seed: u64, rules: Rules) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    match runtime {
        Ok(runtime) => runtime.block_on(Changing::new(seed, rules).play()),
        Err(error) => Outcome::failed("resizing", format!("no runtime: {error}")),
    }
}

/// A change that is wished, until it is done.
struct Wish {
    layout: Layout,
    /// The store of each slot.
    order: Vec<usize>,
    generation: u64,
    /// How often it has failed.
    tries: usize,
}

struct Changing {
    scenario: Scenario,
    world: Arc<World>,
    dice: SeededEntropy,
    servers: Vec<Server>,
    /// The layout in force, as far as is known.
    layout: Layout,
    wish: Option<Wish>,
    named: usize,
}

impl Changing {
    fn new(seed: u64, rules: Rules) -> Self {
        let dice = SeededEntropy::new(seed);
        let class = if dice.chance(50) { DurabilityClass::Durable } else { DurabilityClass::Volatile };
        // Servers without the ledger soon come to their ceilings.
        let outage = Duration::from_secs(1);
        let scenario = Scenario { class, outage, rules, ..Scenario::plain("resizing", 10) };
        let world = Arc::new(World::new(STORES, class, rules, &dice));
        let layout = drawn(&dice);
        Self { scenario, world, dice, servers: Vec::new(), layout, wish: None, named: 0 }
    }

    async fn play(mut self) -> Outcome {
        for _ in 0..STEPS {
            self.open_missing().await;
            tokio::time::sleep(Duration::from_millis(self.dice.below(2_000))).await;
            self.step().await;
            if !self.world.truth().repeats.is_empty() {
                break;
            }
        }
        let stuck = if self.world.truth().repeats.is_empty() { self.calm_down().await } else { Vec::new() };
        let truth = self.world.truth();
        let (repeats, given) = (truth.repeats.clone(), truth.given());
        Outcome { scenario: self.scenario.name, repeats, stuck, given, report: truth.report() }
    }

    async fn step(&mut self) {
        match self.dice.below(10) {
            0..3 => self.change().await,
            3 => self.crash(),
            4 | 5 => self.sleep(),
            6 | 7 => self.cut(),
            8 => self.store_goes_away(),
            _ if self.scenario.class == DurabilityClass::Volatile => self.store_forgets(),
            _ => self.store_restarts(),
        }
    }

    /// The ring is changed, by somebody who may be killed on the way.
    async fn change(&mut self) {
        let generation = self.generation().await;
        if generation == 0 {
            // Nobody has founded it yet: a wish of now would pass for done once somebody has.
            return;
        }
        if self.wish.is_none() {
            let mut order = self.world.order().clone();
            if self.dice.chance(40) {
                order.rotate_left(index(&self.dice, usize::from(STORES)));
            }
            self.wish = Some(Wish { layout: drawn(&self.dice), order, generation, tries: 0 });
        }
        let network = Network::new(self.dice.fork(), self.scenario.trouble, Arc::clone(&self.world.calm));
        let Some(wish) = &mut self.wish else { return };
        let patience = if wish.tries < 3 { 40 + self.dice.below(2_000) } else { 60_000 };
        let resize = of(wish, &network, (&self.world, &self.scenario, &self.dice));
        let done = tokio::time::timeout(Duration::from_millis(patience), resize.run(&|_| {})).await;
        network.switches.kill();
        wish.tries += 1;
        let said = match done {
            Ok(Ok(record)) => format!("is done: {record:?}"),
            Ok(Err(error)) => format!("fails: {error}"),
            Err(_) => format!("is killed after {patience} ms"),
        };
        self.world.note(format_args!("a change to {} {said}", wish.layout));
        self.follow().await;
    }

    /// What whoever changed the ring can't tell any more, the ledger knows.
    async fn follow(&mut self) {
        let generation = self.generation().await;
        if let Some(wish) = self.wish.take_if(|wish| generation > wish.generation) {
            self.layout = wish.layout;
            *self.world.order() = wish.order;
        } else if self.wish.as_ref().is_some_and(|wish| {
            // A ring as it was is not changed.
            wish.layout == self.layout && wish.order == *self.world.order()
        }) {
            self.wish = None;
        }
    }

    /// The generation in force; that of before while a change is under way.
    async fn generation(&self) -> u64 {
        use sequent_core::ledger::LayoutBook;
        let page = self.world.ledger.page().await.ok().flatten();
        page.map_or(0, |page| page.generation - u64::from(page.step.is_fenced()))
    }

    async fn open_missing(&mut self) {
        self.follow().await;
        let generation = self.generation().await;
        let of_now = |server: &&Server| server.guard.layout().generation == generation;
        for _ in self.servers.iter().filter(of_now).count()..SERVERS_MIN {
            if self.servers.len() == SERVERS_MAX {
                // The oldest is somebody's whom an operator has found at last.
                self.servers.remove(0).switches.kill();
            }
            let (n, m) = (self.layout.shard_bits(), self.layout.memory_bits());
            let scenario = Scenario { shard_bits: n, memory_bits: m, ..self.scenario };
            let name = self.named;
            match Server::open(name, &self.world, &scenario, Home::default(), &self.dice).await {
                Ok(server) => {
                    self.world.note(format_args!("server {name} opens with {}", self.layout));
                    self.servers.push(server);
                    self.named += 1;
                }
                Err(error) => self.world.note(format_args!("server {name} can't open: {error}")),
            }
        }
    }

    fn crash(&mut self) {
        if !self.servers.is_empty() {
            let server = self.servers.remove(index(&self.dice, self.servers.len()));
            server.switches.kill();
            self.world.note(format_args!("server {} crashes", server.name));
        }
    }

    fn sleep(&self) {
        let Some(server) = self.servers.get(index(&self.dice, self.servers.len().max(1))) else { return };
        let ms = 500 + self.dice.below(6_000);
        self.world.note(format_args!("server {} sleeps for {ms} ms", server.name));
        let switches = Arc::clone(&server.switches);
        switches.sleep(true);
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(ms)).await;
            switches.sleep(false);
        });
    }

    fn cut(&self) {
        let Some(server) = self.servers.get(index(&self.dice, self.servers.len().max(1))) else { return };
        let ms = 1_000 + self.dice.below(5_000);
        self.world.note(format_args!("server {} loses the ledger for {ms} ms", server.name));
        let switches = Arc::clone(&server.switches);
        switches.cut(true);
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(ms)).await;
            switches.cut(false);
        });
    }

    fn store_goes_away(&self) {
        let at = index(&self.dice, self.world.stores.len());
        let (store, ms) = (self.world.stores[at].clone(), self.dice.below(4_000));
        self.world.note(format_args!("store {at} is away for {ms} ms"));
        store.set_away(true);
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(ms)).await;
            store.set_away(false);
        });
    }

    fn store_restarts(&self) {
        let at = index(&self.dice, self.world.stores.len());
        self.world.stores[at].restart();
        self.world.note(format_args!("store {at} restarts"));
    }

    fn store_forgets(&self) {
        let at = index(&self.dice, self.world.stores.len());
        self.world.stores[at].empty();
        self.world.note(format_args!("store {at} comes back empty"));
    }

    /// No more faults: what was begun is finished, and the servers of the layout in force give.
    async fn calm_down(&mut self) -> Vec<usize> {
        self.world.note("calm");
        self.world.calm.store(true, std::sync::atomic::Ordering::Relaxed);
        tokio::time::sleep(Duration::from_secs(8)).await;
        for _ in 0..CALM_TRIES_MAX {
            self.open_missing().await;
            tokio::time::sleep(Duration::from_secs(2)).await;
            if self.wish.is_some() {
                self.change().await;
                continue;
            }
            let generation = self.generation().await;
            let now: Vec<usize> = self
                .servers
                .iter()
                .filter(|server| server.guard.layout().generation == generation)
                .map(|server| server.name)
                .collect();
            let given = |name: &usize| self.world.truth().given_by(*name);
            let before: Vec<usize> = now.iter().map(given).collect();
            tokio::time::sleep(Duration::from_secs(3)).await;
            let silent = now.iter().zip(before).filter(|(name, before)| given(name) <= before + 5);
            if now.len() >= SERVERS_MIN && silent.count() == 0 {
                return Vec::new();
            }
        }
        vec![self.named]
    }
}

fn drawn(dice: &SeededEntropy) -> Layout {
    let bits = |most| u8::try_from(dice.below(most)).unwrap_or(0);
    Layout::new(bits(3), bits(3))
        .unwrap_or_else(|error| panic!("the simulation draws no such layout: {error}"))
}

/// The change, over wires of its own.
fn of(
    wish: &Wish,
    network: &Network,
    (world, scenario, dice): (&World, &Scenario, &SeededEntropy),
) -> Resize {
    let sim = |at: usize| {
        Arc::new(SimStore::new(
            SlotIndex::try_from(at).unwrap_or(0),
            world.stores[at].clone(),
            network.clone(),
        )) as Arc<dyn Store>
    };
    let slots = usize::from(wish.layout.slots());
    let named =
        (0..).zip(&wish.order[..slots]).map(|(slot, at)| Placed { slot: Some(slot), store: sim(*at) });
    let rest = wish.order[slots..].iter().map(|at| Placed { slot: None, store: sim(*at) });
    // What came back empty is nowhere else: no server reaches another store in its place.
    let gone: BTreeSet<SlotIndex> = if wish.tries > 8 { (0..STORES).collect() } else { BTreeSet::new() };
    Resize {
        ledger: Arc::new(SimLedger::new(world.ledger.clone(), network.clone()).in_pieces()),
        stores: named.chain(rest).collect(),
        next: wish.layout,
        gone,
        embedded: false,
        home: None,
        limit: Duration::from_secs(1),
        env: Env {
            clock: Arc::clone(&world.clock) as Arc<dyn Clock>,
            entropy: Arc::new(dice.fork()),
            events: Events::default(),
        },
        rules: scenario.rules,
    }
}
