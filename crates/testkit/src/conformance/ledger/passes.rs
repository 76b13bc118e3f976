//! Passes: whose call may write. A ledger that went back is found by the nonce that it no longer holds.

use sequent_core::{
    ErrorKind, InstanceId,
    ledger::{Pass, ServerId},
};

use super::{
    super::{Checked, skipped},
    LedgerFixture,
    desk::{AHEAD, Desk, GENERATION, counter, opening, raise, refused},
};
use crate::cut_short;

/// The most polls that a call may need: far more than any has awaits.
const POLLS_MAX: usize = 200;

/// How many servers find at once that the ledger went back.
const FINDERS: u64 = 8;

/// Every call under an instance that does not speak is `InstanceChanged`, and has written nothing, not even the nonce.
pub async fn another_instance_writes_nothing(fixture: &dyn LedgerFixture) -> Checked {
    let (mut desk, order) = (Desk::of(fixture, 1).await?, counter(0, "order"));
    let row = desk.open_one(opening(&order, 1, 0)).await?;
    let known = desk.ledger.known().await?;
    let stranger = Desk { under: InstanceId::new("another"), ..desk.clone() };
    let pass = stranger.pass(77);
    refused(stranger.ledger.read(&stranger.under, &[]).await, ErrorKind::InstanceChanged, "read");
    refused(stranger.ledger.open(pass, &[opening(&order, 2, 0)]).await, ErrorKind::InstanceChanged, "open");
    refused(stranger.ledger.raise(pass, &[raise(&order, 1, 900)]).await, ErrorKind::InstanceChanged, "raise");
    refused(
        stranger.ledger.heartbeat(pass, &[raise(&order, 1, 900)]).await,
        ErrorKind::InstanceChanged,
        "heartbeat",
    );
    refused(
        stranger.ledger.enlist(&stranger.under, desk.server, 77).await,
        ErrorKind::InstanceChanged,
        "enlist",
    );
    let record = stranger.ledger.record(&stranger.under, Some(0), &stranger.under).await;
    refused(record, ErrorKind::InstanceChanged, "record");
    desk.unchanged(&order, &row).await?;
    assert_eq!(desk.ledger.known().await?, known);
    assert_eq!(desk.raise_one(raise(&order, 1, 500)).await?.0, 500, "its own nonce is still good");
    Ok(())
}

/// A server that never enlisted has no nonce to show.
pub async fn a_server_without_a_row_is_reborn(fixture: &dyn LedgerFixture) -> Checked {
    let (mut desk, order) = (Desk::of(fixture, 1).await?, counter(0, "order"));
    let row = desk.open_one(opening(&order, 1, 0)).await?;
    let mut stranger = Desk { server: ServerId(99), ..desk.clone() };
    refused(stranger.raise(&[raise(&order, 1, 900)]).await, ErrorKind::InstanceChanged, "raise");
    refused(stranger.heartbeat(&[]).await, ErrorKind::InstanceChanged, "heartbeat");
    refused(stranger.open(&[opening(&order, 2, 0)]).await, ErrorKind::InstanceChanged, "open");
    desk.unchanged(&order, &row).await
}

/// Each call replaces the nonce: the one before is good no longer, and a wrong one writes nothing.
pub async fn a_nonce_is_good_once(fixture: &dyn LedgerFixture) -> Checked {
    let (mut desk, order) = (Desk::of(fixture, 1).await?, counter(0, "order"));
    let row = desk.open_one(opening(&order, 1, 0)).await?;
    let stale = desk.clone();
    desk.heartbeat(&[]).await?;
    for nonces in [&stale.nonces[..], &[], &[0], &[u64::MAX]] {
        let pass = Pass { nonces, ..desk.pass(5) };
        let refusal = desk.ledger.raise(pass, &[raise(&order, 1, 900)]).await;
        refused(refusal, ErrorKind::InstanceChanged, &format!("raise with {nonces:?}"));
    }
    desk.unchanged(&order, &row).await?;
    desk.raise_one(raise(&order, 1, 500)).await?;
    for extreme in [u64::MAX, 1 << 63, 0] {
        let next = desk.ledger.heartbeat(desk.pass(extreme), &[]).await.map(drop);
        next.map_err(|error| error.during(format!("nonce {extreme}")))?;
        desk.nonces = vec![extreme];
    }
    Ok(())
}

