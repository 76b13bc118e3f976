//! Coming back: probation, the lift to the front, the probe that nobody asked for.

use super::*;

fn is_rescued(at: SlotIndex) -> impl Fn(&Event) -> bool {
    move |event| matches!(event, Event::Rescued { slot, .. } if *slot == at)
}

/// Slot 0 fails once, and the others go on to a front of 101.
async fn slot_0_out() -> Scene {
    let scene = Scene::new(2);
    scene.take(4).await.unwrap();
    scene.script(0).then(fails(ErrorKind::Unavailable));
    scene.take(4).await.unwrap();
    assert_eq!(scene.state(0), SlotState::Evicted);
    while scene.source.key.raw_position(3) < 101 {
        scene.take(3).await.unwrap();
    }
    scene
}

#[tokio::test(start_paused = true)]
async fn the_next_refill_after_the_wait_is_the_probe_and_serves_from_the_front() {
    let scene = slot_0_out().await;
    let asked = scene.script(0).takes();
    sleep_ms(499).await;
    scene.take(3).await.unwrap();
    assert_eq!(scene.script(0).takes(), asked, "not before its time");
    sleep_ms(1).await;
    scene.take(3).await.unwrap();
    assert_eq!(scene.script(0).wants().last(), Some(&1), "one real take");
    assert_eq!((scene.state(0), scene.script(0).lifts()), (SlotState::Live, vec![102]));
    assert!(scene.has_event(is_rescued(0)));
    let numbers = scene.numbers(8).await;
    assert!(numbers.iter().all(|number| *number >= 103 << 2), "{numbers:?}");
    assert_eq!(scene.script(0).lifts().len(), 1, "lifted once");
}

#[tokio::test(start_paused = true)]
async fn another_key_is_lifted_at_its_first_use_after_the_rescue() {
    let scene = slot_0_out().await;
    let other = key_over(&scene.ring, "other");
    scene.take_from_quietly(&other, 30).await;
    let lifts = scene.script(0).lifts().len();
    sleep_ms(500).await;
    scene.take(3).await.unwrap();
    assert_eq!(
        (scene.state(0), scene.script(0).lifts().len()),
        (SlotState::Live, lifts + 1),
        "the key of the probe"
    );
    scene.take_from_quietly(&other, 30).await;
    scene.take_from_quietly(&other, 30).await;
    assert_eq!(scene.script(0).lifts().len(), lifts + 1, "new since the rescue: never behind by it");
}

#[tokio::test(start_paused = true)]
async fn a_key_that_used_the_slot_before_is_lifted_too() {
    let scene = Scene::new(2);
    let other = key_over(&scene.ring, "other");
    scene.take_from_quietly(&other, 4).await;
    scene.script(0).then(fails(ErrorKind::Unavailable));
    scene.take(4).await.unwrap();
    scene.take_from_quietly(&other, 300).await;
    sleep_ms(500).await;
    scene.take(3).await.unwrap();
    assert_eq!(scene.state(0), SlotState::Live);
    let lifts = scene.script(0).lifts().len();
    scene.take_from_quietly(&other, 8).await;
    scene.take_from_quietly(&other, 8).await;
    assert_eq!(scene.script(0).lifts().len(), lifts + 1, "once, at its first use");
}

#[tokio::test(start_paused = true)]
async fn a_slot_that_nobody_asks_tries_itself_after_a_second() {
    let scene = slot_0_out().await;
    let rescuer = tokio::spawn(scene.ring.run());
    sleep_ms(1499).await;
    assert_eq!(scene.state(0), SlotState::Probation);
    sleep_ms(2).await;
    assert_eq!(scene.state(0), SlotState::Live);
    assert!(scene.has_event(|event| matches!(event, Event::Dropped { slot: Some(0), count: 1, .. })));
    assert_eq!(scene.script(0).lifts().len(), 1, "from the front");
    rescuer.abort();
}

/// What a refill tries ahead of its time, nobody else watches meanwhile; and when that fails, no refill may ever come again.
#[tokio::test(start_paused = true)]
async fn slots_tried_in_vain_as_the_last_resort_try_themselves_again() {
    let scene = Scene::new(1);
    let rescuer = tokio::spawn(scene.ring.run());
    scene.each_script(|script| script.always(fails(ErrorKind::Unavailable)));
    scene.take(2).await.unwrap_err();
    scene.each_script(|script| script.always(Act::Hang));
    // Times to be tried by themselves go by while this one hangs.
    scene.take(2).await.unwrap_err();
    scene.each_script(|script| script.always(Act::late(Duration::ZERO)));
    sleep_ms(10_000).await;
    assert_eq!([scene.state(0), scene.state(1)], [SlotState::Live; 2], "with nobody asking");
    rescuer.abort();
}

#[tokio::test(start_paused = true)]
async fn without_a_key_a_slot_waits_on_probation() {
    let mut scene = slot_0_out().await;
    let rescuer = tokio::spawn(scene.ring.run());
    let asked = scene.script(0).takes();
    let empty = scene.ring.source(Key::of(&"none".parse().unwrap()), Vec::new());
    scene.source = empty;
    sleep_ms(60_000).await;
    assert_eq!((scene.state(0), scene.script(0).takes()), (SlotState::Probation, asked));
    scene.source = key_over(&scene.ring, "new");
    sleep_ms(1001).await;
    assert_eq!(scene.state(0), SlotState::Live);
    rescuer.abort();
}

