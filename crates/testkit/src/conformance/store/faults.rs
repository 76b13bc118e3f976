//! What a store does when it, or its caller, was interrupted.

use sequent_core::{DurabilityClass, Epoch, ErrorKind, InstanceId, Layout, LedgerId, SourceError, Stamp};

use super::{
    super::Checked, super::skipped, Hand, StoreFixture, epoch, identity::fresh_epoch, key, refused, regressed,
};
use crate::{cut_short, seeded};

/// The most polls that a verb may need: far more than any has awaits.
const POLLS_MAX: usize = 200;

/// Every verb under an instance that does not speak is `InstanceChanged`, and has touched nothing.
pub async fn another_instance_touches_nothing(fixture: &dyn StoreFixture) -> Checked {
    let (hand, order) = (Hand::of(fixture).await?, key("order"));
    hand.begin(&order, epoch(1), 10).await?;
    let stranger = Hand { under: InstanceId::new("another"), ..hand.clone() };
    let layout = Layout::new(1, 0)?;
    let ledger = LedgerId::random(&seeded(1));
    let stamp = Stamp { ledger, cluster: "shop".parse()?, layout, slot: 0, generation: 1 };
    refused(stranger.take(&order, epoch(1), 1).await, ErrorKind::InstanceChanged, "take");
    refused(stranger.lift(&order, epoch(1), 500).await, ErrorKind::InstanceChanged, "lift");
    refused(stranger.close(&order, epoch(2)).await, ErrorKind::InstanceChanged, "close");
    refused(stranger.close(&key("new"), epoch(2)).await, ErrorKind::InstanceChanged, "close of nothing");
    refused(stranger.stamp(None, &stamp).await, ErrorKind::InstanceChanged, "stamp");
    refused(stranger.mark(5).await, ErrorKind::InstanceChanged, "mark");
    refused(stranger.mark(0).await, ErrorKind::InstanceChanged, "reading of the mark");
    assert_eq!(hand.take(&order, epoch(1), 1).await?.first(), 11, "a verb of a stranger left a trace");
    hand.close(&order, epoch(3)).await?;
    refused(stranger.install(&order, epoch(3), 500).await, ErrorKind::InstanceChanged, "install");
    hand.install(&order, epoch(3), 0).await?;
    assert_eq!(hand.take(&order, epoch(3), 1).await?.first(), 12);
    assert_eq!((hand.inspect().await?.stamp, hand.mark(0).await?), (None, 0));
    assert_eq!(hand.close(&key("new"), epoch(4)).await?, 0);
    Ok(())
}

/// After a restart a durable store goes on where it was; any other either does, or says that it lost the cell.
pub async fn what_was_acknowledged_outlives_a_restart(fixture: &dyn StoreFixture) -> Checked {
    let (hand, order) = (Hand::of(fixture).await?, key("order"));
    hand.begin(&order, epoch(1), 10).await?;
    hand.take(&order, epoch(1), 5).await?;
    hand.mark(9).await?;
    let (class, was) = (hand.inspect().await?.durability.class, hand.under.clone());
    drop(hand);
    if !fixture.restart().await {
        return skipped("restart its engine");
    }
    let hand = Hand::of(fixture).await?;
    match hand.take(&order, epoch(1), 1).await {
        Ok(block) => assert_eq!(block.first(), 16),
        Err(error) if class == DurabilityClass::Durable => return Err(error.into()),
        refusal => regressed(refusal, "take after a restart"),
    }
    if class == DurabilityClass::Durable {
        assert_eq!(hand.mark(0).await?, 9, "the mark was lost");
    }
    if hand.under != was {
        let before = Hand { under: was, ..hand.clone() };
        refused(
            before.take(&order, epoch(1), 1).await,
            ErrorKind::InstanceChanged,
            "take under the old instance",
        );
    }
    Ok(())
}

