//! Rules of epochs and ceilings.

use sequent_core::{
    Rule, Rules,
    ledger::{Counter, Opened, Opening, Raise, Raised, Row},
};

use crate::ledger::Records;

/// Opens epochs in order, over the rows of this transaction.
pub(crate) fn open(records: &mut Records, openings: &[Opening], rules: Rules) -> Vec<Opened> {
    openings.iter().map(|opening| open_one(records, opening, None, rules)).collect()
}

/// Mutation of R10: opens over ceilings that an earlier transaction read.
pub(crate) fn open_over(
    records: &mut Records,
    openings: &[Opening],
    read: &[u64],
    rules: Rules,
) -> Vec<Opened> {
    let each = openings.iter().zip(read);
    each.map(|(opening, read)| open_one(records, opening, Some(*read), rules)).collect()
}

/// The ceilings that openings would find.
pub(crate) fn ceilings(records: &Records, openings: &[Opening]) -> Vec<u64> {
    let ceiling = |counter: &Counter| records.rows.get(counter).map_or(records.floor, |row| row.ceiling);
    openings.iter().map(|opening| ceiling(&opening.counter)).collect()
}

fn open_one(records: &mut Records, opening: &Opening, read: Option<u64>, rules: Rules) -> Opened {
    let old = records.rows.get(&opening.counter);
    let raced = if read.is_some() { old.map_or(0, |row| row.ceiling) } else { 0 };
    let stale = read.and_then(|ceiling| old.map(|row| Row { ceiling, ..row.clone() }));
    let value = if rules.keep(Rule::OpenCountsValue) { opening.value } else { 0 };
    let counted = Opening { value, ..opening.clone() };
    let floor = read.filter(|_| old.is_none()).unwrap_or(records.floor);
    let mut opened = counted.of(stale.as_ref().or(old), floor, &records.instance, records.clock_ms);
    if let Opened::Row(row) = &mut opened {
        row.ceiling = row.ceiling.max(raced);
        records.begin(&opening.counter, row.clone());
    }
    opened
}

/// Raises ceilings in order, each only if the row still has the epoch.
pub(crate) fn raise(records: &mut Records, raises: &[Raise], rules: Rules) -> Vec<Raised> {
    raises.iter().map(|raise| raise_one(records, raise, rules)).collect()
}

fn raise_one(records: &mut Records, raise: &Raise, rules: Rules) -> Raised {
    let Some(row) = records.rows.get(&raise.counter) else { return Raised::Ended { begun_at: None } };
    // R11
    let epoch = if rules.keep(Rule::RaiseNeedsEpoch) { raise.epoch } else { row.epoch };
    let mut outcome = Raise { epoch, ..raise.clone() }.of(row);
    if let Raised::Held { ceiling, seen } = &mut outcome {
        // R14
        if !rules.keep(Rule::LedgerForward) && raise.ceiling > 0 {
            *ceiling = raise.ceiling;
        }
        records.raise(&raise.counter, *ceiling, *seen);
    }
    outcome
}
