//! Who speaks, and what is on record.

use std::slice;

use sequent_core::{
    DurabilityClass, ErrorKind, InstanceId,
    ledger::{Definition, Known, Raise, SlotCommand, SlotVerb, apart},
};

use super::{
    super::{Checked, skipped},
    LedgerFixture,
    desk::{AHEAD, Desk, counter, layout, opening, raise, refused},
};

/// 2020-01-01: a clock before that was never set.
const EARLIEST_MS: u64 = 1_577_836_800_000;

/// A new ledger holds nothing.
pub async fn a_new_ledger_is_empty(fixture: &dyn LedgerFixture) -> Checked {
    let ledger = fixture.open().await;
    let under = ledger.inspect().await?.instance;
    let order = counter(0, "order");
    assert_eq!(ledger.layout().await?, None);
    assert_eq!(ledger.known().await?, Known::default());
    assert_eq!(ledger.read(&under, slice::from_ref(&order)).await?.rows, [None]);
    assert_eq!(ledger.list(None, 10).await?, []);
    assert_eq!(ledger.history(&order).await?, []);
    assert_eq!(ledger.slot_commands().await?, []);
    assert_eq!(ledger.definitions().await?.1, []);
    Ok(())
}

/// A ledger says the same of itself at each look and to each process, and no other ledger says it.
pub async fn an_inspection_is_sane(fixture: &dyn LedgerFixture) -> Checked {
    let (one, two) = (fixture.open().await, fixture.open().await);
    let (a, again, b) = (one.inspect().await?, one.inspect().await?, two.inspect().await?);
    assert_eq!((a.id, &a.instance), (again.id, &again.instance), "it changed between two looks");
    assert_eq!((a.id, &a.instance), (b.id, &b.instance), "two processes see two ledgers");
    assert!(!a.instance.as_str().is_empty() && !a.engine.is_empty());
    assert_eq!((a.version, &a.durability), (b.version, &b.durability));
    assert!(
        a.clock_ms > EARLIEST_MS && again.clock_ms >= a.clock_ms,
        "{} then {}",
        a.clock_ms,
        again.clock_ms
    );
    let reading = one.read(&a.instance, &[]).await?;
    assert!(reading.clock_ms >= a.clock_ms, "a reading has the ledger's clock");
    Ok(())
}

/// The ledger's own instance and each slot's are kept, the latest of each, ascending by slot.
pub async fn records_are_kept_by_slot(fixture: &dyn LedgerFixture) -> Checked {
    let desk = Desk::of(fixture, 1).await?;
    let (a, b) = (InstanceId::new("run 1, file 'a'"), InstanceId::new("run 2"));
    for (slot, instance) in [(Some(7), &a), (Some(0), &a), (None, &desk.under), (Some(7), &b), (Some(2), &b)]
    {
        desk.ledger.record(&desk.under, slot, instance).await?;
    }
    let stores = vec![(0, a.clone()), (2, b.clone()), (7, b)];
    let expected = Known { ledger: Some(desk.under.clone()), stores };
    assert_eq!(fixture.open().await.known().await?, expected);
    let version = desk.ledger.inspect().await?.version;
    desk.ledger.record(&desk.under, None, &desk.under).await?;
    assert_eq!(desk.ledger.inspect().await?.version, version, "the same run once more");
    desk.ledger.record(&desk.under, None, &a).await?;
    assert_eq!(desk.ledger.known().await?.ledger, Some(a.clone()));
    assert_eq!(desk.ledger.inspect().await?.version, version + apart(&a), "another run begins far above");
    Ok(())
}

/// After a restart a durable ledger holds every page as it was.
pub async fn what_was_written_outlives_a_restart(fixture: &dyn LedgerFixture) -> Checked {
    let (mut desk, order) = (Desk::of(fixture, 1).await?, counter(0, "order"));
    desk.open_one(opening(&order, 1, 0)).await?;
    desk.open_one(opening(&order, 2, 0)).await?;
    desk.raise_one(Raise { seen: AHEAD + 5, ..raise(&order, 2, 777) }).await?;
    desk.ledger.record(&desk.under, Some(1), &desk.under).await?;
    let definition = Definition { name: "order".parse()?, version: 3, body: "{}".into() };
    desk.ledger.define(&definition, None).await?;
    let (who, why) = ("ops".to_owned(), "disk".to_owned());
    let word = SlotCommand { slot: 1, verb: SlotVerb::Evict, who, why, at_ms: 0, until_ms: None };
    let word = desk.ledger.say(&word).await?;
    let (before, row) = (desk.ledger.inspect().await?, desk.row(&order).await?);
    let (known, history) = (desk.ledger.known().await?, desk.ledger.history(&order).await?);
    drop(desk);
    if !fixture.restart().await {
        return skipped("restart its engine");
    }
    let ledger = fixture.open().await;
    let after = ledger.inspect().await?;
    if before.durability.class != DurabilityClass::Durable {
        return skipped("be held to what it keeps: it is not durable");
    }
    assert_eq!((after.id, after.version), (before.id, before.version));
    assert_eq!(ledger.read(&after.instance, slice::from_ref(&order)).await?.rows, [row]);
    assert_eq!((ledger.known().await?, ledger.history(&order).await?), (known, history));
    assert_eq!(ledger.layout().await?, Some(layout()));
    assert_eq!(ledger.definitions().await?.1, [definition]);
    assert_eq!(ledger.slot_commands().await?, [word]);
    Ok(())
}

/// A copy put back has another instance id, with the copy's version and rows, and old handles are refused.
pub async fn a_restored_ledger_speaks_as_another(fixture: &dyn LedgerFixture) -> Checked {
    let (mut old, order) = (Desk::of(fixture, 1).await?, counter(0, "order"));
    let row = old.open_one(opening(&order, 1, 0)).await?;
    let before = old.ledger.inspect().await?;
    if !fixture.copy().await {
        return skipped("take a copy");
    }
    old.raise_one(raise(&order, 1, 9000)).await?;
    if !fixture.restore().await {
        return skipped("put a copy back");
    }
    let refusals = [old.raise(&[raise(&order, 1, 9999)]).await.err(), old.row(&order).await.err()];
    for refusal in refusals {
        let kind = refusal.map(|error| error.kind());
        let expected = [Some(ErrorKind::InstanceChanged), Some(ErrorKind::Unavailable)];
        assert!(expected.contains(&kind), "a handle of before the restore: {kind:?}");
    }
    let new = Desk::of(fixture, 2).await?;
    let after = new.ledger.inspect().await?;
    assert_ne!(after.instance, before.instance, "the restored copy passes for the data before");
    assert_eq!((after.id, after.version), (before.id, before.version));
    new.unchanged(&order, &row).await?;
    refused(
        new.ledger.read(&old.under, &[]).await,
        ErrorKind::InstanceChanged,
        "a read under the old instance",
    );
    Ok(())
}
