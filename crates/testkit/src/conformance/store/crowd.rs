//! Many at once.

use std::sync::Arc;

use sequent_core::{Epoch, Key, SourceError};
use tokio::task::JoinSet;

use super::{super::Checked, Hand, StoreFixture, epoch, identity::fresh_epoch, key, regressed};
use crate::{Oracle, SeededEntropy, seeded};

/// How many takers there are.
pub(super) const TAKERS: usize = 16;

/// How many takes each makes, times the fixture's effort.
const TAKES: usize = 20;

/// Takes `takes` blocks of random size for one taker, and notes them; returns how many ids.
async fn take_some(
    hand: Hand,
    cell: (Key, Epoch),
    takes: usize,
    entropy: SeededEntropy,
    oracle: Arc<Oracle>,
) -> Result<u64, Box<dyn std::error::Error + Send + Sync>> {
    let (mut total, mut highest) = (0, 0);
    for _ in 0..takes {
        let want = 1 + entropy.below(9);
        let block = hand.take(&cell.0, cell.1, want).await?;
        assert_eq!((block.count(), block.step()), (want, 1), "{block} is not what was asked for");
        assert!(
            block.first() > highest,
            "{block} after {highest}, which was answered before it was asked for"
        );
        oracle.add_block(block, "a taker")?;
        (total, highest) = (total + want, block.last());
    }
    Ok(total)
}

/// Lets takers loose on one cell through these hands; every id must be given once, and none left out.
async fn all_at_once(fixture: &dyn StoreFixture, hands: &[Hand]) -> Checked {
    let (order, oracle, entropy) = (key("order"), Arc::new(Oracle::new()), seeded(5));
    hands[0].begin(&order, epoch(1), 0).await?;
    let mut tasks = JoinSet::new();
    for taker in 0..TAKERS {
        let (hand, cell) = (hands[taker % hands.len()].clone(), (order.clone(), epoch(1)));
        tasks.spawn(take_some(hand, cell, TAKES * fixture.effort(), entropy.fork(), Arc::clone(&oracle)));
    }
    let mut total = 0;
    while let Some(done) = tasks.join_next().await {
        total += done??;
    }
    assert_eq!((oracle.count(), oracle.highest()), (total, Some(total)), "ids were left out");
    assert_eq!(hands[0].close(&order, epoch(2)).await?, total);
    Ok(())
}

/// Sixteen tasks on one handle.
pub async fn many_tasks_at_once_get_every_id_once(fixture: &dyn StoreFixture) -> Checked {
    let hand = Hand::of(fixture).await?;
    all_at_once(fixture, &[hand]).await
}

/// Sixteen tasks on two handles, as two processes have them.
pub async fn two_handles_at_once_get_every_id_once(fixture: &dyn StoreFixture) -> Checked {
    let hands = [Hand::of(fixture).await?, Hand::of(fixture).await?];
    all_at_once(fixture, &hands).await
}

/// A taker for each of many keys: each cell counts its own ids only.
pub async fn many_keys_at_once_stay_dense(fixture: &dyn StoreFixture) -> Checked {
    let (hand, entropy, mut tasks) = (Hand::of(fixture).await?, seeded(6), JoinSet::new());
    for at in 0..TAKERS * 2 {
        let (hand, key, epoch, own) =
            (hand.clone(), key(&format!("k{at}")), fresh_epoch(&entropy), entropy.fork());
        let takes = TAKES * fixture.effort() / 4;
        tasks.spawn(async move {
            hand.begin(&key, epoch, 0).await?;
            let oracle = Arc::new(Oracle::new());
            let total = take_some(hand, (key, epoch), takes, own, Arc::clone(&oracle)).await?;
            assert_eq!(oracle.highest(), Some(total), "another key's ids were counted here");
            Checked::Ok(())
        });
    }
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    Ok(())
}

/// Of many that close at once, one epoch is left, and only that one may install.
pub async fn of_many_closers_one_may_install(fixture: &dyn StoreFixture) -> Checked {
    let (hand, order, entropy) = (Hand::of(fixture).await?, key("order"), seeded(7));
    hand.begin(&order, epoch(1), 77).await?;
    let mut tasks = JoinSet::new();
    for _ in 0..TAKERS {
        let (hand, order, next) = (Hand::of(fixture).await?, order.clone(), fresh_epoch(&entropy));
        tasks.spawn(async move {
            assert_eq!(hand.close(&order, next).await?, 77);
            Ok::<Epoch, SourceError>(next)
        });
    }
    let mut epochs = Vec::new();
    while let Some(done) = tasks.join_next().await {
        epochs.push(done??);
    }
    let mut installed = Vec::new();
    for closed in epochs {
        match hand.install(&order, closed, 77).await {
            Ok(()) => installed.push(closed),
            refusal => regressed(refusal, "install of an epoch that another close replaced"),
        }
    }
    assert_eq!(installed.len(), 1, "exactly one close is the last: {installed:?}");
    assert_eq!(hand.take(&order, installed[0], 1).await?.first(), 78);
    Ok(())
}
