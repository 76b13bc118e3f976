//! What operators say.

use sequent_core::{
    Clock, Why,
    ledger::{Word, WordVerb},
};

use super::*;

fn word(slot: SlotIndex, verb: WordVerb, at_ms: u64) -> Word {
    Word { slot, verb, who: "ann".into(), why: "new disk".into(), at_ms, until_ms: None }
}

#[tokio::test(start_paused = true)]
async fn an_evicted_slot_stays_out_though_all_others_die() {
    let scene = Scene::new(1);
    let rescuer = tokio::spawn(scene.ring.run());
    let evict = [word(0, WordVerb::Evict, 1)];
    scene.ring.obey(&evict);
    scene.ring.obey(&evict);
    scene.script(1).always(fails(ErrorKind::Unavailable));
    for _ in 0..20 {
        assert!(scene.take(1).await.is_err());
        sleep_ms(700).await;
    }
    assert_eq!((scene.script(0).takes(), scene.state(0)), (0, SlotState::Evicted));
    let of_slot_0 = |event: &Event| matches!(event, Event::Obeyed { slot: 0, verb: "evict", .. });
    assert_eq!(scene.count_events(of_slot_0), 1);
    let status = &scene.ring.status()[0];
    assert_eq!(status.cause, Some((ErrorKind::Unavailable, "evict by ann: new disk".into())));
    assert_eq!((status.retry_at, status.word.as_ref()), (None, evict.first()));

    scene.ring.obey(&[word(0, WordVerb::Rescue, 2)]);
    sleep_ms(1).await;
    assert_eq!(scene.state(0), SlotState::Live, "by a probe at once");
    assert!(scene.take(1).await.is_ok());
    rescuer.abort();
}

#[tokio::test(start_paused = true)]
async fn a_word_ends_at_its_time_by_the_wall_clock() {
    let scene = Scene::new(1);
    let rescuer = tokio::spawn(scene.ring.run());
    let until_ms = Some(scene.clock.wall_ms() + 600_000);
    scene.ring.obey(&[Word { until_ms, ..word(1, WordVerb::Drain, 1) }]);
    sleep_ms(500_000).await;
    assert_eq!(scene.state(1), SlotState::Drained);
    scene.clock.step_wall(100_000);
    sleep_ms(2_100).await;
    assert_eq!(scene.state(1), SlotState::Live);
    rescuer.abort();
}

#[tokio::test(start_paused = true)]
async fn a_rescue_clears_the_quarantine_of_a_slot_and_of_its_counters() {
    let scene = Scene::new(1);
    scene.script(0).then(Act::Give);
    scene.script(0).then(Act::Leap(1 << 40));
    scene.take(2).await.unwrap();
    scene.take(2).await.unwrap();
    scene.script(0).always(fails(ErrorKind::Refused));
    let asked = scene.script(0).takes();
    scene.take(2).await.unwrap();
    assert_eq!(
        (scene.script(0).takes(), scene.state(0)),
        (asked, SlotState::Live),
        "one counter, not the slot"
    );

    scene.ring.obey(&[word(0, WordVerb::Rescue, 1)]);
    scene.take(4).await.unwrap();
    assert_eq!((scene.script(0).takes(), scene.state(0)), (asked + 1, SlotState::Quarantined));
    scene.take(4).await.unwrap();
    assert_eq!(scene.script(0).takes(), asked + 1);

    scene.script(0).always(Act::Back(1 << 40));
    scene.ring.obey(&[word(0, WordVerb::Rescue, 2)]);
    scene.take(1).await.unwrap();
    assert_eq!(scene.state(0), SlotState::Probation, "the counter failed, which says nothing of the slot");
    assert!(scene.has_event(|event| {
        matches!(event, Event::Quarantined { slot: 0, key: Some(_), kind: ErrorKind::Regressed, .. })
    }));
}

