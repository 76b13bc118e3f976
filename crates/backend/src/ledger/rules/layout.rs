//! The page of the layout, and the rows of the next one.

use sequent_core::{
    Epoch, SourceError,
    ledger::{Counter, LayoutChange, LayoutPage, LayoutRecord, Rebased, Row, other_page},
};

use crate::ledger::Records;

/// Writes the first layout if there is none; returns what is held, and whether it was written now.
pub(crate) fn initialize(
    records: &mut Records,
    first: &LayoutRecord,
) -> Result<(LayoutRecord, bool), SourceError> {
    if let Some(page) = &records.layout {
        return Ok((page.record()?, false));
    }
    records.changes.layout = Some(LayoutPage::of(first));
    Ok((first.clone(), true))
}

/// Replaces the page if it is `held`.
pub(crate) fn replace(
    records: &mut Records,
    held: &LayoutPage,
    new: &LayoutPage,
) -> Result<u64, SourceError> {
    check(records, held)?;
    if let Some(change) = held.settles(new) {
        records.changes.floor = Some(records.floor.max(change.turned(records.floor)));
        records.changes.forgets_stores = true;
    }
    // Who plans shows that it may do all the rest: once the ring is fenced, it would be too late to find out.
    records.changes.tries_deleting = new.next.is_some() && !new.is_fenced;
    records.changes.layout = Some(new.clone());
    records.raise_version();
    Ok(records.next_version())
}

/// The change under way, while the page is `held` and fenced.
pub(crate) fn fenced_change(held: &LayoutPage) -> Result<LayoutChange, SourceError> {
    held.change().filter(|_| held.is_fenced).ok_or_else(|| other_page(Some(held), held))
}

/// The counters of a key in the layout before and in the next one.
pub(crate) fn counters<'a>(
    change: &LayoutChange,
    keys: &'a [Rebased],
) -> impl Iterator<Item = (Counter, Option<u64>)> + use<'a> {
    let slots = change.from.layout.slots().max(change.next.layout.slots());
    keys.iter().flat_map(move |Rebased { key, bases }| {
        (0..slots).map(move |slot| {
            let base = bases.iter().find(|(of, _)| *of == slot).map(|(_, base)| *base);
            (Counter { slot, key: key.clone() }, base)
        })
    })
}

/// Replaces the rows of these counters by the next layout's, while the page is `held`; those without a base go.
pub(crate) fn rebase(
    records: &mut Records,
    held: &LayoutPage,
    change: &LayoutChange,
    counters: &[(Counter, Option<u64>)],
) -> Result<(), SourceError> {
    check(records, held)?;
    for (counter, base) in counters {
        records.end(counter);
        if let Some(base) = *base {
            let row = Row {
                epoch: Epoch::of_generation(change.next.generation),
                store: change.marker(),
                ledger: records.speaks.clone(),
                base,
                ceiling: base,
                seen: base,
                opened_at_ms: records.clock_ms,
            };
            records.begin(counter, row);
        }
    }
    records.raise_version();
    Ok(())
}

/// Refuses another page than `held`.
fn check(records: &Records, held: &LayoutPage) -> Result<(), SourceError> {
    let found = records.layout.as_ref();
    if found == Some(held) { Ok(()) } else { Err(other_page(found, held)) }
}
