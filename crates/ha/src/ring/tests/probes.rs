//! Rescue: probation, the lift to the front, and probes of idle slots.

use super::*;

fn is_rescued(at: SlotIndex) -> impl Fn(&Event) -> bool {
    move |event| matches!(event, Event::Rescued { slot, .. } if *slot == at)
}

/// Slot 0 fails once, and the others go on to a front of 101.
async fn with_slot_0_out() -> Fixture {
    let fixture = Fixture::new(2);
    fixture.take(4).await.unwrap();
    fixture.script(0).then(fails(ErrorKind::Unavailable));
    fixture.take(4).await.unwrap();
    assert_eq!(fixture.state(0), SlotState::Evicted);
    while fixture.source.key.raw_position(3) < 101 {
        fixture.take(3).await.unwrap();
    }
    fixture
}

#[tokio::test(start_paused = true)]
async fn the_next_take_after_the_wait_is_the_probe_and_serves_from_the_front() {
    let fixture = with_slot_0_out().await;
    let asked = fixture.script(0).takes();
    sleep_ms(499).await;
    fixture.take(3).await.unwrap();
    assert_eq!(fixture.script(0).takes(), asked, "not before its time");
    sleep_ms(1).await;
    fixture.take(3).await.unwrap();
    assert_eq!(fixture.script(0).wants().last(), Some(&1), "one real take");
    assert_eq!((fixture.state(0), fixture.script(0).lifts()), (SlotState::Live, vec![102]));
    assert!(fixture.has_event(is_rescued(0)));
    let numbers = fixture.numbers(8).await;
    assert!(numbers.iter().all(|number| *number >= 103 << 2), "{numbers:?}");
    assert_eq!(fixture.script(0).lifts().len(), 1, "lifted once");
}

#[tokio::test(start_paused = true)]
async fn another_key_is_lifted_at_its_first_use_after_the_rescue() {
    let fixture = with_slot_0_out().await;
    let other = key_over(&fixture.ring, "other");
    fixture.take_without_oracle(&other, 30).await;
    let lifts = fixture.script(0).lifts().len();
    sleep_ms(500).await;
    fixture.take(3).await.unwrap();
    assert_eq!(
        (fixture.state(0), fixture.script(0).lifts().len()),
        (SlotState::Live, lifts + 1),
        "the key of the probe"
    );
    fixture.take_without_oracle(&other, 30).await;
    fixture.take_without_oracle(&other, 30).await;
    assert_eq!(fixture.script(0).lifts().len(), lifts + 1, "new since the rescue: never behind by it");
}

#[tokio::test(start_paused = true)]
async fn a_key_that_used_the_slot_before_is_lifted_too() {
    let fixture = Fixture::new(2);
    let other = key_over(&fixture.ring, "other");
    fixture.take_without_oracle(&other, 4).await;
    fixture.script(0).then(fails(ErrorKind::Unavailable));
    fixture.take(4).await.unwrap();
    fixture.take_without_oracle(&other, 300).await;
    sleep_ms(500).await;
    fixture.take(3).await.unwrap();
    assert_eq!(fixture.state(0), SlotState::Live);
    let lifts = fixture.script(0).lifts().len();
    fixture.take_without_oracle(&other, 8).await;
    fixture.take_without_oracle(&other, 8).await;
    assert_eq!(fixture.script(0).lifts().len(), lifts + 1, "once, at its first use");
}

#[tokio::test(start_paused = true)]
async fn an_idle_slot_is_probed_after_a_second() {
    let fixture = with_slot_0_out().await;
    let probe_loop = tokio::spawn(fixture.ring.run());
    sleep_ms(1499).await;
    assert_eq!(fixture.state(0), SlotState::Probation);
    sleep_ms(2).await;
    assert_eq!(fixture.state(0), SlotState::Live);
    assert!(fixture.has_event(|event| matches!(event, Event::Dropped { slot: Some(0), count: 1, .. })));
    assert_eq!(fixture.script(0).lifts().len(), 1, "from the front");
    probe_loop.abort();
}

/// While a take probes slots as the last resort, the probe loop does not watch them. If that fails, no take may ever come
/// again.
#[tokio::test(start_paused = true)]
async fn slots_that_fail_a_last_resort_are_probed_again() {
    let fixture = Fixture::new(1);
    let probe_loop = tokio::spawn(fixture.ring.run());
    fixture.each_script(|script| script.always(fails(ErrorKind::Unavailable)));
    fixture.take(2).await.unwrap_err();
    fixture.each_script(|script| script.always(Act::Hang));
    // Their own probes become due while this one hangs.
    fixture.take(2).await.unwrap_err();
    fixture.each_script(|script| script.always(Act::late(Duration::ZERO)));
    sleep_ms(10_000).await;
    assert_eq!([fixture.state(0), fixture.state(1)], [SlotState::Live; 2], "with nobody asking");
    probe_loop.abort();
}

