//! The cell verbs, one caller at a time.

use sequent_core::Block;

use super::{super::Checked, Hand, StoreFixture, epoch, key, regressed};

/// A take on a missing cell is `Regressed`, and leaves nothing.
pub async fn a_take_never_creates(fixture: &dyn StoreFixture) -> Checked {
    let hand = Hand::of(fixture).await?;
    regressed(hand.take(&key("order"), epoch(1), 1).await, "take on nothing");
    assert!(!hand.inspect().await?.has_cells, "a refused take left a cell");
    assert_eq!(hand.close(&key("order"), epoch(2)).await?, 0, "a refused take left a value");
    Ok(())
}

/// A lift on a missing cell is `Regressed`, and leaves nothing.
pub async fn a_lift_never_creates(fixture: &dyn StoreFixture) -> Checked {
    let hand = Hand::of(fixture).await?;
    regressed(hand.lift(&key("order"), epoch(1), 50).await, "lift on nothing");
    assert!(!hand.inspect().await?.has_cells, "a refused lift left a cell");
    regressed(hand.take(&key("order"), epoch(1), 1).await, "take after a refused lift");
    Ok(())
}

/// An install without a close before it is `Regressed`, and leaves nothing.
pub async fn an_install_never_creates(fixture: &dyn StoreFixture) -> Checked {
    let hand = Hand::of(fixture).await?;
    regressed(hand.install(&key("order"), epoch(1), 50).await, "install on nothing");
    assert!(!hand.inspect().await?.has_cells, "a refused install left a cell");
    regressed(hand.take(&key("order"), epoch(1), 1).await, "take after a refused install");
    Ok(())
}

/// A close of a missing cell returns 0 and writes the closed mark, which only its own epoch may open.
pub async fn a_close_writes_its_mark_on_nothing(fixture: &dyn StoreFixture) -> Checked {
    let (hand, order) = (Hand::of(fixture).await?, key("order"));
    assert_eq!(hand.close(&order, epoch(1)).await?, 0);
    assert!(hand.inspect().await?.has_cells, "the closed mark is a cell");
    regressed(hand.take(&order, epoch(1), 1).await, "take on a closed cell");
    regressed(hand.lift(&order, epoch(1), 9).await, "lift on a closed cell");
    regressed(hand.install(&order, epoch(2), 0).await, "install of an epoch that did not close");
    hand.install(&order, epoch(1), 0).await?;
    assert_eq!(hand.take(&order, epoch(1), 2).await?, Block::new(1, 1, 2)?);
    Ok(())
}

/// A close returns the value, and from then on the old epoch is refused by every verb.
pub async fn a_close_returns_the_value_and_ends_the_epoch(fixture: &dyn StoreFixture) -> Checked {
    let (hand, order) = (Hand::of(fixture).await?, key("order"));
    hand.begin(&order, epoch(1), 0).await?;
    hand.take(&order, epoch(1), 5).await?;
    assert_eq!(hand.close(&order, epoch(2)).await?, 5);
    for dead in [epoch(1), epoch(2)] {
        regressed(hand.take(&order, dead, 1).await, "take on a closed cell");
        regressed(hand.lift(&order, dead, 99).await, "lift on a closed cell");
    }
    hand.install(&order, epoch(2), 0).await?;
    regressed(hand.take(&order, epoch(1), 1).await, "take of a dead epoch");
    regressed(hand.lift(&order, epoch(1), 99).await, "lift of a dead epoch");
    regressed(hand.install(&order, epoch(1), 99).await, "install of a dead epoch");
    assert_eq!(
        hand.take(&order, epoch(2), 1).await?,
        Block::new(6, 1, 1)?,
        "the refused verbs left no trace"
    );
    Ok(())
}

