//! Callers that go away at every await: nothing repeats, and nobody else notices.

use sequent_core::Source;
use sequent_testkit::{cut_short, seeded};

use super::*;

/// What the slots do while callers come and go: ok, slow, failing, never.
fn acts() -> [Act; 6] {
    [
        Act::Give,
        Act::late(50 * MS),
        Act::late(400 * MS),
        fails(ErrorKind::Unavailable),
        fails(ErrorKind::Regressed),
        Act::Swallow,
    ]
}

#[tokio::test(start_paused = true)]
async fn a_caller_dropped_at_each_await_repeats_nothing_and_loses_nothing_that_came() {
    let random = seeded(31);
    for first in acts() {
        for second in acts() {
            for polls in 0..12 {
                let scene = Scene::seeded(1, 1);
                scene.take(3).await.unwrap();
                scene.script(0).then(first.clone());
                scene.script(1).then(second.clone());
                if let Some(Ok(blocks)) = cut_short(polls, scene.source.take(7)).await {
                    scene.oracle.add_blocks(&blocks, "cut short").unwrap();
                }
                for _ in 0..6 {
                    sleep_ms(random.below(500)).await;
                    // Both may be out just now; what counts is that nothing comes twice.
                    let _ = scene.take(1 + random.below(9)).await;
                }
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_dropped_caller_asked_for_goes_to_the_next_one() {
    for polls in 1..6 {
        let scene = Scene::new(2);
        for slot in 0..4 {
            scene.script(slot).then(Act::late(10 * MS * u32::from(slot + 1)));
        }
        assert_eq!(cut_short(polls, scene.source.take(4)).await.is_none(), polls < 5, "{polls}");
        sleep_ms(50).await;
        if polls < 5 {
            assert_eq!(scene.numbers(4).await, [4, 5, 6, 7], "{polls}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_dropped_caller_disturbs_no_other() {
    let random = seeded(32);
    let scene = Arc::new(Scene::new(2));
    for script in &scene.scripts {
        script.always(Act::late(20 * MS));
    }
    let others: Vec<_> = (0..8)
        .map(|_| {
            let scene = Arc::clone(&scene);
            tokio::spawn(async move {
                for _ in 0..50 {
                    let taken = tokio::time::timeout(25 * MS, scene.take(8)).await;
                    assert_eq!(taken.expect("in the stores' own time").unwrap().count(), 8);
                }
            })
        })
        .collect();
    for _ in 0..400 {
        let polls = usize::try_from(random.below(6)).unwrap();
        if let Some(Ok(blocks)) = cut_short(polls, scene.source.take(1 + random.below(20))).await {
            scene.oracle.add_blocks(&blocks, "cut short").unwrap();
        }
        sleep_ms(random.below(5)).await;
    }
    for other in others {
        other.await.unwrap();
    }
    assert!(!scene.has_event(|event| !matches!(event, Event::Dropped { .. })), "no slot is blamed");
    assert!(scene.ring.status().iter().all(|slot| slot.counts == crate::SlotCounts::default()));
}
