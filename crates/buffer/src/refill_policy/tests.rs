//! The refill policy under simulated demand.

use sequent_core::Clock;

use super::*;

const SECOND: Duration = Duration::from_secs(1);

/// A consumer at a steady rate, whose refills take no time.
struct Simulation {
    policy: RefillPolicy,
    config: ReservoirConfig,
    now: Instant,
    issued: u64,
    held: u64,
    asked: Vec<u64>,
}

impl Simulation {
    fn new() -> Self {
        let now = sequent_core::SystemClock.now();
        let mut policy = RefillPolicy::default();
        policy.observe(now, 0);
        Self { policy, config: ReservoirConfig::default(), now, issued: 0, held: 0, asked: vec![] }
    }

    /// Consumes `rate` numbers per second for `seconds`, in ten steps a second.
    fn run(&mut self, seconds: u64, rate: u64) -> &mut Self {
        for _ in 0..seconds * 10 {
            let wanted = rate / 10;
            if wanted > self.held {
                self.policy.ran_empty();
                self.step(wanted);
            }
            self.held -= wanted;
            self.issued += wanted;
            self.now += SECOND / 10;
            self.step(0);
        }
        self
    }

    fn step(&mut self, waiting: u64) {
        self.policy.observe(self.now, self.issued);
        let demand = Demand { held: self.held, waiting, ..Demand::default() };
        let ask = self.policy.refill_size(self.now, demand, &self.config);
        if ask > 0 {
            self.held += ask;
            self.asked.push(ask);
            self.policy.refill_succeeded(self.now, ask, SECOND / 10);
        }
    }

    fn target(&self) -> u64 {
        self.policy.target(self.now, None, &self.config)
    }
}

#[test]
fn steady_demand_fills_the_reserve_for_its_duration_and_one_refill() {
    let mut simulation = Simulation::new();
    let target = simulation.run(300, 1000).target();
    assert!((10_000..10_200).contains(&target), "{target}");
    assert!((5_000..=10_300).contains(&simulation.held), "{}", simulation.held);
}

#[test]
fn a_burst_doubles_each_refill() {
    let mut simulation = Simulation::new();
    for _ in 0..16 {
        // All at one instant, so that the rates are still zero.
        simulation.held = 0;
        simulation.policy.ran_empty();
        simulation.step(1);
    }
    assert_eq!(simulation.asked[..6], [1, 65, 131, 263, 527, 1055]);
    assert_eq!(simulation.asked.last(), Some(&1_000_001), "up to what may be at risk, and waiting callers");
    let mut hold = |seconds| {
        simulation.now += SECOND * seconds;
        simulation.target()
    };
    assert_eq!((hold(10), hold(10)), (500_000, 250_000), "halved for each `reserve` without a refill");
    assert_eq!(hold(200), 64);
}

#[test]
fn failed_refills_are_no_burst() {
    let mut simulation = Simulation::new();
    simulation.run(30, 100);
    let (before, now) = (simulation.asked.last().copied().unwrap(), simulation.now);
    let ask = |simulation: &mut Simulation| {
        simulation.policy.ran_empty();
        let demand = Demand { waiting: 1, ..Demand::default() };
        simulation.policy.refill_size(now, demand, &simulation.config)
    };
    // An outage: callers find nothing, a refill is asked for and fails, many times.
    for _ in 0..40 {
        ask(&mut simulation);
        simulation.policy.refill_failed();
    }
    let first = ask(&mut simulation);
    assert!(first <= 2 * before.max(simulation.target()), "{first} at once, after refills of {before}");
    simulation.policy.refill_succeeded(now, first, SECOND / 10);
    let second = ask(&mut simulation);
    assert!(second >= 2 * first, "a reserve that runs dry after it is a burst again: {second} after {first}");
}

#[test]
fn idleness_shrinks_the_reserve_to_the_floor() {
    let mut simulation = Simulation::new();
    let busy = simulation.run(120, 1000).target();
    let after_a_pause = simulation.run(5, 0).target();
    assert!(after_a_pause > busy * 7 / 10, "a pause within the long window changes little: {after_a_pause}");
    assert!(simulation.run(120, 0).target() < busy / 4);
    assert_eq!(simulation.run(1200, 0).target(), simulation.config.floor);
}

#[test]
fn one_take_shows_no_demand_and_the_second_does() {
    let (mut policy, config) = (RefillPolicy::default(), ReservoirConfig::default());
    let now = sequent_core::SystemClock.now();
    policy.ran_empty();
    let demand = |waiting| Demand { waiting, ..Demand::default() };
    assert_eq!(policy.refill_size(now, demand(5), &config), 5);
    policy.refill_succeeded(now, 5, SECOND);
    assert_eq!(policy.refill_size(now, demand(0), &config), 0, "nothing is prefetched");
    policy.ran_empty();
    assert_eq!(policy.refill_size(now, demand(5), &config), 5 + config.floor);
}

#[test]
fn without_reserve_and_floor_each_refill_is_what_callers_wait_for() {
    let mut simulation = Simulation::new();
    simulation.config = ReservoirConfig { reserve: Duration::ZERO, floor: 0, ..simulation.config };
    simulation.run(5, 100);
    assert!(simulation.asked.iter().all(|asked| *asked == 10), "{:?}", simulation.asked);
    assert_eq!((simulation.asked.len(), simulation.held), (50, 0));
}

#[test]
fn at_risk_is_bounded_by_the_key_and_by_the_config() {
    let mut simulation = Simulation::new();
    simulation.run(60, 10_000);
    let config = simulation.config;
    let mut ask = |held, lent, remaining| {
        simulation.policy.refill_size(simulation.now, Demand { held, lent, waiting: 0, remaining }, &config)
    };
    assert_eq!(ask(0, 0, Some(5_000_000)), 5_000, "0.1 % of what is left");
    assert_eq!(ask(4_000, 0, Some(5_000_000)), 0, "more than half of that is held");
    assert_eq!(ask(1_000, 3_000, Some(5_000_000)), 1_000, "lent numbers count");
    assert_eq!(ask(0, 0, Some(10)), 1, "but one raw id at least");
    let small = ReservoirConfig { at_risk_max: 700, ..config };
    assert_eq!(simulation.policy.refill_size(simulation.now, Demand::default(), &small), 700);
    let demand = Demand { waiting: 9_000, ..Demand::default() };
    assert_eq!(
        simulation.policy.refill_size(simulation.now, demand, &small),
        9_700,
        "waiting callers are served all the same"
    );
}

#[test]
fn a_slow_refill_is_covered_by_the_reserve() {
    let mut simulation = Simulation::new();
    let before = simulation.run(300, 1000).target();
    simulation.policy.refill_succeeded(simulation.now, 1, 20 * SECOND);
    assert!(simulation.target() >= 3 * before - 1000, "20 s of demand more");
}
