//! The cell verbs, one caller at a time.

use sequent_core::{Block, ErrorKind};

use super::{super::Checked, super::odd_keys::odd_keys, Hand, StoreFixture, key, life, refused, regressed};

/// A take on a missing cell is `Regressed`, and leaves nothing.
pub async fn a_take_never_creates(fixture: &dyn StoreFixture) -> Checked {
    let hand = Hand::of(fixture).await?;
    regressed(hand.take(&key("order"), life(1), 1).await, "take on nothing");
    assert!(!hand.inspect().await?.has_cells, "a refused take left a cell");
    assert_eq!(hand.close(&key("order"), life(2)).await?, 0, "a refused take left a value");
    Ok(())
}

/// A lift on a missing cell is `Regressed`, and leaves nothing.
pub async fn a_lift_never_creates(fixture: &dyn StoreFixture) -> Checked {
    let hand = Hand::of(fixture).await?;
    regressed(hand.lift(&key("order"), life(1), 50).await, "lift on nothing");
    assert!(!hand.inspect().await?.has_cells, "a refused lift left a cell");
    regressed(hand.take(&key("order"), life(1), 1).await, "take after a refused lift");
    Ok(())
}

/// An install without a close before it is `Regressed`, and leaves nothing.
pub async fn an_install_never_creates(fixture: &dyn StoreFixture) -> Checked {
    let hand = Hand::of(fixture).await?;
    regressed(hand.install(&key("order"), life(1), 50).await, "install on nothing");
    assert!(!hand.inspect().await?.has_cells, "a refused install left a cell");
    regressed(hand.take(&key("order"), life(1), 1).await, "take after a refused install");
    Ok(())
}

/// A close of a missing cell returns 0 and writes the closed mark, which only its own life may open.
pub async fn a_close_writes_its_mark_on_nothing(fixture: &dyn StoreFixture) -> Checked {
    let (hand, order) = (Hand::of(fixture).await?, key("order"));
    assert_eq!(hand.close(&order, life(1)).await?, 0);
    assert!(hand.inspect().await?.has_cells, "the closed mark is a cell");
    regressed(hand.take(&order, life(1), 1).await, "take on a closed cell");
    regressed(hand.lift(&order, life(1), 9).await, "lift on a closed cell");
    regressed(hand.install(&order, life(2), 0).await, "install of a life that did not close");
    hand.install(&order, life(1), 0).await?;
    assert_eq!(hand.take(&order, life(1), 2).await?, Block::new(1, 1, 2)?);
    Ok(())
}

/// A close returns the value, and from then on the old life is refused by every verb.
pub async fn a_close_returns_the_value_and_ends_the_life(fixture: &dyn StoreFixture) -> Checked {
    let (hand, order) = (Hand::of(fixture).await?, key("order"));
    hand.begin(&order, life(1), 0).await?;
    hand.take(&order, life(1), 5).await?;
    assert_eq!(hand.close(&order, life(2)).await?, 5);
    for dead in [life(1), life(2)] {
        regressed(hand.take(&order, dead, 1).await, "take on a closed cell");
        regressed(hand.lift(&order, dead, 99).await, "lift on a closed cell");
    }
    hand.install(&order, life(2), 0).await?;
    regressed(hand.take(&order, life(1), 1).await, "take of a dead life");
    regressed(hand.lift(&order, life(1), 99).await, "lift of a dead life");
    regressed(hand.install(&order, life(1), 99).await, "install of a dead life");
    assert_eq!(hand.take(&order, life(2), 1).await?, Block::new(6, 1, 1)?, "the refused verbs left no trace");
    Ok(())
}

/// A close over a closed cell returns the same value, and only the last one may install.
pub async fn a_second_close_keeps_the_value(fixture: &dyn StoreFixture) -> Checked {
    let (hand, order) = (Hand::of(fixture).await?, key("order"));
    hand.begin(&order, life(1), 40).await?;
    hand.take(&order, life(1), 2).await?;
    for next in 2..6 {
        assert_eq!(hand.close(&order, life(next)).await?, 42);
    }
    regressed(hand.install(&order, life(4), 0).await, "install after a later close");
    hand.install(&order, life(5), 0).await?;
    assert_eq!(hand.take(&order, life(5), 1).await?.first(), 43);
    Ok(())
}