/// A call whose reply was lost may have been done or not: the next one shows both nonces, and is accepted.
pub async fn calls_of_unknown_outcome_are_accepted(fixture: &dyn LedgerFixture) -> Checked {
    let (mut desk, order) = (Desk::of(fixture, 1).await?, counter(0, "order"));
    desk.open_one(opening(&order, 1, 0)).await?;
    let done = desk.draw();
    desk.ledger.raise(desk.pass(done), &[raise(&order, 1, 300)]).await?;
    let never_done = desk.draw();
    desk.nonces.extend([done, never_done]);
    assert_eq!(desk.raise_one(raise(&order, 1, 400)).await?.0, 400, "the middle one of three");
    let never_done = desk.draw();
    desk.nonces.push(never_done);
    assert_eq!(desk.raise_one(raise(&order, 1, 500)).await?.0, 500, "the first one of two");
    Ok(())
}

/// One server's calls do not spoil another's nonce, nor does one's nonce open the API to another.
pub async fn servers_do_not_share_nonces(fixture: &dyn LedgerFixture) -> Checked {
    let (mut a, mut b) = (Desk::of(fixture, 1).await?, Desk::of(fixture, 2).await?);
    for _ in 0..3 {
        a.heartbeat(&[]).await?;
        b.heartbeat(&[]).await?;
        a.heartbeat(&[]).await?;
    }
    let mut thief = Desk { server: b.server, ..a.clone() };
    refused(thief.heartbeat(&[]).await, ErrorKind::InstanceChanged, "another's nonce");
    b.heartbeat(&[]).await?;
    a.ledger.enlist(&a.under, a.server, 12_345).await?;
    refused(a.clone().heartbeat(&[]).await, ErrorKind::InstanceChanged, "the nonce before it enlisted again");
    a.nonces = vec![12_345];
    a.heartbeat(&[]).await?;
    Ok(())
}

/// A ledger that went back under its instance lacks the nonce of whoever called since, and writes nothing for him.
pub async fn a_restore_in_place_is_found_by_the_nonce(fixture: &dyn LedgerFixture) -> Checked {
    let (mut desk, order) = (Desk::of(fixture, 1).await?, counter(0, "order"));
    let row = desk.open_one(opening(&order, 1, 0)).await?;
    if !fixture.copy().await {
        return skipped("take a copy");
    }
    desk.raise_one(raise(&order, 1, 9000)).await?;
    if !fixture.restore_in_place().await {
        return skipped("put a copy back in place");
    }
    desk.ledger = fixture.open().await;
    let speaks = desk.ledger.inspect().await?.instance;
    assert_eq!(speaks, desk.under, "the fixture was to keep the instance");
    refused(desk.heartbeat(&[raise(&order, 1, 9500)]).await, ErrorKind::InstanceChanged, "heartbeat");
    refused(desk.open(&[opening(&order, 2, 0)]).await, ErrorKind::InstanceChanged, "open");
    desk.unchanged(&order, &row).await?;
    let new = desk.ledger.rebear(&desk.under).await?;
    assert_ne!(new, desk.under, "it speaks as before");
    let mut desk = Desk::of(fixture, 1).await?;
    assert_eq!(desk.under, new);
    assert_eq!(desk.open_one(opening(&order, 3, 0)).await?.base, AHEAD);
    Ok(())
}

/// However many find that the ledger went back, it gets one new instance, and each is told the same.
pub async fn one_of_many_makes_it_speak_anew(fixture: &dyn LedgerFixture) -> Checked {
    let desk = Desk::of(fixture, 1).await?;
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..FINDERS {
        let (ledger, was) = (fixture.open().await, desk.under.clone());
        tasks.spawn(async move { ledger.rebear(&was).await });
    }
    let mut told = Vec::new();
    while let Some(done) = tasks.join_next().await {
        told.push(done??);
    }
    told.dedup();
    assert_eq!(told.len(), 1, "several instances: {told:?}");
    assert_ne!(told[0], desk.under);
    let ledger = fixture.open().await;
    assert_eq!(ledger.inspect().await?.instance, told[0]);
    assert_eq!(ledger.rebear(&desk.under).await?, told[0], "it no longer speaks as before: nothing to do");
    refused(ledger.read(&desk.under, &[]).await, ErrorKind::InstanceChanged, "a read under the old instance");
    let again = ledger.rebear(&told[0]).await?;
    assert!(again != told[0] && again != desk.under, "an instance came back: {again}");
    Ok(())
}

