//! Takes while all slots are healthy.

use sequent_core::{Entropy, Source};
use sequent_testkit::seeded;

use super::*;
use crate::sync::SHARED_WRITES;

#[tokio::test(start_paused = true)]
async fn the_first_ten_numbers_of_a_new_ring_are_contiguous() {
    let fixture = Fixture::new(2);
    assert_eq!(fixture.take(5).await.unwrap(), Block::new(4, 1, 5).unwrap().into());
    assert_eq!(fixture.take(5).await.unwrap(), Block::new(9, 1, 5).unwrap().into());
    assert_eq!(fixture.source.position(), Some(13));
}

#[tokio::test(start_paused = true)]
async fn single_takes_ask_one_slot_each_in_turn() {
    let fixture = Fixture::new(2);
    for number in 4..24 {
        assert_eq!(fixture.numbers(1).await, [number]);
    }
    assert!(fixture.scripts.iter().all(|script| script.takes() == 5));
}

#[tokio::test(start_paused = true)]
async fn takes_of_any_size_are_contiguous() {
    let random = seeded(11);
    for n in 0..=3 {
        let fixture = Fixture::new(n);
        let mut next = fixture.layout.origin();
        for _ in 0..200 {
            let want = 1 + random.bits() % 3000;
            let numbers = fixture.numbers(want).await;
            assert_eq!(numbers, (next..next + want).collect::<Vec<_>>());
            next += want;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_success_on_a_healthy_slot_writes_nothing_shared() {
    let fixture = Arc::new(Fixture::new(2));
    fixture.take(4).await.unwrap();
    let before = SHARED_WRITES.get();
    let tasks: Vec<_> = (0..4)
        .map(|_| {
            let fixture = Arc::clone(&fixture);
            tokio::spawn(async move {
                for want in 1..=100 {
                    fixture.take(want).await.unwrap();
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(SHARED_WRITES.get(), before);
    assert!(!fixture.has_event(|_| true));
    for script in &fixture.scripts {
        script.always(fails(ErrorKind::Contended));
    }
    fixture.take(4).await.unwrap_err();
    assert!(SHARED_WRITES.get() > before, "the marks are where they should be");
}

#[tokio::test(start_paused = true)]
async fn concurrent_callers_get_different_numbers() {
    let fixture = Arc::new(Fixture::new(3));
    let random = seeded(5);
    let tasks: Vec<_> = (0..32)
        .map(|_| {
            let (fixture, want) = (Arc::clone(&fixture), 1 + random.bits() % 500);
            tokio::spawn(async move { fixture.take(want).await.unwrap().count() })
        })
        .collect();
    let mut sum = 0;
    for task in tasks {
        sum += task.await.unwrap();
    }
    assert_eq!(fixture.oracle.count(), sum);
}

#[tokio::test(start_paused = true)]
async fn empty_slots_are_never_asked() {
    let scripts = (0..8).map(|slot| (slot == 5).then(ScriptedSource::giving)).collect();
    let fixture = Fixture::of(3, scripts, SeededEntropy::new(1));
    assert_eq!(fixture.numbers(3).await, [13, 21, 29]);
    assert_eq!(fixture.state(5), SlotState::Live);
    assert_eq!(fixture.ring.status().iter().filter(|slot| slot.state == SlotState::Empty).count(), 7);
    let nothing = Fixture::of(1, vec![None, None], SeededEntropy::new(1));
    let error = nothing.take(1).await.unwrap_err();
    assert_eq!(error.to_string(), "no-shard: the ring is empty");
}

#[tokio::test(start_paused = true)]
async fn a_lift_moves_every_live_slot() {
    let fixture = Fixture::new(2);
    fixture.take(3).await.unwrap();
    fixture.source.lift(4000).await.unwrap();
    assert_eq!(fixture.numbers(4).await, [4004, 4005, 4006, 4007]);
}
