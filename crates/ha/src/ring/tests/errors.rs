//! Errors of takes that get nothing, and how often the stores are asked then.

use super::*;

fn all_fail(fixture: &Fixture, kind: ErrorKind) {
    for script in &fixture.scripts {
        script.always(fails(kind));
    }
}

fn takes(fixture: &Fixture) -> usize {
    fixture.scripts.iter().map(|script| script.takes()).sum()
}

#[tokio::test(start_paused = true)]
async fn if_all_are_evicted_each_is_named_and_tried_at_most_every_two_seconds() {
    let fixture = Fixture::new(1);
    all_fail(&fixture, ErrorKind::Unavailable);
    let error = fixture.take(1).await.unwrap_err();
    assert_eq!(error.to_string(), "no-shard: slots 0-1 unavailable");
    assert_eq!(takes(&fixture), 2, "each was asked once, the second after the first had failed");
    fixture.take(1).await.unwrap_err();
    assert_eq!(takes(&fixture), 4, "then all together");
    for _ in 0..19 {
        sleep_ms(20).await;
        assert_eq!(fixture.take(1).await.unwrap_err().kind(), ErrorKind::NoShard);
    }
    assert_eq!(takes(&fixture), 4, "and then at once, without asking");
    for script in &fixture.scripts {
        script.always(Act::Give);
    }
    sleep_ms(1700).await;
    assert!(fixture.take(1).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn surplus_ids_of_a_last_resort_are_kept() {
    let fixture = Fixture::new(2);
    all_fail(&fixture, ErrorKind::Unavailable);
    fixture.take(4).await.unwrap_err();
    for script in &fixture.scripts {
        script.always(Act::Give);
    }
    assert_eq!(fixture.numbers(1).await, [4]);
    let asked = takes(&fixture);
    assert_eq!(fixture.numbers(3).await, [5, 6, 7]);
    assert_eq!(takes(&fixture), asked);
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_slots_known_to_be_silent() {
    for n in 0..=2 {
        let fixture = Fixture::new(n);
        let probe_loop = tokio::spawn(fixture.ring.run());
        for script in &fixture.scripts {
            script.always(Act::Hang);
        }
        // Until three attempts of each have ended.
        for _ in 0..20 {
            fixture.take(4).await.unwrap_err();
            sleep_ms(100).await;
        }
        for _ in 0..300 {
            let taken = tokio::time::timeout(201 * MS, fixture.take(4)).await;
            let error = taken.expect("nobody waits for a silent slot").unwrap_err();
            assert_eq!(error.slots().len(), 1 << n, "{error}");
            assert!(error.slots().iter().all(|slot| slot.kind == ErrorKind::Timeout), "{error}");
            sleep_ms(50).await;
        }
        for script in &fixture.scripts {
            script.always(Act::Give);
        }
        sleep_ms(4000).await;
        assert!(fixture.take(1).await.is_ok(), "service returns by itself");
        probe_loop.abort();
    }
}

#[tokio::test(start_paused = true)]
async fn a_slow_event_of_store_and_guard_is_counted_once() {
    let fixture = Fixture::new(1);
    fixture.script(0).always(fails(ErrorKind::Contended));
    for events in 1..=3 {
        assert_eq!(fixture.state(0), SlotState::Live, "after {}", events - 1);
        fixture.take(2).await.unwrap();
        assert_eq!(fixture.ring.status()[0].counts.contended, events);
    }
    assert_eq!(fixture.state(0), SlotState::Evicted);
}

#[tokio::test(start_paused = true)]
async fn a_quarantined_slot_is_not_tried_even_if_all_others_are_out() {
    let fixture = Fixture::new(1);
    fixture.script(0).then(fails(ErrorKind::Refused));
    fixture.take(2).await.unwrap();
    fixture.script(1).always(fails(ErrorKind::Unavailable));
    for _ in 0..50 {
        let error = fixture.take(1).await.unwrap_err();
        assert_eq!(error.to_string(), "no-shard: slot 0 refused, slot 1 unavailable");
        sleep_ms(500).await;
    }
    assert_eq!(fixture.script(0).takes(), 1);
    let status = &fixture.ring.status()[0];
    assert_eq!((status.state, status.counts.refused), (SlotState::Quarantined, 1));
    assert_eq!(status.cause.as_ref().unwrap().1, "refused: scripted");
}

#[tokio::test(start_paused = true)]
async fn an_error_that_concerns_no_slot_is_passed_on() {
    for (first, second, expected) in [
        (ErrorKind::NoWitness, ErrorKind::NoWitness, ErrorKind::NoWitness),
        (ErrorKind::NoWitness, ErrorKind::LedgerBehind, ErrorKind::LedgerBehind),
    ] {
        let fixture = Fixture::new(1);
        fixture.script(0).always(fails(first));
        fixture.script(1).always(fails(second));
        for _ in 0..9 {
            assert_eq!(fixture.take(2).await.unwrap_err().kind(), expected);
        }
        assert!(fixture.ring.status().iter().all(|slot| slot.state == SlotState::Live));
        assert!(!fixture.has_event(|_| true));
    }
    let fixture = Fixture::new(1);
    fixture.script(0).always(fails(ErrorKind::NoWitness));
    assert_eq!(fixture.numbers(2).await, [3], "another slot may hold a permit");
    assert_eq!(fixture.numbers(1).await, [5], "asked when the first has none");
}

#[tokio::test(start_paused = true)]
async fn an_exhausted_sequence_returns_exhausted() {
    let scripts = (0..2).map(|_| Some(ScriptedSource::giving().up_to(3))).collect();
    let fixture = Fixture::of(1, scripts, SeededEntropy::new(1));
    let mut count = 0;
    while let Ok(blocks) = fixture.take(4).await {
        count += blocks.count();
    }
    assert_eq!(count, 6);
    assert_eq!(fixture.take(1).await.unwrap_err().kind(), ErrorKind::Exhausted);
    assert_eq!(fixture.count_events(|event| matches!(event, Event::Retired { .. })), 2, "once a slot");
    assert!(
        fixture.ring.status().iter().all(|slot| slot.state == SlotState::Live),
        "the slots serve other keys"
    );
    let other = key_over(&fixture.ring, "other");
    assert!(fixture.take_from(&other, 1).await.is_err(), "the script is one counter for all keys");
}

#[tokio::test(start_paused = true)]
async fn raw_ids_beyond_the_layout_are_exhausted_and_never_wrap() {
    let last = Block::NUMBER_MAX >> 1;
    let scripts = vec![Some(ScriptedSource::giving().above(last - 1)), Some(ScriptedSource::giving())];
    let fixture = Fixture::of(1, scripts, SeededEntropy::new(1));
    let near: Arc<dyn Source> = fixture.scripts[0].clone();
    let source = fixture.ring.source(Key::of(&"near".parse().unwrap()), vec![Some(near), None]);
    assert_eq!(source.take(1).await.unwrap().highest(), Some(last << 1));
    assert_eq!(source.take(1).await.unwrap_err().kind(), ErrorKind::Exhausted);
}

#[tokio::test(start_paused = true)]
async fn a_counter_with_an_ended_epoch_is_asked_once_more() {
    let fixture = Fixture::new(0);
    fixture.script(0).then(fails(ErrorKind::InstanceChanged));
    assert_eq!(fixture.numbers(3).await, [1, 2, 3]);
    fixture.script(0).then(fails(ErrorKind::InstanceChanged));
    fixture.script(0).then(fails(ErrorKind::InstanceChanged));
    assert_eq!(fixture.take(1).await.unwrap_err().to_string(), "no-shard: slot 0 instance-changed");
    assert_eq!(fixture.state(0), SlotState::Live);
}

#[tokio::test(start_paused = true)]
async fn an_excluded_slot_is_out_from_the_first_take() {
    let fixture = Fixture::new(1);
    fixture.ring.exclude(0, &SourceError::new(ErrorKind::Refused, "stamp of another cluster"));
    assert_eq!(fixture.numbers(2).await, [3, 5]);
    assert_eq!(fixture.state(0), SlotState::Quarantined);
    fixture.ring.exclude(1, &SourceError::new(ErrorKind::Timeout, "inspect"));
    assert_eq!(fixture.state(1), SlotState::Evicted);
    assert_eq!(fixture.numbers(1).await, [7], "the last resort");
}

#[tokio::test(start_paused = true)]
async fn a_refusal_by_the_guard_quarantines_the_slot() {
    let fixture = Fixture::new(1);
    let refusing: Arc<dyn Source> = Arc::new(ScriptedSource::new([], fails(ErrorKind::Refused)));
    let giving: Arc<dyn Source> = Arc::new(ScriptedSource::giving());
    let source = fixture.ring.source(Key::of(&"k".parse().unwrap()), vec![Some(refusing), Some(giving)]);
    assert_eq!(source.take(2).await.unwrap().numbers().collect::<Vec<_>>(), [3]);
    assert_eq!(fixture.state(0), SlotState::Quarantined);
}
