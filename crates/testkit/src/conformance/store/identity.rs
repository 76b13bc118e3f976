//! Stamp, mark and inspection.

use sequent_core::{Block, Epoch, ErrorKind, Layout, LedgerId, SlotIndex, Stamp};
use tokio::task::JoinSet;

use super::{super::Checked, Hand, StoreFixture, epoch, key, refused};
use crate::{SeededEntropy, seeded};

/// How many callers try at once.
const CALLERS: u16 = 8;

/// 2020-01-01: a clock before that was never set.
const EARLIEST_MS: u64 = 1_577_836_800_000;

pub(super) fn stamp_of(
    entropy: &SeededEntropy,
    slot: SlotIndex,
) -> Result<Stamp, Box<dyn std::error::Error + Send + Sync>> {
    let (ledger, layout) = (LedgerId::random(entropy), Layout::new(4, 6)?);
    Ok(Stamp { ledger, cluster: "shop-eu".parse()?, layout, slot, generation: 1 })
}

/// A stamp replaces what was expected and nothing else; a refusal names what was found and what was expected.
pub async fn a_stamp_is_compared_and_set(fixture: &dyn StoreFixture) -> Checked {
    let (hand, entropy) = (Hand::of(fixture).await?, seeded(1));
    let (first, other) = (stamp_of(&entropy, 1)?, stamp_of(&entropy, 2)?);
    refused(hand.stamp(Some(&other), &first).await, ErrorKind::Refused, "stamp over nothing");
    assert_eq!(hand.inspect().await?.stamp, None);
    hand.stamp(None, &first).await?;
    let refusal = hand.stamp(None, &other).await.err().map(|error| error.to_string()).unwrap_or_default();
    assert!(refusal.contains(&first.to_string()), "the refusal must name what was found: {refusal}");
    refused(hand.stamp(None, &other).await, ErrorKind::Refused, "first stamp over another's");
    refused(hand.stamp(Some(&other), &other).await, ErrorKind::Refused, "stamp over what is not there");
    assert_eq!(hand.inspect().await?.stamp.as_ref(), Some(&first), "a refused stamp changed it");
    hand.stamp(Some(&first), &other).await?;
    assert_eq!(Hand::of(fixture).await?.inspect().await?.stamp, Some(other), "seen by another process");
    Ok(())
}

/// Of many first stamps at once one stands, and only its writer was told so.
pub async fn of_many_first_stamps_one_stands(fixture: &dyn StoreFixture) -> Checked {
    let (entropy, mut tasks) = (seeded(2), JoinSet::new());
    for slot in 0..CALLERS {
        let (hand, stamp) = (Hand::of(fixture).await?, stamp_of(&entropy, slot)?);
        tasks.spawn(async move { (hand.stamp(None, &stamp).await, stamp) });
    }
    let mut winners = Vec::new();
    while let Some(done) = tasks.join_next().await {
        match done? {
            (Ok(()), stamp) => winners.push(stamp),
            (Err(error), _) => assert_eq!(error.kind(), ErrorKind::Refused, "{error}"),
        }
    }
    assert_eq!(winners.len(), 1, "exactly one first stamp: {winners:?}");
    assert_eq!(Hand::of(fixture).await?.inspect().await?.stamp, winners.pop());
    Ok(())
}

/// A mark is greatest-of, is created by a mark above 0, and 0 only reads.
pub async fn a_mark_only_grows(fixture: &dyn StoreFixture) -> Checked {
    let hand = Hand::of(fixture).await?;
    for (left, held) in [(0, 0), (0, 0), (5, 5), (3, 5), (0, 5), (6, 6), (6, 6), (1 << 53, 1 << 53)] {
        assert_eq!(hand.mark(left).await?, held, "mark({left})");
    }
    let highest = Block::NUMBER_MAX;
    assert_eq!(hand.mark(highest - 1).await?, highest - 1);
    assert_eq!(hand.mark(highest).await?, highest);
    assert_eq!(Hand::of(fixture).await?.mark(0).await?, highest, "seen by another process");
    Ok(())
}

/// Marks left at once by many leave the greatest, and nobody is told less than he left.
pub async fn marks_at_once_leave_the_greatest(fixture: &dyn StoreFixture) -> Checked {
    let (entropy, mut tasks) = (seeded(3), JoinSet::new());
    for _ in 0..CALLERS {
        let (hand, own) = (Hand::of(fixture).await?, entropy.fork());
        tasks.spawn(async move {
            let mut highest = 0;
            for _ in 0..10 {
                let left = own.below(1000);
                let held = hand.mark(left).await?;
                assert!(held >= left.max(highest), "held {held} after {left} and {highest}");
                highest = held;
            }
            Ok::<u64, sequent_core::SourceError>(highest)
        });
    }
    let mut highest = 0;
    while let Some(done) = tasks.join_next().await {
        highest = highest.max(done??);
    }
    assert_eq!(Hand::of(fixture).await?.mark(0).await?, highest);
    Ok(())
}

/// Mark and stamp count as no cells, and no key reaches them.
pub async fn marks_and_stamps_are_no_cells(fixture: &dyn StoreFixture) -> Checked {
    let (hand, stamp) = (Hand::of(fixture).await?, stamp_of(&seeded(4), 0)?);
    hand.mark(7).await?;
    hand.stamp(None, &stamp).await?;
    assert!(!hand.inspect().await?.has_cells, "mark or stamp was taken for a cell");
    for name in ["mark", "stamp", "sequent", "_sequent", "__mark", "sequent:mark", "sequent_mark", ""] {
        assert_eq!(hand.close(&key(name), epoch(1)).await?, 0, "key {name:?} reaches what is no cell");
        hand.install(&key(name), epoch(1), 5000).await?;
        hand.take(&key(name), epoch(1), 1).await?;
    }
    let inspection = hand.inspect().await?;
    assert!(inspection.has_cells);
    assert_eq!((hand.mark(0).await?, inspection.stamp), (7, Some(stamp)), "a cell reached them");
    Ok(())
}

/// A fresh store says that it is fresh, and the same to each process.
pub async fn an_inspection_is_sane(fixture: &dyn StoreFixture) -> Checked {
    let (one, two) = (fixture.open().await, fixture.open().await);
    let (a, again, b) = (one.inspect().await?, one.inspect().await?, two.inspect().await?);
    assert_eq!((&a.stamp, a.has_cells), (&None, false), "fresh data holds nothing");
    assert!(!a.instance.as_str().is_empty() && !a.version.is_empty());
    assert_eq!(a.instance, again.instance, "the instance changed between two looks");
    assert_eq!(a.instance, b.instance, "two processes see two instances");
    assert_eq!(a.durability, b.durability);
    assert!(
        a.clock_ms > EARLIEST_MS && again.clock_ms >= a.clock_ms,
        "{} then {}",
        a.clock_ms,
        again.clock_ms
    );
    Ok(())
}

/// An epoch that nobody has had.
pub(super) fn fresh_epoch(entropy: &SeededEntropy) -> Epoch {
    Epoch::random(entropy)
}