#[tokio::test(start_paused = true)]
async fn a_slot_that_drains_is_asked_no_more_and_loses_no_late_block() {
    let scene = Scene::new(1);
    let rescuer = tokio::spawn(scene.ring.run());
    scene.script(1).then(Act::late(900 * MS));
    assert_eq!(scene.numbers(2).await, [2], "slot 1 has it for later");
    let drain = [word(1, WordVerb::Drain, 1)];
    scene.ring.obey(&drain);
    assert_eq!(scene.state(1), SlotState::Draining);
    sleep_ms(500).await;
    assert_eq!(scene.numbers(2).await, [4, 6], "it gets no share");
    assert_eq!((scene.state(1), scene.script(1).takes()), (SlotState::Draining, 1), "a block is on its way");
    sleep_ms(400).await;
    assert_eq!(scene.state(1), SlotState::Drained, "it is here");
    assert_eq!(scene.count_events(|event| matches!(event, Event::Drained { slot: 1, .. })), 1);
    assert!(!scene.has_event(|event| matches!(event, Event::Evicted { .. })), "a drain is no eviction");
    assert_eq!(scene.numbers(2).await, [3, 8], "and is used, though its slot is out");
    assert!(!scene.has_event(|event| matches!(event, Event::Dropped { .. })), "nothing was burnt");
    scene.script(0).always(fails(ErrorKind::Unavailable));
    for _ in 0..20 {
        assert!(scene.take(1).await.is_err());
        sleep_ms(700).await;
    }
    assert_eq!((scene.state(1), scene.script(1).takes()), (SlotState::Drained, 1), "not even in need");
    scene.ring.obey(&[word(1, WordVerb::Rescue, 2)]);
    sleep_ms(1).await;
    assert_eq!(scene.state(1), SlotState::Live);
    rescuer.abort();
}

#[tokio::test(start_paused = true)]
async fn a_drain_waits_for_every_key_and_begins_anew_after_a_rescue() {
    let scene = Scene::new(1);
    let rescuer = tokio::spawn(scene.ring.run());
    let keys: Vec<_> = (0..5).map(|at| key_over(&scene.ring, &format!("key-{at}"))).collect();
    for at in [3, 1] {
        scene.script(1).then(Act::late(MS * (300 + at * 100)));
        keys[usize::try_from(at).unwrap()].take(2).await.unwrap();
    }
    for at_ms in [1, 3] {
        scene.ring.obey(&[word(1, WordVerb::Drain, at_ms)]);
        scene.ring.obey(&[word(1, WordVerb::Rescue, at_ms + 1)]);
    }
    scene.ring.obey(&[word(1, WordVerb::Drain, 5)]);
    sleep_ms(150).await;
    assert_eq!(scene.state(1), SlotState::Draining);
    sleep_ms(500).await;
    assert_eq!(scene.state(1), SlotState::Drained);
    rescuer.abort();
}

#[tokio::test(start_paused = true)]
async fn a_take_that_gets_nothing_names_each_slot_and_why() {
    let scene = Scene::new(2);
    let rescuer = tokio::spawn(scene.ring.run());
    scene.take(4).await.unwrap();
    scene.script(0).always(fails(ErrorKind::Unavailable));
    assert!(scene.take(1).await.is_ok());
    scene.ring.obey(&[
        word(1, WordVerb::Evict, 1),
        word(2, WordVerb::Drain, 2),
        // It is out already, for another reason; that reason may pass, and it stays out.
        word(0, WordVerb::Evict, 3),
    ]);
    sleep_ms(1000).await;
    scene.script(3).always(Act::Hang);
    let failed = scene.take(1).await.unwrap_err();
    let expected = "slots 0-1 evicted by an operator, slot 2 drained, slot 3 timed out";
    assert_eq!(failed.context(), expected);
    let status = scene.ring.status();
    assert_eq!(status[0].cause.as_ref().map(|cause| cause.0), Some(ErrorKind::Unavailable));
    assert_eq!((status[0].why, status[1].why), (None, Some(Why::EvictedByHand)), "the cause that is shown");
    rescuer.abort();
}
