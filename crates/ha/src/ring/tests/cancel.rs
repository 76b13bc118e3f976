//! Cancellation at every await: no number repeats, and no other caller is disturbed.

use sequent_core::Source;
use sequent_testkit::{cut_short, seeded};

use super::*;

/// Behaviour of the slots meanwhile: normal, slow, failing, silent.
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
async fn a_caller_dropped_at_any_await_repeats_no_number() {
    let random = seeded(31);
    for first in acts() {
        for second in acts() {
            for polls in 0..12 {
                let fixture = Fixture::seeded(1, 1);
                fixture.take(3).await.unwrap();
                fixture.script(0).then(first.clone());
                fixture.script(1).then(second.clone());
                if let Some(Ok(blocks)) = cut_short(polls, fixture.source.take(7)).await {
                    fixture.oracle.add_blocks(&blocks, "cut short").unwrap();
                }
                for _ in 0..6 {
                    sleep_ms(random.below(500)).await;
                    // Both slots may be out; only repeated numbers would be wrong.
                    let _ = fixture.take(1 + random.below(9)).await;
                }
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn ids_of_a_dropped_take_go_to_the_next_one() {
    for polls in 1..6 {
        let fixture = Fixture::new(2);
        for slot in 0..4 {
            fixture.script(slot).then(Act::late(10 * MS * u32::from(slot + 1)));
        }
        assert_eq!(cut_short(polls, fixture.source.take(4)).await.is_none(), polls < 5, "{polls}");
        sleep_ms(50).await;
        if polls < 5 {
            assert_eq!(fixture.numbers(4).await, [4, 5, 6, 7], "{polls}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_dropped_caller_disturbs_no_other() {
    let random = seeded(32);
    let fixture = Arc::new(Fixture::new(2));
    for script in &fixture.scripts {
        script.always(Act::late(20 * MS));
    }
    let others: Vec<_> = (0..8)
        .map(|_| {
            let fixture = Arc::clone(&fixture);
            tokio::spawn(async move {
                for _ in 0..50 {
                    let taken = tokio::time::timeout(25 * MS, fixture.take(8)).await;
                    assert_eq!(taken.expect("in the stores' own time").unwrap().count(), 8);
                }
            })
        })
        .collect();
    for _ in 0..400 {
        let polls = usize::try_from(random.below(6)).unwrap();
        if let Some(Ok(blocks)) = cut_short(polls, fixture.source.take(1 + random.below(20))).await {
            fixture.oracle.add_blocks(&blocks, "cut short").unwrap();
        }
        sleep_ms(random.below(5)).await;
    }
    for other in others {
        other.await.unwrap();
    }
    assert!(!fixture.has_event(|event| !matches!(event, Event::Dropped { .. })), "no slot is blamed");
    assert!(fixture.ring.status().iter().all(|slot| slot.counts == crate::status::SlotCounts::default()));
}
