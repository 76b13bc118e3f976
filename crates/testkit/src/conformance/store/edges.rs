//! Edges of keys, epochs and values.

use sequent_core::{Block, ErrorKind};

use super::{super::Checked, super::odd_keys::odd_keys, Hand, StoreFixture, epoch, key, refused, regressed};

/// Keys that an engine may fold, trim, cut or take for syntax are different counters. A key that a store can't hold it
/// refuses by itself, without a trace, as `Exhausted`: the key's matter, and nobody's health.
pub async fn odd_keys_are_kept_apart(fixture: &dyn StoreFixture) -> Checked {
    let hand = Hand::of(fixture).await?;
    let (held, others): (Vec<_>, Vec<_>) = odd_keys().into_iter().partition(|key| fixture.holds(key));
    for key in &others {
        refused(hand.store.holds(key), ErrorKind::Exhausted, "a definition");
        refused(hand.close(key, epoch(1)).await, ErrorKind::Exhausted, "close");
        refused(hand.install(key, epoch(1), 1).await, ErrorKind::Exhausted, "install");
        refused(hand.take(key, epoch(1), 1).await, ErrorKind::Exhausted, "take");
        refused(hand.lift(key, epoch(1), 0).await, ErrorKind::Exhausted, "lift");
    }
    assert!(!hand.inspect().await?.has_cells, "a key that can't be held left a cell");
    let keys: Vec<_> = (1..).map(|at| at * 1000).zip(held).collect();
    for (base, key) in &keys {
        hand.store.holds(key)?;
        assert_eq!(hand.close(key, epoch(1)).await?, 0, "{key:?} was taken for another key");
        hand.install(key, epoch(1), *base).await?;
    }
    for (base, key) in &keys {
        assert_eq!(hand.take(key, epoch(1), 1).await?.first(), base + 1, "{key:?}");
    }
    Ok(())
}

/// Tokens at both ends of the signed range work, and neighbours are not mistaken for each other.
pub async fn epochs_are_compared_to_the_last_bit(fixture: &dyn StoreFixture) -> Checked {
    let (hand, order) = (Hand::of(fixture).await?, key("order"));
    let two_to_53 = 1 << 53;
    for bits in [i64::MIN, -1, 1, i64::MAX, two_to_53, -two_to_53] {
        hand.begin(&order, epoch(bits), 0).await?;
        for other in [bits.wrapping_add(1), bits.wrapping_sub(1), bits ^ i64::MIN, -bits.wrapping_add(3)] {
            regressed(hand.take(&order, epoch(other), 1).await, "take of a neighbouring epoch");
        }
        hand.take(&order, epoch(bits), 1).await?;
    }
    Ok(())
}

/// A counter at the edge gives what is left, then is `Exhausted`, for ever and without a trace.
pub async fn the_edge_of_the_range_never_wraps(fixture: &dyn StoreFixture) -> Checked {
    let (hand, order) = (Hand::of(fixture).await?, key("order"));
    hand.begin(&order, epoch(1), Block::NUMBER_MAX - 3).await?;
    refused(hand.take(&order, epoch(1), 5).await, ErrorKind::Exhausted, "take over the edge");
    refused(
        hand.take(&order, epoch(1), Block::NUMBER_MAX).await,
        ErrorKind::Exhausted,
        "take far over the edge",
    );
    refused(hand.take(&order, epoch(1), u64::MAX).await, ErrorKind::Exhausted, "take over the edge of u64");
    assert_eq!(
        hand.take(&order, epoch(1), 2).await?.first(),
        Block::NUMBER_MAX - 2,
        "refused takes left a trace"
    );
    assert_eq!(hand.take(&order, epoch(1), 1).await?.last(), Block::NUMBER_MAX);
    for _ in 0..3 {
        refused(hand.take(&order, epoch(1), 1).await, ErrorKind::Exhausted, "take at the edge");
    }
    hand.lift(&order, epoch(1), Block::NUMBER_MAX).await?;
    assert_eq!(hand.close(&order, epoch(2)).await?, Block::NUMBER_MAX);
    hand.install(&order, epoch(2), Block::NUMBER_MAX).await?;
    refused(hand.take(&order, epoch(2), 1).await, ErrorKind::Exhausted, "take at the edge in the next epoch");
    Ok(())
}

/// A base or floor beyond the range is `Exhausted`, and leaves no trace.
pub async fn values_beyond_the_range_are_refused(fixture: &dyn StoreFixture) -> Checked {
    let (hand, order) = (Hand::of(fixture).await?, key("order"));
    hand.close(&order, epoch(1)).await?;
    for beyond in [Block::NUMBER_MAX + 1, u64::MAX] {
        refused(
            hand.install(&order, epoch(1), beyond).await,
            ErrorKind::Exhausted,
            "install beyond the range",
        );
    }
    hand.install(&order, epoch(1), 7).await?;
    for beyond in [Block::NUMBER_MAX + 1, u64::MAX] {
        refused(hand.lift(&order, epoch(1), beyond).await, ErrorKind::Exhausted, "lift beyond the range");
    }
    assert_eq!(hand.take(&order, epoch(1), 1).await?.first(), 8);
    Ok(())
}