#[tokio::test(start_paused = true)]
async fn without_a_key_a_slot_stays_on_probation() {
    let mut fixture = with_slot_0_out().await;
    let probe_loop = tokio::spawn(fixture.ring.run());
    let asked = fixture.script(0).takes();
    let empty = fixture.ring.source(Key::of(&"none".parse().unwrap()), Vec::new());
    fixture.source = empty;
    sleep_ms(60_000).await;
    assert_eq!((fixture.state(0), fixture.script(0).takes()), (SlotState::Probation, asked));
    fixture.source = key_over(&fixture.ring, "new");
    sleep_ms(1001).await;
    assert_eq!(fixture.state(0), SlotState::Live);
    probe_loop.abort();
}

#[tokio::test(start_paused = true)]
async fn a_hanging_probe_ends_at_its_own_deadline_and_delays_nobody() {
    let fixture = with_slot_0_out().await;
    fixture.script(0).always(Act::Hang);
    sleep_ms(500).await;
    let taken = tokio::time::timeout(MS, fixture.take(3)).await;
    assert!(taken.is_ok(), "nobody waits for a probe while others serve");
    sleep_ms(1001).await;
    assert!(
        fixture
            .has_event(|event| matches!(event, Event::ProbeFailed { slot: 0, kind: ErrorKind::Timeout, .. }))
    );
    assert_eq!(fixture.state(0), SlotState::Evicted);
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_hangs_behind_the_store_also_ends() {
    let fixture = Fixture::new(1);
    let hanging = Arc::new(ScriptedSource::new([fails(ErrorKind::Unavailable)], Act::Hang));
    let counters: Vec<Option<Arc<dyn Source>>> =
        vec![Some(hanging), Some(Arc::new(ScriptedSource::giving()))];
    let source = fixture.ring.source(Key::of(&"k".parse().unwrap()), counters);
    source.take(2).await.unwrap();
    sleep_ms(500).await;
    source.take(2).await.unwrap();
    sleep_ms(1999).await;
    assert_eq!(fixture.state(0), SlotState::Probation);
    sleep_ms(2).await;
    assert_eq!(fixture.state(0), SlotState::Evicted);
}

#[tokio::test(start_paused = true)]
async fn one_probe_is_in_flight_at_a_time() {
    let fixture = with_slot_0_out().await;
    fixture.script(0).always(Act::late(150 * MS));
    let asked = fixture.script(0).takes();
    sleep_ms(500).await;
    for _ in 0..10 {
        fixture.take(3).await.unwrap();
    }
    assert_eq!(fixture.script(0).takes(), asked + 1);
    sleep_ms(151).await;
    assert_eq!(fixture.state(0), SlotState::Live);
    assert_eq!(fixture.take(1).await.unwrap().count(), 1, "its block was kept, and used");
}

#[tokio::test(start_paused = true)]
async fn a_probe_without_the_ledger_decides_nothing() {
    let fixture = with_slot_0_out().await;
    fixture.script(0).then(fails(ErrorKind::NoWitness));
    sleep_ms(500).await;
    fixture.take(3).await.unwrap();
    assert_eq!(fixture.state(0), SlotState::Probation);
    fixture.take(3).await.unwrap();
    assert_eq!(fixture.state(0), SlotState::Live, "the next one decides");
}

#[tokio::test(start_paused = true)]
async fn waits_double_with_jitter_while_it_keeps_failing() {
    let fixture = with_slot_0_out().await;
    fixture.script(0).always(fails(ErrorKind::Unavailable));
    let probe_loop = tokio::spawn(fixture.ring.run());
    sleep_ms(3_600_000).await;
    let events = fixture.events.lock().unwrap().clone();
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
    probe_loop.abort();
}

#[tokio::test(start_paused = true)]
async fn the_probe_loop_ends_with_the_ring() {
    let fixture = Fixture::new(0);
    let probe_loop = tokio::spawn(fixture.ring.run());
    sleep_ms(10).await;
    drop(fixture);
    tokio::time::timeout(MS, probe_loop).await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_large_lag_is_lifted_away_and_a_small_one_caught_up() {
    for (behind, lifts) in [(1 << 20, vec![2 << 20]), (5, vec![])] {
        let scripts: Vec<Arc<ScriptedSource>> = (0..4)
            .map(|slot| {
                let at = if slot == 2 { (2 << 20) - behind } else { 2 << 20 };
                Arc::new(ScriptedSource::giving().above(at))
            })
            .collect();
        let fixture = Fixture::new(2);
        let counters = scripts.iter().map(|script| Some(script.clone() as Arc<dyn Source>)).collect();
        let source = fixture.ring.source(Key::of(&"old".parse().unwrap()), counters);
        let blocks = source.take(4).await.unwrap();
        assert_eq!((blocks.count(), scripts[2].lifts()), (4, lifts));
    }
}

impl Fixture {
    fn each_script(&self, how: impl Fn(&ScriptedSource)) {
        self.scripts.iter().for_each(|script| how(script));
    }

    /// Takes from another key without the oracle, which knows only the first key's numbers.
    async fn take_without_oracle(&self, source: &RingSource, want: u64) {
        source.take(want).await.unwrap();
    }
}
