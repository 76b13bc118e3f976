//! The path that every block takes when nothing is wrong.

use sequent_core::{Entropy, Source};
use sequent_testkit::seeded;

use super::*;
use crate::SHARED_WRITES;

#[tokio::test(start_paused = true)]
async fn the_first_ten_numbers_of_a_fresh_ring_are_contiguous() {
    let scene = Scene::new(2);
    assert_eq!(scene.take(5).await.unwrap(), Block::new(4, 1, 5).unwrap().into());
    assert_eq!(scene.take(5).await.unwrap(), Block::new(9, 1, 5).unwrap().into());
    assert_eq!(scene.source.position(), Some(13));
}

#[tokio::test(start_paused = true)]
async fn single_takes_go_round_and_ask_nobody_else() {
    let scene = Scene::new(2);
    for number in 4..24 {
        assert_eq!(scene.numbers(1).await, [number]);
    }
    assert!(scene.scripts.iter().all(|script| script.takes() == 5));
}

#[tokio::test(start_paused = true)]
async fn any_sequence_of_wants_is_contiguous_while_nothing_fails() {
    let random = seeded(11);
    for n in 0..=3 {
        let scene = Scene::new(n);
        let mut next = scene.layout.origin();
        for _ in 0..200 {
            let want = 1 + random.bits() % 3000;
            let numbers = scene.numbers(want).await;
            assert_eq!(numbers, (next..next + want).collect::<Vec<_>>());
            next += want;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_success_on_a_clean_slot_writes_nothing_that_is_shared() {
    let scene = Arc::new(Scene::new(2));
    scene.take(4).await.unwrap();
    let before = SHARED_WRITES.get();
    let tasks: Vec<_> = (0..4)
        .map(|_| {
            let scene = Arc::clone(&scene);
            tokio::spawn(async move {
                for want in 1..=100 {
                    scene.take(want).await.unwrap();
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(SHARED_WRITES.get(), before);
    assert!(!scene.has_event(|_| true));
    for script in &scene.scripts {
        script.always(fails(ErrorKind::Contended));
    }
    scene.take(4).await.unwrap_err();
    assert!(SHARED_WRITES.get() > before, "the marks are where they should be");
}

#[tokio::test(start_paused = true)]
async fn callers_at_once_get_different_numbers() {
    let scene = Arc::new(Scene::new(3));
    let random = seeded(5);
    let tasks: Vec<_> = (0..32)
        .map(|_| {
            let (scene, want) = (Arc::clone(&scene), 1 + random.bits() % 500);
            tokio::spawn(async move { scene.take(want).await.unwrap().count() })
        })
        .collect();
    let mut sum = 0;
    for task in tasks {
        sum += task.await.unwrap();
    }
    assert_eq!(scene.oracle.count(), sum);
}

#[tokio::test(start_paused = true)]
async fn empty_slots_are_never_asked_and_not_counted_on() {
    let scripts = (0..8).map(|slot| (slot == 5).then(ScriptedSource::giving)).collect();
    let scene = Scene::of(3, scripts, SeededEntropy::new(1));
    assert_eq!(scene.numbers(3).await, [13, 21, 29]);
    assert_eq!(scene.state(5), SlotState::Live);
    assert_eq!(scene.ring.status().iter().filter(|slot| slot.state == SlotState::Empty).count(), 7);
    let nothing = Scene::of(1, vec![None, None], SeededEntropy::new(1));
    let error = nothing.take(1).await.unwrap_err();
    assert_eq!(error.to_string(), "no-shard: the ring is empty");
}

#[tokio::test(start_paused = true)]
async fn a_lift_moves_every_live_slot() {
    let scene = Scene::new(2);
    scene.take(3).await.unwrap();
    scene.source.lift(4000).await.unwrap();
    assert_eq!(scene.numbers(4).await, [4004, 4005, 4006, 4007]);
}
