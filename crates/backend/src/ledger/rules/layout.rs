//! Rules of the layout's page, and of the rows of the next layout.

use sequent_core::{
    Epoch, SourceError,
    ledger::{Counter, LayoutChange, LayoutPage, LayoutRecord, Rebased, ResizeStep, Row, other_page},
};

use crate::ledger::Records;

/// Writes the first layout if there is none; returns the current one, and whether it was written now.
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
    // A plan must prove every privilege that the rest needs. Once the ring is fenced, a missing one would stop the
    // service.
    records.changes.tries_deleting = matches!(new.step, ResizeStep::Planned(_));
    records.changes.layout = Some(new.clone());
    records.raise_version();
    Ok(records.next_version())
}

/// The change in progress, if the page is `held` and fenced.
pub(crate) fn fenced_change(held: &LayoutPage) -> Result<LayoutChange, SourceError> {
    held.fenced_change().ok_or_else(|| other_page(Some(held), held))
}

/// The counters of a key, in the current layout and in the next one.
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

/// Replaces the rows of these counters by those of the next layout, if the page is `held`. A counter without a base
/// loses its row.
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
                ledger: records.instance.clone(),
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

/// Fails if the page is not `held`.
fn check(records: &Records, held: &LayoutPage) -> Result<(), SourceError> {
    let found = records.layout.as_ref();
    if found == Some(held) { Ok(()) } else { Err(other_page(found, held)) }
}