/// A copy put back has another instance id, holds the old values, and is out of reach for those who knew the other.
pub async fn a_restored_copy_speaks_as_another(fixture: &dyn StoreFixture) -> Checked {
    let (old, order) = (Hand::of(fixture).await?, key("order"));
    old.begin(&order, epoch(1), 0).await?;
    old.take(&order, epoch(1), 5).await?;
    old.mark(3).await?;
    if !fixture.copy().await {
        return skipped("take a copy");
    }
    old.take(&order, epoch(1), 4).await?;
    if !fixture.restore().await {
        return skipped("put a copy back");
    }
    for what in ["at first", "again"] {
        match old.take(&order, epoch(1), 1).await {
            Ok(block) => panic!("a handle of before the restore took {block}, {what}"),
            Err(error) => {
                let expected = [ErrorKind::InstanceChanged, ErrorKind::Unavailable];
                assert!(expected.contains(&error.kind()), "a handle of before the restore, {what}: {error}");
            }
        }
    }
    let new = Hand::of(fixture).await?;
    assert_ne!(new.under, old.under, "the restored copy passes for the data before");
    let before = Hand { under: old.under.clone(), ..new.clone() };
    refused(
        before.take(&order, epoch(1), 1).await,
        ErrorKind::InstanceChanged,
        "take under the old instance",
    );
    refused(before.close(&order, epoch(2)).await, ErrorKind::InstanceChanged, "close under the old instance");
    refused(before.mark(9).await, ErrorKind::InstanceChanged, "mark under the old instance");
    assert_eq!(new.mark(0).await?, 3, "the copy's mark, which no old verb has touched");
    assert_eq!(new.close(&order, epoch(3)).await?, 5, "the copy's value, which no old verb has touched");
    Ok(())
}

/// A cell deleted behind the store's back is `Regressed` to take, lift and late install; a close finds 0.
pub async fn a_deleted_cell_is_not_created_again(fixture: &dyn StoreFixture) -> Checked {
    let (hand, order) = (Hand::of(fixture).await?, key("order"));
    hand.begin(&order, epoch(1), 10).await?;
    hand.take(&order, epoch(1), 1).await?;
    if !fixture.delete(&order).await {
        return skipped("delete a cell");
    }
    regressed(hand.take(&order, epoch(1), 1).await, "take on a deleted cell");
    regressed(hand.lift(&order, epoch(1), 50).await, "lift on a deleted cell");
    regressed(hand.install(&order, epoch(1), 50).await, "install on a deleted cell");
    assert!(!hand.inspect().await?.has_cells, "a refused verb left a cell");
    assert_eq!(hand.close(&order, epoch(2)).await?, 0);
    assert!(fixture.delete(&order).await);
    regressed(hand.install(&order, epoch(2), 50).await, "install after its close was deleted");
    Ok(())
}

/// The verbs that are dropped half-way, on the cells `a` and `c`.
async fn interrupted(hand: &Hand, verb: usize, token: Epoch) -> Result<(), SourceError> {
    match verb {
        0 => hand.take(&key("a"), epoch(1), 7).await.map(drop),
        1 => hand.inspect().await.map(drop),
        2 => hand.mark(3).await.map(drop),
        3 => hand.lift(&key("a"), epoch(1), 1).await.map(drop),
        4 => hand.close(&key("c"), token).await.map(drop),
        _ => hand.begin(&key("c"), token, 1).await,
    }
}

/// How many verbs [`interrupted`] knows.
const VERBS: usize = 6;

/// A verb dropped at any of its awaits never puts its answer into the next caller's hands.
pub async fn a_dropped_future_disturbs_nobody(fixture: &dyn StoreFixture) -> Checked {
    let (hand, entropy) = (Hand::of(fixture).await?, seeded(9));
    for name in ["a", "b", "c"] {
        hand.begin(&key(name), epoch(1), 0).await?;
    }
    let (mut last, mut others) = (0, 0);
    for polls in 1..POLLS_MAX {
        let mut ended = 0;
        for verb in 0..VERBS {
            let outcome = cut_short(polls, interrupted(&hand, verb, fresh_epoch(&entropy))).await;
            ended += usize::from(outcome.is_some());
            if let Some(Err(error)) = outcome {
                assert_eq!(error.kind(), ErrorKind::Regressed, "verb {verb}: {error}");
            }
            let want = 1 + polls as u64 % 5;
            let block = hand.take(&key("b"), epoch(1), want).await?;
            let expected = (last + 1, want);
            assert_eq!(
                (block.first(), block.count()),
                expected,
                "after verb {verb} was dropped at poll {polls}"
            );
            last = block.last();
            let other = hand.take(&key("a"), epoch(1), 1).await?;
            assert!(other.first() > others && other.count() == 1, "{other} after {others}");
            others = other.last();
        }
        if ended == VERBS {
            return Ok(());
        }
    }
    panic!("a verb was not ready after {POLLS_MAX} polls");
}
