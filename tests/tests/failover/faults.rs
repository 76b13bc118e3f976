//! Each slot in turn is killed, hung, slowed down, cut off, restarted and put back, under load.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use sequent_testkit::servers::DataCopy;

use crate::{
    fault::Fault,
    harness::until,
    harness::{Harness, PATIENCE, SETTINGS},
    journal::Phase,
    load::Load,
    scale::Scale,
    slowness,
    stalls::Stalls,
};

/// How soon a slot whose store is back is in use again, where `rescue_after_max_s` is 2.
pub(crate) const RESCUED_WITHIN: Duration = Duration::from_secs(5);

/// Numbers without any fault, before and between.
const CALM: u64 = 30_000;

/// Numbers while a store is away, after that was noticed.
const AWAY: u64 = 10_000;

/// Numbers of a slot that show that it is asked.
const IN_USE: u64 = 2000;

/// What goes on while stores fail.
struct Run {
    harness: Harness,
    copies: Vec<DataCopy>,
    load: Load,
    stalls: Stalls,
    normal: BTreeMap<&'static str, Duration>,
    faults: Vec<String>,
    /// Requests that had failed at the APIs before the load began: first ones, while tables were made.
    failed_before: [Vec<String>; 2],
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_slot_fails_in_each_way_and_nobody_notices() {
    let scale = Scale::from_environment();
    let harness = Harness::start(SETTINGS).await;
    let copies = harness.ring.copies().await;
    harness.all_live().await;
    let failed_before = harness.looks().await.map(|look| look.failed_requests());
    let load = Load::start(&harness, false);
    let mut run = Run {
        harness,
        copies,
        load,
        stalls: Stalls::watch(),
        normal: BTreeMap::new(),
        faults: vec![],
        failed_before,
    };
    run.load.more(CALM / 3).await;
    run.load.journal.turn();
    run.load.more(CALM).await;
    let calm = run.load.journal.turn();
    run.normal = calm.normal();
    println!("calm: {}", calm.shown());
    run.judge("calm", &calm);
    for (slot, fault) in scale.plan() {
        run.befalls(slot, fault).await;
    }
    while run.load.journal.bits.count() < scale.numbers && run.faults.is_empty() {
        run.load.more(CALM).await;
    }
    run.load.stop();
    run.apis().await;
    let rest = run.load.journal.turn();
    run.judge("the rest", &rest);
    println!("{} numbers, none twice", run.load.journal.bits.count());
    for server in &mut run.harness.servers {
        assert_eq!(server.drain(), Some(0));
    }
    assert!(run.faults.is_empty(), "{:#?}", run.faults);
}

impl Run {
    async fn befalls(&mut self, slot: usize, fault: Fault) {
        let name = format!("slot {slot} ({}) {fault:?}", self.harness.ring.slots[slot].kind);
        self.harness.all_live().await;
        self.in_use(slot).await;
        let store = &self.harness.ring.slots[slot];
        fault.strike(store).await;
        let struck = Instant::now();
        if fault == Fault::Slow {
            self.slowness_is_the_cause(&name, slot, struck).await;
        }
        let evicted = self.within(struck, fault.noticed_within(), |live| !live, slot).await;
        self.load.more(AWAY).await;
        fault.end(&self.harness.ring.slots[slot], Some(&self.copies[slot])).await;
        let back = Instant::now();
        let rescued = self.within(back, RESCUED_WITHIN, |live| live, slot).await;
        let phase = self.load.journal.turn();
        println!("{name}: out after {evicted:?}, in use {rescued:?} after its return; {}", phase.shown());
        for (what, outcome) in [("noticed", evicted), ("rescued", rescued)] {
            if let Err(late) = outcome {
                self.faults.push(format!("{name}: {what} only after {late:?}"));
            }
        }
        self.judge(&name, &phase);
        self.load.more(CALM / 10).await;
        let after = self.load.journal.turn();
        self.judge(&format!("after {name}"), &after);
    }

    /// How long after `since` both servers say of a slot that it is live, or is not: within the bound, or too late.
    async fn within(
        &self,
        since: Instant,
        bound: Duration,
        is: impl Fn(bool) -> bool,
        slot: usize,
    ) -> Result<Duration, Duration> {
        self.harness.both(PATIENCE, |look| is(look.is_live(slot))).await;
        let (now, took) = (Instant::now(), since.elapsed());
        let stall = self.stalls.within(since, now);
        if took > bound {
            println!("    took {took:?}, {bound:?} allowed, the machine stood still {stall:?}");
        }
        if took <= bound + stall { Ok(took) } else { Err(took) }
    }

    /// Both servers take numbers of this slot: what befalls it then, befalls somebody.
    async fn in_use(&self, slot: usize) {
        let journal = &self.load.journal;
        let goal = journal.of_slot(slot) + IN_USE;
        let asked = until(PATIENCE, async || journal.of_slot(slot) >= goal).await;
        assert!(asked, "slot {slot} gives no numbers");
    }

    /// Who was slow went for being slow, not for an error, and not before the third time.
    async fn slowness_is_the_cause(&mut self, name: &str, slot: usize, struck: Instant) {
        slowness::going(&self.harness, slot).await;
        let stall = slowness::stall(&self.stalls, struck);
        let faults = slowness::faults(&self.harness, slot, stall);
        self.faults.extend(faults.into_iter().map(|fault| format!("{name}: {fault}")));
    }

    /// No request failed at an API either, of which the SDK may not have told, since it asked again.
    async fn apis(&mut self) {
        for (before, look) in self.failed_before.iter().zip(self.harness.looks().await) {
            let failed = look.failed_requests();
            self.faults.extend(failed.into_iter().filter(|line| !before.contains(line)));
        }
    }

    fn judge(&mut self, name: &str, phase: &Phase) {
        let faults = phase.faults(&self.normal, &self.stalls);
        self.faults.extend(faults.into_iter().map(|fault| format!("{name}: {fault}")));
    }
}
