//! What befalls a server while it is used: killed, hung, emptied, its tables taken away; and handles that it does not want.

use std::{sync::Arc, time::Duration};

use sequent_core::{DurabilityClass, ErrorKind, Inspection, SourceError};
use tokio::{
    task::JoinSet,
    time::{sleep, timeout},
};

use super::{
    super::Checked, super::skipped, Hand, Mishap, Odd, StoreFixture, epoch, key, refused, regressed,
};
use crate::Oracle;

/// How many tasks take while the server is killed.
const TAKERS: usize = 8;
/// How often it is killed.
const KILLS: u64 = 3;
/// How many numbers they take between two kills, at least.
const NUMBERS: u64 = 200;
/// How often it is looked whether they have, a millisecond in between.
const LOOKS_MAX: usize = 60_000;
/// How often a server that has just come back is asked: it may end the connections of before one by one.
const INSPECTIONS_MAX: usize = 8;
/// How long a call to a server that hangs is waited for.
const HANGS: Duration = Duration::from_millis(100);

/// A server killed in the middle of takes, and back: what was answered is never given again, and the epoch goes on where
/// the store is durable.
pub async fn a_server_killed_amid_takes_gives_nothing_twice(fixture: &dyn StoreFixture) -> Checked {
    let (mut hand, order, oracle) = (Hand::of(fixture).await?, key("order"), Arc::new(Oracle::new()));
    let class = hand.inspect().await?.durability.class;
    hand.begin(&order, epoch(1), 0).await?;
    for turn in 1..=KILLS {
        let mut tasks = JoinSet::new();
        for _ in 0..TAKERS {
            tasks.spawn(take_until_it_fails(hand.clone(), Arc::clone(&oracle)));
        }
        wait_for(&oracle, turn * NUMBERS).await;
        if !fixture.befall(Mishap::Killed).await {
            return skipped("kill its server");
        }
        while let Some(error) = tasks.join_next().await {
            refused::<()>(Err(error?), ErrorKind::Unavailable, "take from a server that is killed");
        }
        assert!(fixture.restart().await, "it was killed, and can't be started");
        let (before, now) = (hand.clone(), inspected(&hand).await?.instance);
        assert_ne!(now, before.under, "a server that was killed speaks as before");
        refused(
            before.take(&order, epoch(1), 1).await,
            ErrorKind::InstanceChanged,
            "take under the old instance",
        );
        hand.under = now;
        let first = match hand.take(&order, epoch(1), 1).await {
            Ok(block) => block,
            Err(error) if class == DurabilityClass::Durable => return Err(error.into()),
            refusal => {
                regressed(refusal, "take after a kill");
                hand.begin(&order, epoch(1), oracle.highest().unwrap_or(0)).await?;
                hand.take(&order, epoch(1), 1).await?
            }
        };
        assert!(Some(first.first()) > oracle.highest(), "{first} after kill {turn}: {:?}", oracle.highest());
        oracle.add_block(first, "the first after a kill")?;
    }
    assert!(Some(hand.close(&order, epoch(2)).await?) >= oracle.highest());
    Ok(())
}

async fn take_until_it_fails(hand: Hand, oracle: Arc<Oracle>) -> SourceError {
    loop {
        match hand.take(&key("order"), epoch(1), 3).await {
            Ok(block) => oracle.add_block(block, "a taker").unwrap_or_else(|error| panic!("{error}")),
            Err(error) => return error,
        }
    }
}

async fn wait_for(oracle: &Oracle, count: u64) {
    for _ in 0..LOOKS_MAX {
        if oracle.count() >= count {
            return;
        }
        sleep(Duration::from_millis(1)).await;
    }
    panic!("{} of {count} numbers were taken after {LOOKS_MAX} looks", oracle.count());
}

async fn inspected(hand: &Hand) -> Result<Inspection, SourceError> {
    for _ in 1..INSPECTIONS_MAX {
        if let Ok(inspection) = hand.inspect().await {
            return Ok(inspection);
        }
    }
    hand.inspect().await
}

/// Calls cut short while the server hangs leave no reply for the next caller, who asks for another key.
pub async fn a_server_that_hangs_keeps_no_reply_for_the_next(fixture: &dyn StoreFixture) -> Checked {
    const FAR: u64 = 1_000_000;
    let (hand, low, high, oracle) = (Hand::of(fixture).await?, key("low"), key("high"), Oracle::new());
    hand.begin(&low, epoch(1), 0).await?;
    hand.begin(&high, epoch(1), FAR).await?;
    for round in 1..=3 {
        oracle.add_block(hand.take(&low, epoch(1), 2).await?, "low")?;
        if !fixture.befall(Mishap::Hung).await {
            return skipped("hang its server");
        }
        // On a connection that was used just now, and on one that can't be opened.
        assert!(timeout(HANGS, hand.take(&low, epoch(1), 5)).await.is_err(), "a server that hangs took");
        assert!(timeout(HANGS, hand.mark(round)).await.is_err(), "a server that hangs left a mark");
        assert!(timeout(HANGS, hand.inspect()).await.is_err(), "a server that hangs was looked at");
        assert!(fixture.befall(Mishap::Resumed).await, "it hangs, and can't go on");
        let block = hand.take(&high, epoch(1), 3).await?;
        assert!(block.first() > FAR && block.count() == 3, "{block} is another call's answer");
        oracle.add_block(block, "high")?;
        let block = hand.take(&low, epoch(1), 4).await?;
        assert!(block.last() < FAR && block.count() == 4, "{block} is another call's answer");
        oracle.add_block(block, "low")?;
        assert!(hand.mark(0).await? <= round, "the mark is another call's answer");
    }
    Ok(())
}