/// A call that knows another layout is `Refused`, and has written nothing.
pub async fn another_generation_is_refused(fixture: &dyn LedgerFixture) -> Checked {
    let ledger = fixture.open().await;
    let (under, server) = (ledger.inspect().await?.instance, ServerId(9));
    ledger.enlist(&under, server, 1).await?;
    let early = Pass { under: &under, record: None, server, nonces: &[1], next: 1, generation: GENERATION };
    let order = counter(0, "order");
    refused(ledger.open(early, &[opening(&order, 1, 0)]).await, ErrorKind::Refused, "open without a layout");
    let mut desk = Desk::of(fixture, 1).await?;
    assert_eq!(desk.row(&order).await?, None);
    let row = desk.open_one(opening(&order, 1, 0)).await?;
    let other = Desk { generation: GENERATION + 1, ..desk.clone() };
    let next = desk.draw();
    refused(other.ledger.open(other.pass(next), &[opening(&order, 2, 0)]).await, ErrorKind::Refused, "open");
    refused(
        other.ledger.raise(other.pass(next), &[raise(&order, 1, 900)]).await,
        ErrorKind::Refused,
        "raise",
    );
    refused(other.ledger.heartbeat(other.pass(next), &[]).await, ErrorKind::Refused, "heartbeat");
    desk.unchanged(&order, &row).await?;
    assert_eq!(desk.raise_one(raise(&order, 1, 500)).await?.0, 500, "the nonce was not used up");
    Ok(())
}

/// Where another run is on record than the caller has seen there, each call is `Refused`, and has written nothing.
pub async fn another_run_on_record_is_refused(fixture: &dyn LedgerFixture) -> Checked {
    let (mut desk, order) = (Desk::of(fixture, 1).await?, counter(0, "order"));
    desk.put_on_record().await?;
    let row = desk.open_one(opening(&order, 1, 0)).await?;
    let other = InstanceId::new("run 2, on another master");
    let refuses = async |desk: &Desk, next: u64| {
        let (ledger, pass, kind) = (&desk.ledger, desk.pass(next), ErrorKind::Refused);
        refused(ledger.open(pass, &[opening(&order, 2, 0)]).await, kind, "open");
        refused(ledger.raise(pass, &[raise(&order, 1, 900)]).await, kind, "raise");
        refused(ledger.heartbeat(pass, &[]).await, kind, "heartbeat");
        refused(ledger.count(pass, &[]).await, kind, "count");
    };
    let next = desk.draw();
    for seen in [None, Some(other.clone())] {
        refuses(&Desk { record: seen, ..desk.clone() }, next).await;
    }
    desk.unchanged(&order, &row).await?;
    assert_eq!(desk.raise_one(raise(&order, 1, 500)).await?.0, 500, "the nonce was not used up");
    let raised = desk.row(&order).await?;
    // Another server has met another run, and the record comes by replication.
    desk.ledger.record(&desk.under, None, &other).await?;
    let next = desk.draw();
    refuses(&desk, next).await;
    assert_eq!(desk.row(&order).await?, raised, "the row was changed");
    desk.put_on_record().await?;
    assert_eq!(desk.raise_one(raise(&order, 1, 600)).await?.0, 600, "its own run again");
    Ok(())
}

/// A call dropped at any of its awaits is of unknown outcome, and its answer never reaches the next caller.
pub async fn a_dropped_call_disturbs_nobody(fixture: &dyn LedgerFixture) -> Checked {
    let (mut desk, order) = (Desk::of(fixture, 1).await?, counter(0, "order"));
    let mut other = Desk::of(fixture, 2).await?;
    other.ledger = desk.ledger.clone();
    let own = counter(1, "own");
    desk.open_one(opening(&order, 1, 0)).await?;
    other.open_one(opening(&own, 1, 0)).await?;
    let mut to = 1000;
    for polls in 1..POLLS_MAX {
        let (next, asks) = (desk.draw(), [raise(&order, 1, to)]);
        let outcome = cut_short(polls, desk.ledger.raise(desk.pass(next), &asks)).await;
        desk.nonces.push(next);
        let own_ceiling = other.raise_one(raise(&own, 1, to + 7)).await?.0;
        assert_eq!(
            own_ceiling,
            to + 7,
            "the next caller's answer, after a raise was dropped at poll {polls}"
        );
        to += 10;
        assert_eq!(desk.raise_one(raise(&order, 1, to)).await?.0, to, "the dropped caller's own next answer");
        to += 10;
        if let Some(ready) = outcome {
            ready?;
            return Ok(());
        }
    }
    panic!("a raise was not ready after {POLLS_MAX} polls");
}
