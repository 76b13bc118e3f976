//! One seed, from the first number to the last: faults for a while, then calm, in which service must return.

use std::{sync::Arc, time::Duration};

use sequent_core::{Clock, Rules};
use sequent_testkit::SeededEntropy;

use crate::{
    dice::pick,
    faults::Nature,
    home::Home,
    scenario::{Fault, SCENARIOS, Scenario},
    server::Server,
    world::World,
};

/// Faults that a seed sees.
const FAULTS: usize = 30;

/// After the last fault every server must give numbers again within this time.
const CALM: Duration = Duration::from_secs(60);

/// What a seed came to.
#[derive(Debug)]
pub struct Outcome {
    /// The scenario's name.
    pub scenario: &'static str,
    /// Repeats found, in words.
    pub repeats: Vec<String>,
    /// Servers that gave nothing in the calm at the end.
    pub stuck: Vec<usize>,
    /// Numbers that callers got.
    pub given: usize,
    /// The end of the trace.
    pub report: String,
}

impl Outcome {
    /// Of a seed that could not be run.
    pub(crate) fn failed(scenario: &'static str, why: String) -> Self {
        Self { scenario, repeats: vec![why], stuck: Vec::new(), given: 0, report: String::new() }
    }

    /// Whether nothing repeated and everybody was served in the end.
    pub fn is_good(&self) -> bool {
        self.repeats.is_empty() && self.stuck.is_empty()
    }
}

/// Runs a seed in the scenario that it falls to, with every rule kept.
pub fn run_seed(seed: u64) -> Outcome {
    let at = usize::try_from(seed % SCENARIOS.len() as u64).unwrap_or(0);
    run(seed, SCENARIOS[at])
}

/// Runs a seed in a scenario by its name, under some rules.
pub fn run_named(seed: u64, name: &str, rules: Rules) -> Option<Outcome> {
    let scenario = SCENARIOS.into_iter().find(|scenario| scenario.name == name)?;
    Some(run(seed, Scenario { rules, ..scenario }))
}

fn run(seed: u64, scenario: Scenario) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    match runtime {
        Ok(runtime) => runtime.block_on(Run::new(seed, scenario).play()),
        Err(error) => Outcome::failed(scenario.name, format!("no runtime: {error}")),
    }
}

struct Run {
    scenario: Scenario,
    world: Arc<World>,
    nature: Nature,
    dice: SeededEntropy,
    servers: Vec<Option<Server>>,
    homes: Vec<Home>,
    named: usize,
}

impl Run {
    fn new(seed: u64, scenario: Scenario) -> Self {
        let dice = SeededEntropy::new(seed);
        let slots = 1 << scenario.shard_bits;
        let world = Arc::new(World::new(slots, scenario.class, scenario.rules, &dice));
        let nature = Nature::new(Arc::clone(&world), dice.fork());
        let homes = (0..scenario.servers).map(|_| Home::default()).collect();
        let servers = (0..scenario.servers).map(|_| None).collect();
        Self { scenario, world, nature, dice, servers, homes, named: 0 }
    }

    async fn play(mut self) -> Outcome {
        for _ in 0..FAULTS {
            self.open_missing().await;
            tokio::time::sleep(Duration::from_millis(self.dice.below(2_500))).await;
            self.mend_trouble().await;
            if let Some(&fault) = pick(&self.dice, self.scenario.faults) {
                self.strike(fault).await;
            }
            if !self.world.truth().repeats.is_empty() {
                break;
            }
        }
        let stuck = if self.world.truth().repeats.is_empty() { self.calm_down().await } else { Vec::new() };
        let truth = self.world.truth();
        let (repeats, given) = (truth.repeats.clone(), truth.given());
        Outcome { scenario: self.scenario.name, repeats, stuck, given, report: truth.report() }
    }

    async fn open_missing(&mut self) {
        for place in 0..self.servers.len() {
            if self.servers[place].is_some() {
                continue;
            }
            let name = self.named;
            let opened =
                Server::open(name, &self.world, &self.scenario, self.homes[place].clone(), &self.dice).await;
            match opened {
                Ok(server) => {
                    self.world.note(format_args!("server {name} opens"));
                    self.servers[place] = Some(server);
                    self.named += 1;
                }
                Err(error) => self.world.note(format_args!("server {name} can't open: {error}")),
            }
        }
    }

    async fn strike(&mut self, fault: Fault) {
        match fault {
            Fault::Crash if self.may_crash() => self.crash(),
            Fault::Stop => self.stop().await,
            Fault::Crash => {}
            other => {
                if let Some(line) = self.nature.strike(other, &self.servers).await {
                    self.world.note(line);
                }
            }
        }
    }

    /// Where counters are set back under the same instance, only what was seen can tell: a crash must not lose it.
    fn may_crash(&self) -> bool {
        let hot = self.scenario.faults.contains(&Fault::Hot);
        !hot || (0..self.world.stores.len()).all(|slot| self.world.seen_covers(slot))
    }

    fn crash(&mut self) {
        let place = crate::dice::index(&self.dice, self.servers.len());
        if let Some(server) = self.servers[place].take() {
            server.switches.kill();
            self.world.note(format_args!("server {} crashes", server.name));
        }
    }

    async fn stop(&mut self) {
        let place = crate::dice::index(&self.dice, self.servers.len());
        if let Some(server) = self.servers[place].take() {
            self.world.note(format_args!("server {} stops", server.name));
            server.stop().await;
        }
    }

    /// An operator mends a ledger that is behind its marks, a little after it was noticed.
    async fn mend_trouble(&mut self) {
        if self.servers.iter().flatten().any(|server| server.guard.trouble().is_some()) {
            tokio::time::sleep(Duration::from_millis(self.dice.below(1_000))).await;
            self.nature.recover().await;
        }
    }

    /// No more faults: every server must give again. Returns those that do not.
    async fn calm_down(&mut self) -> Vec<usize> {
        self.world.note("calm");
        self.world.calm.store(true, std::sync::atomic::Ordering::Relaxed);
        let end = self.world.clock.now() + CALM;
        let mut given: Vec<Option<usize>> = vec![None; self.servers.len()];
        while self.world.clock.now() < end {
            self.open_missing().await;
            self.mend_trouble().await;
            tokio::time::sleep(Duration::from_secs(2)).await;
            let mut all = true;
            for (place, server) in self.servers.iter().enumerate() {
                let now = server.as_ref().map(|server| self.world.truth().given_by(server.name));
                let before = *given[place].get_or_insert(now.unwrap_or(0));
                all &= now.is_some_and(|now| now > before + 5);
            }
            if all {
                return Vec::new();
            }
        }
        let silent = |place: &usize| {
            let now =
                self.servers[*place].as_ref().map_or(0, |server| self.world.truth().given_by(server.name));
            now <= given[*place].unwrap_or(0) + 5
        };
        (0..self.servers.len()).filter(silent).collect()
    }
}