/// What was emptied behind the store's back gives nothing, and certainly not 1, until a new epoch begins above what the
/// ledger knows.
pub async fn a_truncated_table_gives_nothing_until_a_new_epoch_begins(fixture: &dyn StoreFixture) -> Checked {
    let (mut hand, order) = (Hand::of(fixture).await?, key("order"));
    hand.begin(&order, epoch(1), 0).await?;
    assert_eq!(hand.take(&order, epoch(1), 5).await?.last(), 5);
    if !fixture.befall(Mishap::Truncated(&order)).await {
        return skipped("truncate a table");
    }
    for want in [1, 7, 2] {
        gone(hand.take(&order, epoch(1), want).await, "take from an emptied table");
    }
    gone(hand.lift(&order, epoch(1), 0).await, "reading an emptied table");
    gone(hand.lift(&order, epoch(1), 50).await, "lift in an emptied table");
    // An install may find its own cell open, and be done: it brings no number back.
    let _ = hand.install(&order, epoch(1), 50).await;
    gone(hand.take(&order, epoch(1), 1).await, "take after a late install");
    hand.under = hand.inspect().await?.instance;
    gone(hand.take(&order, epoch(1), 1).await, "take from an emptied table, looked at again");
    assert!(hand.close(&order, epoch(2)).await? <= 5);
    hand.install(&order, epoch(2), 100).await?;
    assert_eq!(hand.take(&order, epoch(2), 1).await?.first(), 101);
    Ok(())
}

/// The counter has vanished; where that shows in who speaks, `InstanceChanged` is as good.
#[track_caller]
fn gone<T: std::fmt::Debug>(answer: Result<T, SourceError>, what: &str) {
    match &answer {
        Err(error) if error.kind() == ErrorKind::InstanceChanged => {}
        _ => regressed(answer, what),
    }
}

/// Tables taken away under a handle are not made anew by it, whatever it is allowed to make: empty ones would pass for a
/// new cluster's.
pub async fn tables_taken_away_are_not_made_anew(fixture: &dyn StoreFixture) -> Checked {
    let (hand, order) = (Hand::of(fixture).await?, key("order"));
    hand.begin(&order, epoch(1), 0).await?;
    hand.take(&order, epoch(1), 5).await?;
    if !fixture.befall(Mishap::TablesGone).await {
        return skipped("take its tables away");
    }
    for what in ["at first", "again"] {
        assert!(hand.take(&order, epoch(1), 1).await.is_err(), "a take where nothing is, {what}");
        assert!(hand.close(&order, epoch(2)).await.is_err(), "a close where nothing is, {what}");
        unusable(hand.inspect().await, what);
    }
    if let Some(idle) = fixture.open_oddly(Odd::MakesNothing).await {
        unusable(idle.inspect().await, "for another handle");
    }
    Ok(())
}

/// Where there are no tables, and none may be made, the store is refused, and none are made.
pub async fn a_missing_schema_is_refused_and_not_made(fixture: &dyn StoreFixture) -> Checked {
    let Some(idle) = fixture.open_oddly(Odd::MakesNothing).await else {
        return skipped("open a handle that makes nothing");
    };
    for what in ["at first", "again"] {
        unusable(idle.inspect().await, what);
    }
    Hand::of(fixture).await?;
    let inspection = idle.inspect().await?;
    assert_eq!((inspection.stamp, inspection.has_cells), (None, false));
    Ok(())
}

/// For a person to mend; or away, as a disk may be that is not mounted.
#[track_caller]
fn unusable(answer: Result<Inspection, SourceError>, what: &str) {
    match &answer {
        Err(error) if error.kind() == ErrorKind::Unavailable => {}
        _ => refused(answer, ErrorKind::Refused, what),
    }
}

/// A login that the server does not accept is `Refused`, whatever is asked: a person has to mend it.
pub async fn a_login_that_is_none_is_refused(fixture: &dyn StoreFixture) -> Checked {
    let hand = Hand::of(fixture).await?;
    let Some(stranger) = fixture.open_oddly(Odd::WrongPassword).await else {
        return skipped("be refused: there is no login");
    };
    let stranger = Hand { store: stranger, under: hand.under };
    refused(stranger.inspect().await, ErrorKind::Refused, "inspect with a wrong password");
    refused(
        stranger.take(&key("order"), epoch(1), 1).await,
        ErrorKind::Refused,
        "take with a wrong password",
    );
    Ok(())
}
