//! What a scripted store can do wrong, each alone and in all pairs, for n = 0..=3.

use sequent_core::Entropy;
use sequent_testkit::seeded;

use super::*;

/// What one slot does for a while.
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
    Leaps,
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
    Fault::Leaps,
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
            Self::Leaps => Act::Leap(1 << 40),
        }
    }

    /// Whether the slot gives numbers meanwhile.
    fn lives(self) -> bool {
        self == Self::AnswersLate
    }

    /// Whether time alone brings the slot back for this key.
    fn passes(self) -> bool {
        !matches!(self, Self::ErrsRefused | Self::RunsOut | Self::GoesBackwards | Self::Leaps)
    }

    /// Whether this event is the one that the fault must cause.
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
            Self::Leaps => quarantined(ErrorKind::Leapt, true),
        }
    }
}

/// The faults of a scene, by slot.
type Plan = Vec<(SlotIndex, Fault)>;

impl Scene {
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
    fn lives(&self, plan: &Plan, lost: &[SlotIndex]) -> bool {
        (0..self.layout.slots())
            .filter(|slot| !lost.contains(slot))
            .any(|slot| plan.iter().find(|(at, _)| *at == slot).is_none_or(|(_, fault)| fault.lives()))
    }

    /// Takes for a while; while a slot lives, none may fail.
    async fn traffic(&self, takes: u32, random: &SeededEntropy, must_serve: bool) {
        for _ in 0..takes {
            let want = 1 + random.below(40);
            match self.take(want).await {
                Ok(_) => {}
                Err(error) if must_serve => panic!("a slot lives, and yet: {error}"),
                Err(error) => {
                    assert!(matches!(error.kind(), ErrorKind::NoShard | ErrorKind::Exhausted), "{error}");
                }
            }
            sleep_ms(random.below(120)).await;
        }
    }
}

/// Runs a plan from health to health, and checks everything that the ring promises.
async fn play(n: u8, plan: &Plan, seed: u64) {
    let random = SeededEntropy::new(seed);
    let scene = Scene::seeded(n, random.bits());
    let rescuer = tokio::spawn(scene.ring.run());
    scene.traffic(5, &random, true).await;

    scene.begin(plan);
    let lives = scene.lives(plan, &[]);
    scene.traffic(150, &random, lives).await;
    for (slot, fault) in plan {
        // The last slot that answers at all is kept, however slowly.
        if lives && (*fault != Fault::AnswersLate || scene.is_not_alone(*slot, plan)) {
            assert!(
                scene.has_event(|event| fault.causes(*slot, event)),
                "slot {slot} {fault:?}: {:?}",
                scene.ring
            );
        }
    }

    scene.end(plan);
    let front = (0..scene.layout.slots()).map(|slot| scene.source.key.raw_position(slot)).max().unwrap();
    let lost: Vec<SlotIndex> =
        plan.iter().filter(|(_, fault)| !fault.passes()).map(|(slot, _)| *slot).collect();
    let back = |scene: &Scene| {
        plan.iter().all(|(slot, _)| lost.contains(slot) || scene.state(*slot) == SlotState::Live)
    };
    scene.settle(&random, back).await;
    assert!(back(&scene), "all come back that can: {:?}", scene.ring);
    if lost.len() < usize::from(scene.layout.slots()) {
        scene.check_level(plan, &lost, front).await;
    } else {
        assert!(scene.take(1).await.is_err());
    }
    rescuer.abort();
}

impl Scene {
    /// Takes until all is well, or for as long as the longest wait may be.
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

    /// The slots that came back go on at the front, not where they were.
    async fn check_level(&self, plan: &Plan, lost: &[SlotIndex], front: u64) {
        // What was asked before is answered by now. What came late is not ordered, and used up first.
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
            play(n, &vec![(slot, fault)], random.bits()).await;
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
                play(n, &vec![(at, first), (other, second)], random.bits()).await;
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn all_pairs_of_faults_one_after_the_other_in_one_slot() {
    let random = seeded(23);
    for n in 0..=3 {
        for first in FAULTS.into_iter().filter(|fault| fault.passes()) {
            for second in FAULTS {
                let slot = SlotIndex::try_from(random.below(1 << n)).unwrap();
                println!("n {n} slot {slot} {first:?} then {second:?}");
                let scene = Scene::seeded(n, random.bits());
                let rescuer = tokio::spawn(scene.ring.run());
                for fault in [first, second] {
                    let plan = vec![(slot, fault)];
                    scene.begin(&plan);
                    let lives = scene.lives(&plan, &[]);
                    scene.traffic(120, &random, lives).await;
                    scene.end(&plan);
                    scene.settle(&random, |scene| scene.state(slot) == SlotState::Live).await;
                }
                let healthy = n > 0 || second.passes();
                assert_eq!(scene.take(3).await.is_ok(), healthy, "{:?}", scene.ring);
                assert_eq!(scene.state(slot) == SlotState::Live, second != Fault::ErrsRefused);
                rescuer.abort();
            }
        }
    }
}