/// A close over a closed cell returns the same value, and only the last one may install.
pub async fn a_second_close_keeps_the_value(fixture: &dyn StoreFixture) -> Checked {
    let (hand, order) = (Hand::of(fixture).await?, key("order"));
    hand.begin(&order, epoch(1), 40).await?;
    hand.take(&order, epoch(1), 2).await?;
    for next in 2..6 {
        assert_eq!(hand.close(&order, epoch(next)).await?, 42);
    }
    regressed(hand.install(&order, epoch(4), 0).await, "install after a later close");
    hand.install(&order, epoch(5), 0).await?;
    assert_eq!(hand.take(&order, epoch(5), 1).await?.first(), 43);
    Ok(())
}

/// An install begins at the greater of the value found and the base.
pub async fn an_install_opens_at_the_greater_of_value_and_base(fixture: &dyn StoreFixture) -> Checked {
    let (hand, order) = (Hand::of(fixture).await?, key("order"));
    hand.begin(&order, epoch(1), 100).await?;
    assert_eq!(hand.take(&order, epoch(1), 1).await?.first(), 101, "the base is above nothing");
    hand.begin(&order, epoch(2), 50).await?;
    assert_eq!(hand.take(&order, epoch(2), 1).await?.first(), 102, "the value is above the base");
    hand.begin(&order, epoch(3), 102).await?;
    assert_eq!(hand.take(&order, epoch(3), 1).await?.first(), 103, "they are equal");
    hand.begin(&order, epoch(4), 1 << 60).await?;
    assert_eq!(hand.take(&order, epoch(4), 1).await?.first(), (1 << 60) + 1, "the base is above the value");
    Ok(())
}

/// An install that arrives again, after its epoch has counted, keeps the value.
pub async fn an_install_done_twice_is_done_once(fixture: &dyn StoreFixture) -> Checked {
    let (hand, order) = (Hand::of(fixture).await?, key("order"));
    hand.begin(&order, epoch(1), 10).await?;
    hand.install(&order, epoch(1), 10).await?;
    assert_eq!(hand.take(&order, epoch(1), 3).await?.last(), 13);
    hand.install(&order, epoch(1), 10).await?;
    hand.install(&order, epoch(1), 5000).await?;
    assert_eq!(hand.take(&order, epoch(1), 1).await?.first(), 14, "an open cell keeps its value");
    Ok(())
}

/// An install of an epoch that another close has replaced is `Regressed`, before and after the other's install.
pub async fn an_install_of_a_superseded_epoch_is_refused(fixture: &dyn StoreFixture) -> Checked {
    let (hand, order) = (Hand::of(fixture).await?, key("order"));
    hand.close(&order, epoch(1)).await?;
    hand.close(&order, epoch(2)).await?;
    regressed(hand.install(&order, epoch(1), 500).await, "late install over another's close");
    hand.install(&order, epoch(2), 100).await?;
    hand.take(&order, epoch(2), 5).await?;
    regressed(hand.install(&order, epoch(1), 0).await, "late install over an epoch in progress");
    assert_eq!(hand.take(&order, epoch(2), 1).await?.first(), 106);
    Ok(())
}

/// A lift raises, and a lower one is done without effect.
pub async fn a_lift_goes_forward_only(fixture: &dyn StoreFixture) -> Checked {
    let (hand, order) = (Hand::of(fixture).await?, key("order"));
    hand.begin(&order, epoch(1), 0).await?;
    assert_eq!(hand.lift(&order, epoch(1), 100).await?, 100);
    assert_eq!(hand.lift(&order, epoch(1), 100).await?, 100);
    assert_eq!(hand.take(&order, epoch(1), 1).await?.first(), 101);
    assert_eq!(hand.lift(&order, epoch(1), 50).await?, 101, "what is held, not what was asked for");
    assert_eq!(hand.take(&order, epoch(1), 1).await?.first(), 102);
    Ok(())
}

