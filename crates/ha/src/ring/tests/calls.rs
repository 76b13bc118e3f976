//! What callers are told when nothing comes, and how often the stores are bothered.

use super::*;

fn all_fail(scene: &Scene, kind: ErrorKind) {
    for script in &scene.scripts {
        script.always(fails(kind));
    }
}

fn takes(scene: &Scene) -> usize {
    scene.scripts.iter().map(|script| script.takes()).sum()
}

#[tokio::test(start_paused = true)]
async fn all_evicted_names_each_slot_and_is_tried_every_two_seconds_at_most() {
    let scene = Scene::new(1);
    all_fail(&scene, ErrorKind::Unavailable);
    let error = scene.take(1).await.unwrap_err();
    assert_eq!(error.to_string(), "no-shard: slots 0-1 unavailable");
    assert_eq!(takes(&scene), 2, "each was asked once, the second after the first had failed");
    scene.take(1).await.unwrap_err();
    assert_eq!(takes(&scene), 4, "then all together");
    for _ in 0..19 {
        sleep_ms(20).await;
        assert_eq!(scene.take(1).await.unwrap_err().kind(), ErrorKind::NoShard);
    }
    assert_eq!(takes(&scene), 4, "and then at once, without asking");
    for script in &scene.scripts {
        script.always(Act::Give);
    }
    sleep_ms(1700).await;
    assert!(scene.take(1).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn what_a_last_resort_gives_beyond_the_want_is_kept() {
    let scene = Scene::new(2);
    all_fail(&scene, ErrorKind::Unavailable);
    scene.take(4).await.unwrap_err();
    for script in &scene.scripts {
        script.always(Act::Give);
    }
    assert_eq!(scene.numbers(1).await, [4]);
    let asked = takes(&scene);
    assert_eq!(scene.numbers(3).await, [5, 6, 7]);
    assert_eq!(takes(&scene), asked);
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_the_silent_once_all_are_known_to_be() {
    for n in 0..=2 {
        let scene = Scene::new(n);
        let rescuer = tokio::spawn(scene.ring.run());
        for script in &scene.scripts {
            script.always(Act::Hang);
        }
        // Until three attempts of each have ended.
        for _ in 0..20 {
            scene.take(4).await.unwrap_err();
            sleep_ms(100).await;
        }
        for _ in 0..300 {
            let taken = tokio::time::timeout(201 * MS, scene.take(4)).await;
            let error = taken.expect("nobody waits for a silent slot").unwrap_err();
            assert_eq!(error.slots().len(), 1 << n, "{error}");
            assert!(error.slots().iter().all(|slot| slot.kind == ErrorKind::Timeout), "{error}");
            sleep_ms(50).await;
        }
        for script in &scene.scripts {
            script.always(Act::Give);
        }
        sleep_ms(4000).await;
        assert!(scene.take(1).await.is_ok(), "service returns by itself");
        rescuer.abort();
    }
}

#[tokio::test(start_paused = true)]
async fn a_slow_event_is_counted_once_though_store_and_guard_report_it() {
    let scene = Scene::new(1);
    scene.script(0).always(fails(ErrorKind::Contended));
    for events in 1..=3 {
        assert_eq!(scene.state(0), SlotState::Live, "after {}", events - 1);
        scene.take(2).await.unwrap();
        assert_eq!(scene.ring.status()[0].counts.contended, events);
    }
    assert_eq!(scene.state(0), SlotState::Evicted);
}

#[tokio::test(start_paused = true)]
async fn a_quarantined_slot_is_not_tried_even_when_all_others_are_gone() {
    let scene = Scene::new(1);
    scene.script(0).then(fails(ErrorKind::Refused));
    scene.take(2).await.unwrap();
    scene.script(1).always(fails(ErrorKind::Unavailable));
    for _ in 0..50 {
        let error = scene.take(1).await.unwrap_err();
        assert_eq!(error.to_string(), "no-shard: slot 0 refused, slot 1 unavailable");
        sleep_ms(500).await;
    }
    assert_eq!(scene.script(0).takes(), 1);
    let status = &scene.ring.status()[0];
    assert_eq!((status.state, status.counts.refused), (SlotState::Quarantined, 1));
    assert_eq!(status.cause.as_ref().unwrap().1, "refused: scripted");
}

#[tokio::test(start_paused = true)]
async fn what_is_nobodys_fault_is_passed_on_and_held_against_no_slot() {
    for (first, second, expected) in [
        (ErrorKind::NoWitness, ErrorKind::NoWitness, ErrorKind::NoWitness),
        (ErrorKind::NoWitness, ErrorKind::LedgerBehind, ErrorKind::LedgerBehind),
    ] {
        let scene = Scene::new(1);
        scene.script(0).always(fails(first));
        scene.script(1).always(fails(second));
        for _ in 0..9 {
            assert_eq!(scene.take(2).await.unwrap_err().kind(), expected);
        }
        assert!(scene.ring.status().iter().all(|slot| slot.state == SlotState::Live));
        assert!(!scene.has_event(|_| true));
    }
    let scene = Scene::new(1);
    scene.script(0).always(fails(ErrorKind::NoWitness));
    assert_eq!(scene.numbers(2).await, [3], "another slot may hold a permit");
    assert_eq!(scene.numbers(1).await, [5], "asked when the first has none");
}

#[tokio::test(start_paused = true)]
async fn a_sequence_at_its_end_says_so() {
    let scripts = (0..2).map(|_| Some(ScriptedSource::giving().up_to(3))).collect();
    let scene = Scene::of(1, scripts, SeededEntropy::new(1));
    let mut count = 0;
    while let Ok(blocks) = scene.take(4).await {
        count += blocks.count();
    }
    assert_eq!(count, 6);
    assert_eq!(scene.take(1).await.unwrap_err().kind(), ErrorKind::Exhausted);
    assert_eq!(scene.count_events(|event| matches!(event, Event::Retired { .. })), 2, "once a slot");
    assert!(
        scene.ring.status().iter().all(|slot| slot.state == SlotState::Live),
        "the slots serve other keys"
    );
    let other = key_over(&scene.ring, "other");
    assert!(scene.take_from(&other, 1).await.is_err(), "the script is one counter for all keys");
}

#[tokio::test(start_paused = true)]
async fn raw_ids_past_the_layout_are_the_end_and_never_wrap() {
    let last = Block::NUMBER_MAX >> 1;
    let scripts = vec![Some(ScriptedSource::giving().above(last - 1)), Some(ScriptedSource::giving())];
    let scene = Scene::of(1, scripts, SeededEntropy::new(1));
    let near: Arc<dyn Source> = scene.scripts[0].clone();
    let source = scene.ring.source(Key::of(&"near".parse().unwrap()), vec![Some(near), None]);
    assert_eq!(source.take(1).await.unwrap().highest(), Some(last << 1));
    assert_eq!(source.take(1).await.unwrap_err().kind(), ErrorKind::Exhausted);
}

#[tokio::test(start_paused = true)]
async fn a_counter_that_lost_its_life_is_asked_once_more() {
    let scene = Scene::new(0);
    scene.script(0).then(fails(ErrorKind::Reborn));
    assert_eq!(scene.numbers(3).await, [1, 2, 3]);
    scene.script(0).then(fails(ErrorKind::Reborn));
    scene.script(0).then(fails(ErrorKind::Reborn));
    assert_eq!(scene.take(1).await.unwrap_err().to_string(), "no-shard: slot 0 reborn");
    assert_eq!(scene.state(0), SlotState::Live);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_admitted_at_start_is_out_from_the_first_take() {
    let scene = Scene::new(1);
    scene.ring.exclude(0, &SourceError::new(ErrorKind::Refused, "stamp of another cluster"));
    assert_eq!(scene.numbers(2).await, [3, 5]);
    assert_eq!(scene.state(0), SlotState::Quarantined);
    scene.ring.exclude(1, &SourceError::new(ErrorKind::Timeout, "inspect"));
    assert_eq!(scene.state(1), SlotState::Evicted);
    assert_eq!(scene.numbers(1).await, [7], "the last resort");
}

#[tokio::test(start_paused = true)]
async fn a_refusal_by_the_guard_quarantines_the_slot() {
    let scene = Scene::new(1);
    let refusing: Arc<dyn Source> = Arc::new(ScriptedSource::new([], fails(ErrorKind::Refused)));
    let giving: Arc<dyn Source> = Arc::new(ScriptedSource::giving());
    let source = scene.ring.source(Key::of(&"k".parse().unwrap()), vec![Some(refusing), Some(giving)]);
    assert_eq!(source.take(2).await.unwrap().numbers().collect::<Vec<_>>(), [3]);
    assert_eq!(scene.state(0), SlotState::Quarantined);
}
