//! Late blocks: used by the next take, once.

use sequent_core::Source;

use super::*;

#[tokio::test(start_paused = true)]
async fn a_late_block_is_used_first_and_once() {
    let fixture = Fixture::new(2);
    fixture.script(1).then(Act::late(500 * MS));
    let began = tokio_ms();
    assert_eq!(fixture.numbers(4).await, [4, 6, 7], "after 200 ms it is not waited for");
    assert_eq!(tokio_ms() - began, 200);
    assert_eq!(fixture.numbers(2).await, [8, 10], "nor asked again meanwhile");
    sleep_ms(400).await;
    let asked: usize = fixture.scripts.iter().map(|script| script.takes()).sum();
    assert_eq!(fixture.numbers(1).await, [5]);
    assert_eq!(asked, fixture.scripts.iter().map(|script| script.takes()).sum(), "nobody had to be asked");
    assert_eq!(fixture.numbers(2).await, [9, 11]);
}

#[tokio::test(start_paused = true)]
async fn the_last_blocks_of_a_sequence_are_given_though_they_come_late() {
    let scripts = (0..2).map(|_| Some(ScriptedSource::giving().up_to(2))).collect();
    let fixture = Fixture::of(1, scripts, SeededEntropy::new(1));
    fixture.script(1).then(Act::late(500 * MS));
    assert_eq!(fixture.numbers(4).await, [2, 4], "slot 1 is not waited for");
    sleep_ms(200).await;
    // Slot 0 says at 550 ms that it has no more, and slot 1 then, since what it had came at 500 ms.
    fixture.script(0).then(Act::late(150 * MS));
    assert_eq!(fixture.numbers(2).await, [3, 5]);
    assert_eq!(fixture.take(1).await.unwrap_err().kind(), ErrorKind::Exhausted);
}

#[tokio::test(start_paused = true)]
async fn if_all_are_late_the_first_answer_is_used() {
    let fixture = Fixture::new(1);
    fixture.script(0).then(Act::late(900 * MS));
    fixture.script(1).then(Act::late(300 * MS));
    assert_eq!(fixture.numbers(1).await, [3], "asked besides after 200 ms, answered 300 later");
    sleep_ms(900).await;
    assert_eq!(fixture.numbers(3).await, [2, 4, 5]);
}

#[tokio::test(start_paused = true)]
async fn a_hanging_slot_costs_one_attempt_at_most_and_then_nothing() {
    let fixture = Fixture::new(1);
    fixture.script(0).always(Act::Hang);
    let mut waits = Vec::new();
    for _ in 0..60 {
        let began = tokio_ms();
        fixture.take(10).await.unwrap();
        waits.push(tokio_ms() - began);
    }
    assert!(waits.iter().all(|wait| *wait <= 200), "{waits:?}");
    assert!(waits.iter().filter(|wait| **wait > 0).count() <= 4, "only until it is evicted: {waits:?}");
}

#[tokio::test(start_paused = true)]
async fn if_the_asked_slots_hang_all_others_are_asked_after_200_ms() {
    let fixture = Fixture::new(3);
    for slot in 0..5 {
        fixture.script(slot).then(Act::Hang);
    }
    let began = tokio_ms();
    assert_eq!(fixture.numbers(1).await, [13], "the sixth slot");
    assert_eq!(tokio_ms() - began, 200);
    assert_eq!(fixture.numbers(2).await, [14, 15], "what was asked besides is not lost");
}

#[tokio::test(start_paused = true)]
async fn a_request_that_hangs_behind_the_store_is_given_up_in_the_end() {
    let fixture = Fixture::new(1);
    let hanging = Arc::new(ScriptedSource::new([], Act::Hang));
    let counters: Vec<Option<Arc<dyn Source>>> =
        vec![Some(hanging.clone()), Some(Arc::new(ScriptedSource::giving()))];
    let source = fixture.ring.source(Key::of(&"k".parse().unwrap()), counters);
    for _ in 0..9 {
        assert_eq!(source.take(2).await.unwrap().as_slice()[0].first() & 1, 1);
    }
    assert_eq!(hanging.takes(), 1, "one request is in flight, and no second one is made");
    sleep_ms(8001).await;
    source.take(2).await.unwrap();
    assert_eq!(hanging.takes(), 2, "the first was given up");
    assert_eq!(fixture.state(0), SlotState::Live, "the store did nothing wrong");
}

#[tokio::test(start_paused = true)]
async fn late_blocks_of_a_quarantined_slot_are_dropped_and_reported() {
    let fixture = Fixture::new(1);
    fixture.script(0).then(Act::late(500 * MS));
    fixture.script(0).then(fails(ErrorKind::Refused));
    assert_eq!(fixture.numbers(2).await, [3]);
    sleep_ms(500).await;
    // Another operation of the guard is refused.
    let store = fixture.ring.store(0).unwrap();
    let key = Key::of(&"order".parse().unwrap());
    let cell = Cell { key: &key, under: &InstanceId::new("one") };
    store.take(cell, Epoch::from_stored(1), 1).await.unwrap_err();
    assert_eq!(fixture.numbers(1).await, [5]);
    assert!(fixture.has_event(|event| matches!(event, Event::Dropped { slot: Some(0), count: 1, .. })));
}

#[tokio::test(start_paused = true)]
async fn late_blocks_of_a_counter_that_went_backwards_are_dropped_and_reported() {
    let fixture = Fixture::new(1);
    fixture.take(2).await.unwrap();
    fixture.script(0).then(Act::late(500 * MS));
    fixture.script(0).then(Act::Late(600 * MS, Box::new(Act::Back(2))));
    let (first, second) = tokio::join!(fixture.take(2), fixture.take(2));
    assert_eq!((first.unwrap().count(), second.unwrap().count()), (1, 1));
    sleep_ms(600).await;
    assert!(fixture.has_event(|event| matches!(event, Event::Quarantined { slot: 0, key: Some(_), .. })));
    assert_eq!(fixture.numbers(1).await, [9]);
    assert!(fixture.has_event(|event| matches!(event, Event::Dropped { slot: Some(0), count: 1, .. })));
}

#[tokio::test(start_paused = true)]
async fn late_blocks_of_a_key_that_is_gone_are_reported() {
    let fixture = Fixture::new(1);
    let source = key_over(&fixture.ring, "brief");
    fixture.script(0).then(Act::late(500 * MS));
    assert_eq!(source.take(6).await.unwrap().count(), 3);
    drop(source);
    sleep_ms(600).await;
    assert!(fixture.has_event(|event| matches!(event, Event::Dropped { slot: Some(0), count: 3, .. })));
}

#[allow(clippy::disallowed_methods, reason = "paused time, in a test")]
fn tokio_ms() -> u128 {
    use std::sync::OnceLock;
    thread_local! { static START: OnceLock<tokio::time::Instant> = const { OnceLock::new() } }
    START.with(|start| start.get_or_init(tokio::time::Instant::now).elapsed().as_millis())
}
