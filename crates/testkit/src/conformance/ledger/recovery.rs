//! The way back after a loss that an operator named.

use sequent_core::{
    Block, ErrorKind, InstanceId,
    ledger::{Known, Loss, Opening, Raise, Row, SlotCommand, SlotVerb},
};

use super::{
    super::Checked,
    LedgerFixture,
    desk::{AHEAD, Desk, counter, layout, opening, raise, refused},
};

/// A version floor above any that these checks reach.
const FLOOR: u64 = 5000;

/// Recovers, and checks all that does not depend on the loss; returns a desk at the new instance.
async fn recovered(
    fixture: &dyn LedgerFixture,
    old: &Desk,
    loss: Loss,
) -> Result<Desk, Box<dyn std::error::Error + Send + Sync>> {
    let store = InstanceId::new("store 1");
    old.ledger.record(&old.under, Some(0), &store).await?;
    let id = old.ledger.inspect().await?.id;
    let new = old.ledger.recover(loss, FLOOR).await?;
    assert_ne!(new, old.under, "it speaks as before");
    let after = fixture.open().await.inspect().await?;
    assert_eq!((&after.instance, after.id), (&new, id));
    assert!(after.version > FLOOR, "version {} is not above {FLOOR}", after.version);
    let known = old.ledger.known().await?;
    assert_eq!(known, Known { ledger: Some(new.clone()), stores: vec![] }, "what is on record");
    refused(
        old.ledger.read(&old.under, &[]).await,
        ErrorKind::InstanceChanged,
        "a read under the old instance",
    );
    refused(
        old.clone().heartbeat(&[]).await,
        ErrorKind::InstanceChanged,
        "a heartbeat under the old instance",
    );
    let again = fixture.open().await.recover(Loss::Moved, 0).await?;
    assert!(again != new && again != old.under, "an instance came back: {again}");
    let desk = Desk::of(fixture, 9).await?;
    assert!(desk.version().await? >= after.version, "the version went back");
    Ok(desk)
}

/// A ledger that was moved keeps its rows as they are, and speaks as another.
pub async fn a_moved_ledger_goes_on_as_another(fixture: &dyn LedgerFixture) -> Checked {
    let (mut old, order) = (Desk::of(fixture, 1).await?, counter(0, "order"));
    old.open_one(opening(&order, 1, 0)).await?;
    old.raise_one(Raise { seen: 50, ..raise(&order, 1, 700) }).await?;
    let row = old.row(&order).await?;
    let evicted = SlotCommand {
        slot: 1,
        verb: SlotVerb::Evict,
        who: "a".into(),
        why: "b".into(),
        at_ms: 0,
        until_ms: None,
    };
    let said = old.ledger.say(&evicted).await?;
    let mut desk = recovered(fixture, &old, Loss::Moved).await?;
    assert_eq!(desk.row(&order).await?, row, "the row names the instance that it was opened under");
    assert_eq!(
        (desk.ledger.layout().await?, desk.ledger.slot_commands().await?),
        (Some(layout()), vec![said])
    );
    let next = desk.open_one(opening(&order, 2, 0)).await?;
    assert_eq!((next.base, &next.ledger), (700, &desk.under));
    Ok(())
}

/// A bump adds the loss to ceiling and seen of every row, within the range.
pub async fn a_bump_widens_every_row(fixture: &dyn LedgerFixture) -> Checked {
    let mut old = Desk::of(fixture, 1).await?;
    let (order, other, edge) = (counter(0, "order"), counter(3, "order|1:7"), counter(1, "edge"));
    old.open_one(opening(&order, 1, 0)).await?;
    let raised = old.raise_one(Raise { seen: 50, ..raise(&order, 1, 700) }).await?;
    let row = old.open_one(opening(&other, 1, 30)).await?;
    let far = Opening { jump_max: u64::MAX, ..opening(&edge, 1, Block::NUMBER_MAX - AHEAD - 5) };
    old.open_one(far).await?;
    let desk = recovered(fixture, &old, Loss::Bump(1000)).await?;
    let rows = desk.ledger.read(&desk.under, &[order, other, edge]).await?.rows;
    let found: Vec<(u64, u64)> = rows.iter().flatten().map(|row| (row.ceiling, row.seen)).collect();
    assert_eq!(found[0], (raised.0 + 1000, raised.1 + 1000));
    assert_eq!(found[1], (row.ceiling + 1000, row.seen + 1000));
    assert_eq!(found[2].0, Block::NUMBER_MAX, "the edge of the range");
    let named: Vec<&Row> = rows.iter().flatten().filter(|row| row.ledger == old.under).collect();
    assert_eq!(named.len(), rows.len(), "no row may pass for one of the new instance");
    Ok(())
}

/// The next epoch after a bump is opened above it, however small the jump bound.
pub async fn a_bump_is_no_jump(fixture: &dyn LedgerFixture) -> Checked {
    let (mut old, order) = (Desk::of(fixture, 1).await?, counter(0, "order"));
    old.open_one(opening(&order, 1, 0)).await?;
    let mut desk = recovered(fixture, &old, Loss::Bump(1_000_000)).await?;
    let row = desk.open_one(Opening { jump_max: 0, ..opening(&order, 2, 0) }).await?;
    assert_eq!((row.base, row.ceiling), (1_000_000 + AHEAD, 1_000_000 + 2 * AHEAD));
    Ok(())
}

/// A counter that began after the copy was made has no row: after a bump it opens above the loss all the same.
pub async fn a_bump_covers_counters_without_a_row(fixture: &dyn LedgerFixture) -> Checked {
    let (old, young) = (Desk::of(fixture, 1).await?, counter(0, "young"));
    let mut desk = recovered(fixture, &old, Loss::Bump(1_000_000)).await?;
    let row = desk.open_one(Opening { jump_max: 0, ..opening(&young, 2, 0) }).await?;
    assert_eq!((row.base, row.ceiling), (1_000_000, 1_000_000 + AHEAD));
    Ok(())
}