/// An install begins at the greater of the value found and the base.
pub async fn an_install_opens_at_the_greater_of_value_and_base(fixture: &dyn StoreFixture) -> Checked {
    let (hand, order) = (Hand::of(fixture).await?, key("order"));
    hand.begin(&order, life(1), 100).await?;
    assert_eq!(hand.take(&order, life(1), 1).await?.first(), 101, "the base is above nothing");
    hand.begin(&order, life(2), 50).await?;
    assert_eq!(hand.take(&order, life(2), 1).await?.first(), 102, "the value is above the base");
    hand.begin(&order, life(3), 102).await?;
    assert_eq!(hand.take(&order, life(3), 1).await?.first(), 103, "they are equal");
    hand.begin(&order, life(4), 1 << 60).await?;
    assert_eq!(hand.take(&order, life(4), 1).await?.first(), (1 << 60) + 1, "the base is above the value");
    Ok(())
}

/// An install that arrives again, after its life has counted, keeps the value.
pub async fn an_install_done_twice_is_done_once(fixture: &dyn StoreFixture) -> Checked {
    let (hand, order) = (Hand::of(fixture).await?, key("order"));
    hand.begin(&order, life(1), 10).await?;
    hand.install(&order, life(1), 10).await?;
    assert_eq!(hand.take(&order, life(1), 3).await?.last(), 13);
    hand.install(&order, life(1), 10).await?;
    hand.install(&order, life(1), 5000).await?;
    assert_eq!(hand.take(&order, life(1), 1).await?.first(), 14, "an open cell keeps its value");
    Ok(())
}

/// An install of a life that another close has replaced is `Regressed`, before and after the other's install.
pub async fn an_install_of_a_superseded_life_is_refused(fixture: &dyn StoreFixture) -> Checked {
    let (hand, order) = (Hand::of(fixture).await?, key("order"));
    hand.close(&order, life(1)).await?;
    hand.close(&order, life(2)).await?;
    regressed(hand.install(&order, life(1), 500).await, "late install over another's close");
    hand.install(&order, life(2), 100).await?;
    hand.take(&order, life(2), 5).await?;
    regressed(hand.install(&order, life(1), 0).await, "late install over a life in progress");
    assert_eq!(hand.take(&order, life(2), 1).await?.first(), 106);
    Ok(())
}

/// A lift raises, and a lower one is done without effect.
pub async fn a_lift_goes_forward_only(fixture: &dyn StoreFixture) -> Checked {
    let (hand, order) = (Hand::of(fixture).await?, key("order"));
    hand.begin(&order, life(1), 0).await?;
    hand.lift(&order, life(1), 100).await?;
    hand.lift(&order, life(1), 100).await?;
    assert_eq!(hand.take(&order, life(1), 1).await?.first(), 101);
    hand.lift(&order, life(1), 50).await?;
    hand.lift(&order, life(1), 0).await?;
    assert_eq!(hand.take(&order, life(1), 1).await?.first(), 102);
    Ok(())
}

/// Takes of any size follow each other without gap; 0 counts as 1.
pub async fn takes_go_on_where_the_last_ended(fixture: &dyn StoreFixture) -> Checked {
    let (hand, order) = (Hand::of(fixture).await?, key("order"));
    hand.begin(&order, life(1), 0).await?;
    let mut next = 1;
    for want in [1, 0, 7, 2, 4096, 1, 1_000_000, 1] {
        let count = want.max(1);
        assert_eq!(hand.take(&order, life(1), want).await?, Block::new(next, 1, count)?);
        next += count;
    }
    Ok(())
}

/// A verb on one key touches no other.
pub async fn keys_share_nothing(fixture: &dyn StoreFixture) -> Checked {
    let (hand, a, b) = (Hand::of(fixture).await?, key("a"), key("b"));
    hand.begin(&a, life(1), 10).await?;
    hand.begin(&b, life(1), 20).await?;
    hand.take(&a, life(1), 5).await?;
    hand.lift(&a, life(1), 500).await?;
    hand.close(&a, life(2)).await?;
    assert_eq!(hand.take(&b, life(1), 1).await?.first(), 21);
    regressed(hand.take(&b, life(2), 1).await, "take of another key's life");
    Ok(())
}