/// A lift to 0 tells the value and changes nothing, and is refused where any lift is.
pub async fn a_lift_to_nothing_only_reads(fixture: &dyn StoreFixture) -> Checked {
    let (hand, order) = (Hand::of(fixture).await?, key("order"));
    regressed(hand.lift(&order, epoch(1), 0).await, "reading where there is no cell");
    assert!(!hand.inspect().await?.has_cells, "a reading left a cell");
    hand.begin(&order, epoch(1), 0).await?;
    assert_eq!(hand.lift(&order, epoch(1), 0).await?, 0, "nothing was taken yet");
    hand.take(&order, epoch(1), 7).await?;
    assert_eq!(hand.lift(&order, epoch(1), 0).await?, 7);
    regressed(hand.lift(&order, epoch(2), 0).await, "reading under another epoch");
    assert_eq!(hand.take(&order, epoch(1), 1).await?.first(), 8);
    hand.close(&order, epoch(2)).await?;
    regressed(hand.lift(&order, epoch(1), 0).await, "reading a closed cell");
    Ok(())
}

/// What every store gives whole.
const PART_MIN: u64 = 4096;

/// Takes of any size follow each other without gap; 0 counts as 1. Of a long one a store may give a part.
pub async fn takes_go_on_where_the_last_ended(fixture: &dyn StoreFixture) -> Checked {
    let (hand, order) = (Hand::of(fixture).await?, key("order"));
    hand.begin(&order, epoch(1), 0).await?;
    let mut next = 1;
    for want in [1, 0, 7, 2, 4096, 1, 1_000_000, 1] {
        let block = hand.take(&order, epoch(1), want).await?;
        assert_eq!(block, Block::new(next, 1, block.count())?);
        assert!((want.clamp(1, PART_MIN)..=want.max(1)).contains(&block.count()), "{want}: {block}");
        next += block.count();
    }
    Ok(())
}

/// A verb on one key touches no other.
pub async fn keys_share_nothing(fixture: &dyn StoreFixture) -> Checked {
    let (hand, a, b) = (Hand::of(fixture).await?, key("a"), key("b"));
    hand.begin(&a, epoch(1), 10).await?;
    hand.begin(&b, epoch(1), 20).await?;
    hand.take(&a, epoch(1), 5).await?;
    hand.lift(&a, epoch(1), 500).await?;
    hand.close(&a, epoch(2)).await?;
    assert_eq!(hand.take(&b, epoch(1), 1).await?.first(), 21);
    regressed(hand.take(&b, epoch(2), 1).await, "take of another key's epoch");
    Ok(())
}

/// A cell that was removed is as one that never was: no verb but a close makes another. A store that keeps it says so.
pub async fn a_removed_cell_is_not_created_again(fixture: &dyn StoreFixture) -> Checked {
    let (hand, old, other) = (Hand::of(fixture).await?, key("order"), key("other"));
    hand.begin(&old, epoch(1), 40).await?;
    hand.begin(&other, epoch(1), 20).await?;
    let elsewhere = sequent_core::InstanceId::new("elsewhere");
    let stale = hand.store.remove(sequent_core::Cell { key: &old, under: &elsewhere }).await;
    assert!(!matches!(stale, Ok(true)), "{stale:?}");
    assert_eq!(hand.take(&old, epoch(1), 1).await?.first(), 41, "a stale remove touches nothing");
    if !hand.remove(&old).await? {
        assert_eq!(hand.take(&old, epoch(1), 1).await?.first(), 42, "it is kept");
        return Ok(());
    }
    regressed(hand.take(&old, epoch(1), 1).await, "take on a removed cell");
    regressed(hand.lift(&old, epoch(1), 99).await, "lift on a removed cell");
    regressed(hand.install(&old, epoch(1), 99).await, "install on a removed cell");
    assert!(!hand.remove(&old).await?, "there is none");
    assert_eq!(hand.take(&other, epoch(1), 1).await?.first(), 21, "another key's cell");
    assert_eq!(hand.close(&old, epoch(2)).await?, 0, "nothing is left of it");
    assert!(hand.remove(&old).await?, "a closed one goes too");
    regressed(hand.install(&old, epoch(2), 5).await, "an install that comes late");
    Ok(())
}
