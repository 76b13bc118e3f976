//! All faults of a scripted store, each alone and in all pairs, for n = 0..=3.

use sequent_core::Entropy;
use sequent_testkit::seeded;

use super::*;

/// The behaviour of one slot for a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    ErrsUnavailable,
    ErrsContended,
    ErrsRefused,
    Hangs,
    AnswersLate,
    AnswersNever,
    RunsOut,
    GoesBackwards,
    Jumps,
}

const FAULTS: [Fault; 9] = [
    Fault::ErrsUnavailable,
    Fault::ErrsContended,
    Fault::ErrsRefused,
    Fault::Hangs,
    Fault::AnswersLate,
    Fault::AnswersNever,
    Fault::RunsOut,
    Fault::GoesBackwards,
    Fault::Jumps,
];

impl Fault {
    fn act(self) -> Act {
        match self {
            Self::ErrsUnavailable => fails(ErrorKind::Unavailable),
            Self::ErrsContended => fails(ErrorKind::Contended),
            Self::ErrsRefused => fails(ErrorKind::Refused),
            Self::Hangs => Act::Hang,
            Self::AnswersLate => Act::late(600 * MS),
            Self::AnswersNever => Act::Swallow,
            Self::RunsOut => Act::RunOut,
            Self::GoesBackwards => Act::Back(1 << 20),
            Self::Jumps => Act::Jump(1 << 40),
        }
    }

    /// Whether the slot gives numbers meanwhile.
    fn serves(self) -> bool {
        self == Self::AnswersLate
    }

    /// Whether the slot comes back for this key without an operator.
    fn is_temporary(self) -> bool {
        !matches!(self, Self::ErrsRefused | Self::RunsOut | Self::GoesBackwards | Self::Jumps)
    }

    /// Whether the fault must cause this event.
    fn causes(self, at: SlotIndex, event: &Event) -> bool {
        let out = |found: ErrorKind| match event {
            Event::Evicted { slot, kind, .. } => *slot == at && *kind == found,
            _ => false,
        };
        let quarantined = |found: ErrorKind, one_key: bool| match event {
            Event::Quarantined { slot, key, kind, .. } => {
                *slot == at && *kind == found && key.is_some() == one_key
            }
            _ => false,
        };
        match self {
            Self::ErrsUnavailable => out(ErrorKind::Unavailable),
            Self::ErrsContended => out(ErrorKind::Contended),
            Self::ErrsRefused => quarantined(ErrorKind::Refused, false),
            Self::Hangs | Self::AnswersLate | Self::AnswersNever => out(ErrorKind::Timeout),
            Self::RunsOut => matches!(event, Event::Retired { slot, .. } if *slot == at),
            Self::GoesBackwards => quarantined(ErrorKind::Regressed, true),
            Self::Jumps => quarantined(ErrorKind::Jumped, true),
        }
    }
}

/// The faults of a run, by slot.
type Plan = Vec<(SlotIndex, Fault)>;

impl Fixture {
    fn begin(&self, plan: &Plan) {
        for (slot, fault) in plan {
            self.script(*slot).always(fault.act());
        }
    }

    fn end(&self, plan: &Plan) {
        for (slot, _) in plan {
            self.script(*slot).always(Act::Give);
        }
    }

    /// Whether some slot gives numbers of this key while the plan lasts.
    fn has_serving_slot(&self, plan: &Plan, lost: &[SlotIndex]) -> bool {
        (0..self.layout.slots())
            .filter(|slot| !lost.contains(slot))
            .any(|slot| plan.iter().find(|(at, _)| *at == slot).is_none_or(|(_, fault)| fault.serves()))
    }

    /// Takes for a while. While a slot serves, no take may fail.
    async fn traffic(&self, takes: u32, random: &SeededEntropy, must_serve: bool) {
        for _ in 0..takes {
            let want = 1 + random.below(40);
            match self.take(want).await {
                Ok(_) => {}
                Err(error) if must_serve => panic!("a slot serves, and yet: {error}"),
                Err(error) => {
                    assert!(matches!(error.kind(), ErrorKind::NoShard | ErrorKind::Exhausted), "{error}");
                }
            }
            sleep_ms(random.below(120)).await;
        }
    }
}