/// Keys that an engine may fold, trim, cut or take for syntax are different counters.
pub async fn odd_keys_are_kept_apart(fixture: &dyn StoreFixture) -> Checked {
    let hand = Hand::of(fixture).await?;
    let keys: Vec<_> = (1..).map(|at| at * 1000).zip(odd_keys()).collect();
    for (base, key) in &keys {
        assert_eq!(hand.close(key, life(1)).await?, 0, "{key:?} was taken for another key");
        hand.install(key, life(1), *base).await?;
    }
    for (base, key) in &keys {
        assert_eq!(hand.take(key, life(1), 1).await?.first(), base + 1, "{key:?}");
    }
    Ok(())
}

/// Tokens at both ends of the signed range work, and neighbours are not mistaken for each other.
pub async fn lives_are_compared_to_the_last_bit(fixture: &dyn StoreFixture) -> Checked {
    let (hand, order) = (Hand::of(fixture).await?, key("order"));
    let two_to_53 = 1 << 53;
    for bits in [i64::MIN, -1, 1, i64::MAX, two_to_53, -two_to_53] {
        hand.begin(&order, life(bits), 0).await?;
        for other in [bits.wrapping_add(1), bits.wrapping_sub(1), bits ^ i64::MIN, -bits.wrapping_add(3)] {
            regressed(hand.take(&order, life(other), 1).await, "take of a neighbouring life");
        }
        hand.take(&order, life(bits), 1).await?;
    }
    Ok(())
}

/// A counter at the edge gives what is left, then is `Exhausted`, for ever and without a trace.
pub async fn the_edge_of_the_range_never_wraps(fixture: &dyn StoreFixture) -> Checked {
    let (hand, order) = (Hand::of(fixture).await?, key("order"));
    hand.begin(&order, life(1), Block::NUMBER_MAX - 3).await?;
    refused(hand.take(&order, life(1), 5).await, ErrorKind::Exhausted, "take over the edge");
    refused(
        hand.take(&order, life(1), Block::NUMBER_MAX).await,
        ErrorKind::Exhausted,
        "take far over the edge",
    );
    refused(hand.take(&order, life(1), u64::MAX).await, ErrorKind::Exhausted, "take over the edge of u64");
    assert_eq!(
        hand.take(&order, life(1), 2).await?.first(),
        Block::NUMBER_MAX - 2,
        "refused takes left a trace"
    );
    assert_eq!(hand.take(&order, life(1), 1).await?.last(), Block::NUMBER_MAX);
    for _ in 0..3 {
        refused(hand.take(&order, life(1), 1).await, ErrorKind::Exhausted, "take at the edge");
    }
    hand.lift(&order, life(1), Block::NUMBER_MAX).await?;
    assert_eq!(hand.close(&order, life(2)).await?, Block::NUMBER_MAX);
    hand.install(&order, life(2), Block::NUMBER_MAX).await?;
    refused(hand.take(&order, life(2), 1).await, ErrorKind::Exhausted, "take at the edge in the next life");
    Ok(())
}

/// A base or floor beyond the range is `Exhausted`, and leaves no trace.
pub async fn values_beyond_the_range_are_refused(fixture: &dyn StoreFixture) -> Checked {
    let (hand, order) = (Hand::of(fixture).await?, key("order"));
    hand.close(&order, life(1)).await?;
    for beyond in [Block::NUMBER_MAX + 1, u64::MAX] {
        refused(
            hand.install(&order, life(1), beyond).await,
            ErrorKind::Exhausted,
            "install beyond the range",
        );
    }
    hand.install(&order, life(1), 7).await?;
    for beyond in [Block::NUMBER_MAX + 1, u64::MAX] {
        refused(hand.lift(&order, life(1), beyond).await, ErrorKind::Exhausted, "lift beyond the range");
    }
    assert_eq!(hand.take(&order, life(1), 1).await?.first(), 8);
    Ok(())
}
