//! Operators' commands.

use sequent_core::{
    Clock, Why,
    ledger::{SlotCommand, SlotVerb},
};

use super::*;

fn command(slot: SlotIndex, verb: SlotVerb, at_ms: u64) -> SlotCommand {
    SlotCommand { slot, verb, who: "ann".into(), why: "new disk".into(), at_ms, until_ms: None }
}

#[tokio::test(start_paused = true)]
async fn an_evicted_slot_stays_out_even_if_all_others_fail() {
    let fixture = Fixture::new(1);
    let probe_loop = tokio::spawn(fixture.ring.run());
    let evict = [command(0, SlotVerb::Evict, 1)];
    fixture.ring.apply_commands(&evict);
    fixture.ring.apply_commands(&evict);
    fixture.script(1).always(fails(ErrorKind::Unavailable));
    for _ in 0..20 {
        assert!(fixture.take(1).await.is_err());
        sleep_ms(700).await;
    }
    assert_eq!((fixture.script(0).takes(), fixture.state(0)), (0, SlotState::Evicted));
    let of_slot_0 = |event: &Event| matches!(event, Event::SlotCommandDone { slot: 0, verb: "evict", .. });
    assert_eq!(fixture.count_events(of_slot_0), 1);
    let status = &fixture.ring.status()[0];
    assert_eq!(status.cause, Some((ErrorKind::Unavailable, "evict by ann: new disk".into())));
    assert_eq!((status.retry_at, status.command.as_ref()), (None, evict.first()));

    fixture.ring.apply_commands(&[command(0, SlotVerb::Rescue, 2)]);
    sleep_ms(1).await;
    assert_eq!(fixture.state(0), SlotState::Live, "by a probe at once");
    assert!(fixture.take(1).await.is_ok());
    probe_loop.abort();
}

#[tokio::test(start_paused = true)]
async fn a_command_ends_at_its_time_by_the_wall_clock() {
    let fixture = Fixture::new(1);
    let probe_loop = tokio::spawn(fixture.ring.run());
    let until_ms = Some(fixture.clock.wall_ms() + 600_000);
    fixture.ring.apply_commands(&[SlotCommand { until_ms, ..command(1, SlotVerb::Drain, 1) }]);
    sleep_ms(500_000).await;
    assert_eq!(fixture.state(1), SlotState::Drained);
    fixture.clock.step_wall(100_000);
    sleep_ms(2_100).await;
    assert_eq!(fixture.state(1), SlotState::Live);
    probe_loop.abort();
}

#[tokio::test(start_paused = true)]
async fn a_rescue_clears_the_quarantine_of_a_slot_and_of_its_counters() {
    let fixture = Fixture::new(1);
    fixture.script(0).then(Act::Give);
    fixture.script(0).then(Act::Jump(1 << 40));
    fixture.take(2).await.unwrap();
    fixture.take(2).await.unwrap();
    fixture.script(0).always(fails(ErrorKind::Refused));
    let asked = fixture.script(0).takes();
    fixture.take(2).await.unwrap();
    assert_eq!(
        (fixture.script(0).takes(), fixture.state(0)),
        (asked, SlotState::Live),
        "one counter, not the slot"
    );

    fixture.ring.apply_commands(&[command(0, SlotVerb::Rescue, 1)]);
    fixture.take(4).await.unwrap();
    assert_eq!((fixture.script(0).takes(), fixture.state(0)), (asked + 1, SlotState::Quarantined));
    fixture.take(4).await.unwrap();
    assert_eq!(fixture.script(0).takes(), asked + 1);

    fixture.script(0).always(Act::Back(1 << 40));
    fixture.ring.apply_commands(&[command(0, SlotVerb::Rescue, 2)]);
    fixture.take(1).await.unwrap();
    assert_eq!(fixture.state(0), SlotState::Probation, "the counter failed, which says nothing of the slot");
    assert!(fixture.has_event(|event| {
        matches!(event, Event::Quarantined { slot: 0, key: Some(_), kind: ErrorKind::Regressed, .. })
    }));
}