/// Runs a plan on a healthy ring until it is healthy again, and checks the ring's guarantees.
async fn run_plan(n: u8, plan: &Plan, seed: u64) {
    let random = SeededEntropy::new(seed);
    let fixture = Fixture::seeded(n, random.bits());
    let probe_loop = tokio::spawn(fixture.ring.run());
    fixture.traffic(5, &random, true).await;

    fixture.begin(plan);
    let must_serve = fixture.has_serving_slot(plan, &[]);
    fixture.traffic(150, &random, must_serve).await;
    for (slot, fault) in plan {
        // The last slot that answers at all is kept, however slowly.
        if must_serve && (*fault != Fault::AnswersLate || fixture.is_not_alone(*slot, plan)) {
            assert!(
                fixture.has_event(|event| fault.causes(*slot, event)),
                "slot {slot} {fault:?}: {:?}",
                fixture.ring
            );
        }
    }

    fixture.end(plan);
    let front = (0..fixture.layout.slots()).map(|slot| fixture.source.key.raw_position(slot)).max().unwrap();
    let lost: Vec<SlotIndex> =
        plan.iter().filter(|(_, fault)| !fault.is_temporary()).map(|(slot, _)| *slot).collect();
    let back = |fixture: &Fixture| {
        plan.iter().all(|(slot, _)| lost.contains(slot) || fixture.state(*slot) == SlotState::Live)
    };
    fixture.settle(&random, back).await;
    assert!(back(&fixture), "all temporary faults are over: {:?}", fixture.ring);
    if lost.len() < usize::from(fixture.layout.slots()) {
        fixture.check_level(plan, &lost, front).await;
    } else {
        assert!(fixture.take(1).await.is_err());
    }
    probe_loop.abort();
}

impl Fixture {
    /// Takes until `is_well`, or for the longest possible wait.
    async fn settle(&self, random: &SeededEntropy, is_well: impl Fn(&Self) -> bool) {
        for _ in 0..400 {
            if is_well(self) {
                return;
            }
            let _ = self.take(1 + random.below(9)).await;
            sleep_ms(1000).await;
        }
    }

    fn is_not_alone(&self, slot: SlotIndex, plan: &Plan) -> bool {
        (0..self.layout.slots()).any(|other| other != slot && !plan.iter().any(|(at, _)| *at == other))
    }

    /// The slots that came back continue at the front.
    async fn check_level(&self, plan: &Plan, lost: &[SlotIndex], front: u64) {
        // All requests have ended by now. Late blocks are not in order, and are used first.
        sleep_ms(2000).await;
        for _ in 0..3 {
            self.take(400).await.unwrap();
        }
        let blocks = self.take(400).await.unwrap();
        assert_eq!(blocks.count(), 400);
        for (slot, _) in plan.iter().filter(|(slot, _)| !lost.contains(slot)) {
            let raws = self.raws(&blocks, *slot);
            assert!(
                !raws.is_empty() && raws.iter().all(|raw| *raw > front),
                "slot {slot}: {raws:?} after {front}, {plan:?}"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn each_fault_alone() {
    let random = seeded(21);
    for n in 0..=3 {
        for fault in FAULTS {
            let slot = SlotIndex::try_from(random.below(1 << n)).unwrap();
            println!("n {n} slot {slot} {fault:?}");
            run_plan(n, &vec![(slot, fault)], random.bits()).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn all_pairs_of_faults_in_two_slots() {
    let random = seeded(22);
    for n in 1..=3 {
        for first in FAULTS {
            for second in FAULTS {
                let at = SlotIndex::try_from(random.below(1 << n)).unwrap();
                let other = at ^ SlotIndex::try_from(1 + random.below((1 << n) - 1)).unwrap();
                println!("n {n} slot {at} {first:?}, slot {other} {second:?}");
                run_plan(n, &vec![(at, first), (other, second)], random.bits()).await;
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn all_pairs_of_faults_one_after_the_other_in_one_slot() {
    let random = seeded(23);
    for n in 0..=3 {
        for first in FAULTS.into_iter().filter(|fault| fault.is_temporary()) {
            for second in FAULTS {
                let slot = SlotIndex::try_from(random.below(1 << n)).unwrap();
                println!("n {n} slot {slot} {first:?} then {second:?}");
                let fixture = Fixture::seeded(n, random.bits());
                let probe_loop = tokio::spawn(fixture.ring.run());
                for fault in [first, second] {
                    let plan = vec![(slot, fault)];
                    fixture.begin(&plan);
                    let must_serve = fixture.has_serving_slot(&plan, &[]);
                    fixture.traffic(120, &random, must_serve).await;
                    fixture.end(&plan);
                    fixture.settle(&random, |fixture| fixture.state(slot) == SlotState::Live).await;
                }
                let healthy = n > 0 || second.is_temporary();
                assert_eq!(fixture.take(3).await.is_ok(), healthy, "{:?}", fixture.ring);
                assert_eq!(fixture.state(slot) == SlotState::Live, second != Fault::ErrsRefused);
                probe_loop.abort();
            }
        }
    }
}