#[tokio::test(start_paused = true)]
async fn a_hanging_probe_ends_by_its_own_deadline_and_delays_nobody() {
    let scene = slot_0_out().await;
    scene.script(0).always(Act::Hang);
    sleep_ms(500).await;
    let taken = tokio::time::timeout(MS, scene.take(3)).await;
    assert!(taken.is_ok(), "nobody waits for a probe while others serve");
    sleep_ms(1001).await;
    assert!(
        scene
            .has_event(|event| matches!(event, Event::ProbeFailed { slot: 0, kind: ErrorKind::Timeout, .. }))
    );
    assert_eq!(scene.state(0), SlotState::Evicted);
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_hangs_behind_the_store_ends_too() {
    let scene = Scene::new(1);
    let hanging = Arc::new(ScriptedSource::new([fails(ErrorKind::Unavailable)], Act::Hang));
    let counters: Vec<Option<Arc<dyn Source>>> =
        vec![Some(hanging), Some(Arc::new(ScriptedSource::giving()))];
    let source = scene.ring.source(Key::of(&"k".parse().unwrap()), counters);
    source.take(2).await.unwrap();
    sleep_ms(500).await;
    source.take(2).await.unwrap();
    sleep_ms(1999).await;
    assert_eq!(scene.state(0), SlotState::Probation);
    sleep_ms(2).await;
    assert_eq!(scene.state(0), SlotState::Evicted);
}

#[tokio::test(start_paused = true)]
async fn only_one_probe_is_out_at_a_time() {
    let scene = slot_0_out().await;
    scene.script(0).always(Act::late(150 * MS));
    let asked = scene.script(0).takes();
    sleep_ms(500).await;
    for _ in 0..10 {
        scene.take(3).await.unwrap();
    }
    assert_eq!(scene.script(0).takes(), asked + 1);
    sleep_ms(151).await;
    assert_eq!(scene.state(0), SlotState::Live);
    assert_eq!(scene.take(1).await.unwrap().count(), 1, "its block was kept, and used");
}

#[tokio::test(start_paused = true)]
async fn a_probe_refused_by_the_ledgers_absence_says_nothing() {
    let scene = slot_0_out().await;
    scene.script(0).then(fails(ErrorKind::NoWitness));
    sleep_ms(500).await;
    scene.take(3).await.unwrap();
    assert_eq!(scene.state(0), SlotState::Probation);
    scene.take(3).await.unwrap();
    assert_eq!(scene.state(0), SlotState::Live, "the next one decides");
}

#[tokio::test(start_paused = true)]
async fn waits_double_with_jitter_while_it_stays_dead() {
    let scene = slot_0_out().await;
    scene.script(0).always(fails(ErrorKind::Unavailable));
    let rescuer = tokio::spawn(scene.ring.run());
    sleep_ms(3_600_000).await;
    let events = scene.events.lock().unwrap().clone();
    let waits: Vec<Duration> = events
        .iter()
        .filter_map(|event| match event {
            Event::ProbeFailed { slot: 0, retry_after, .. } => Some(*retry_after),
            _ => None,
        })
        .collect();
    let bound = |failures: usize| (500 * MS * (1 << (failures + 1).min(20))).min(Duration::from_secs(300));
    assert!(waits.len() > 15, "{waits:?}");
    assert!(waits.iter().enumerate().all(|(at, wait)| *wait >= 500 * MS && *wait <= bound(at)), "{waits:?}");
    assert!(waits.iter().any(|wait| *wait > Duration::from_secs(150)), "{waits:?}");
    rescuer.abort();
}

#[tokio::test(start_paused = true)]
async fn the_clockwork_ends_with_the_ring() {
    let scene = Scene::new(0);
    let rescuer = tokio::spawn(scene.ring.run());
    sleep_ms(10).await;
    drop(scene);
    tokio::time::timeout(MS, rescuer).await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_lag_from_before_this_process_is_lifted_away_and_a_small_one_caught_up() {
    for (behind, lifts) in [(1 << 20, vec![2 << 20]), (5, vec![])] {
        let scripts: Vec<Arc<ScriptedSource>> = (0..4)
            .map(|slot| {
                let at = if slot == 2 { (2 << 20) - behind } else { 2 << 20 };
                Arc::new(ScriptedSource::giving().above(at))
            })
            .collect();
        let scene = Scene::new(2);
        let counters = scripts.iter().map(|script| Some(script.clone() as Arc<dyn Source>)).collect();
        let source = scene.ring.source(Key::of(&"old".parse().unwrap()), counters);
        let blocks = source.take(4).await.unwrap();
        assert_eq!((blocks.count(), scripts[2].lifts()), (4, lifts));
    }
}

impl Scene {
    fn each_script(&self, how: impl Fn(&ScriptedSource)) {
        self.scripts.iter().for_each(|script| how(script));
    }

    /// Takes from another key, whose numbers the oracle must not mix with the first one's.
    async fn take_from_quietly(&self, source: &RingSource, want: u64) {
        source.take(want).await.unwrap();
    }
}