#[tokio::test(start_paused = true)]
async fn a_draining_slot_is_asked_no_more_and_loses_no_late_block() {
    let fixture = Fixture::new(1);
    let probe_loop = tokio::spawn(fixture.ring.run());
    fixture.script(1).then(Act::late(900 * MS));
    assert_eq!(fixture.numbers(2).await, [2], "slot 1 has it for later");
    let drain = [command(1, SlotVerb::Drain, 1)];
    fixture.ring.apply_commands(&drain);
    assert_eq!(fixture.state(1), SlotState::Draining);
    sleep_ms(500).await;
    assert_eq!(fixture.numbers(2).await, [4, 6], "it gets no share");
    assert_eq!(
        (fixture.state(1), fixture.script(1).takes()),
        (SlotState::Draining, 1),
        "a block is on its way"
    );
    sleep_ms(400).await;
    assert_eq!(fixture.state(1), SlotState::Drained, "it is here");
    assert_eq!(fixture.count_events(|event| matches!(event, Event::Drained { slot: 1, .. })), 1);
    assert!(!fixture.has_event(|event| matches!(event, Event::Evicted { .. })), "a drain is no eviction");
    assert_eq!(fixture.numbers(2).await, [3, 8], "and is used, though its slot is out");
    assert!(!fixture.has_event(|event| matches!(event, Event::Dropped { .. })), "nothing was burnt");
    fixture.script(0).always(fails(ErrorKind::Unavailable));
    for _ in 0..20 {
        assert!(fixture.take(1).await.is_err());
        sleep_ms(700).await;
    }
    assert_eq!((fixture.state(1), fixture.script(1).takes()), (SlotState::Drained, 1), "not even in need");
    fixture.ring.apply_commands(&[command(1, SlotVerb::Rescue, 2)]);
    sleep_ms(1).await;
    assert_eq!(fixture.state(1), SlotState::Live);
    probe_loop.abort();
}

#[tokio::test(start_paused = true)]
async fn a_drain_waits_for_every_key_and_starts_anew_after_a_rescue() {
    let fixture = Fixture::new(1);
    let probe_loop = tokio::spawn(fixture.ring.run());
    let keys: Vec<_> = (0..5).map(|at| key_over(&fixture.ring, &format!("key-{at}"))).collect();
    for at in [3, 1] {
        fixture.script(1).then(Act::late(MS * (300 + at * 100)));
        keys[usize::try_from(at).unwrap()].take(2).await.unwrap();
    }
    for at_ms in [1, 3] {
        fixture.ring.apply_commands(&[command(1, SlotVerb::Drain, at_ms)]);
        fixture.ring.apply_commands(&[command(1, SlotVerb::Rescue, at_ms + 1)]);
    }
    fixture.ring.apply_commands(&[command(1, SlotVerb::Drain, 5)]);
    sleep_ms(150).await;
    assert_eq!(fixture.state(1), SlotState::Draining);
    sleep_ms(500).await;
    assert_eq!(fixture.state(1), SlotState::Drained);
    probe_loop.abort();
}

#[tokio::test(start_paused = true)]
async fn the_error_of_a_take_names_each_slot_and_its_cause() {
    let fixture = Fixture::new(2);
    let probe_loop = tokio::spawn(fixture.ring.run());
    fixture.take(4).await.unwrap();
    fixture.script(0).always(fails(ErrorKind::Unavailable));
    assert!(fixture.take(1).await.is_ok());
    fixture.ring.apply_commands(&[
        command(1, SlotVerb::Evict, 1),
        command(2, SlotVerb::Drain, 2),
        // It is out already for another cause. When that passes, the command still keeps it out.
        command(0, SlotVerb::Evict, 3),
    ]);
    sleep_ms(1000).await;
    fixture.script(3).always(Act::Hang);
    let failed = fixture.take(1).await.unwrap_err();
    let expected = "slots 0-1 evicted by an operator, slot 2 drained, slot 3 timed out";
    assert_eq!(failed.context(), expected);
    let status = fixture.ring.status();
    assert_eq!(status[0].cause.as_ref().map(|cause| cause.0), Some(ErrorKind::Unavailable));
    assert_eq!((status[0].why, status[1].why), (None, Some(Why::EvictedByHand)), "the cause that is shown");
    probe_loop.abort();
}
