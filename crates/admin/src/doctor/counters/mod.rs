//! Each counter's cell compared with its row, its history and the key's other slots.
//!
//! Reading order: `rows`, `terms`, `history` (what is known), `keys` and `unlisted_cells` (which counters),
//! `judge` (what is found), `recheck` (whether it stays), and [`findings`].

pub(crate) mod history;
mod judge;
pub(crate) mod keys;
pub(crate) mod recheck;
pub(crate) mod rows;
pub(crate) mod terms;
#[cfg(test)]
mod tests;
pub(crate) mod unlisted_cells;

use std::collections::BTreeMap;

use sequent_core::{InstanceId, Sight, SlotIndex, ledger::Counter};

use super::{
    findings::Kind,
    report::{Finding, Site},
};
use history::History;
pub(super) use judge::Verdict;
use judge::{Instances, Known, judge_rowless};
use rows::{KeyRows, Rows};
use terms::Terms;

/// How many keys a finding names.
pub(crate) const KEYS_NAMED_MAX: usize = 5;

/// What is known of all counters, beside their cells.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ledgered<'a> {
    /// The rows, as read before the cells …
    pub(super) before: &'a Rows,
    /// … and after them.
    pub(super) after: &'a Rows,
    pub(super) by_key: &'a KeyRows,
    pub(super) history: &'a History,
    pub(super) terms: &'a Terms,
}

impl Ledgered<'_> {
    /// Judges these cells, each with its store's instance.
    pub(super) fn judge<'a>(
        &self,
        cells: impl Iterator<Item = (&'a InstanceId, &'a Counter, &'a Sight)>,
        ledger: &InstanceId,
    ) -> Vec<Verdict> {
        cells
            .filter_map(|(store, counter, sight)| self.judge_one(counter, sight, Instances { store, ledger }))
            .collect()
    }

    fn judge_one(&self, counter: &Counter, sight: &Sight, now: Instances<'_>) -> Option<Verdict> {
        let Self { by_key, history, terms, .. } = *self;
        let (others, followed) = (by_key.others(counter), terms.followed(&counter.key));
        let ended = history.ended.get(counter).copied().unwrap_or(0);
        let fault = match (self.before.get(counter), self.after.get(counter)) {
            (Some(before), Some(after)) => {
                let bound = history.bounds.get(counter).copied();
                Known { before, after, others, followed, bound, ended }.judge(sight, now)?
            }
            (None, None) if by_key.lacks(counter) => {
                let is_unbegun = by_key.is_unbegun(counter);
                let others = others.filter(|_| !is_unbegun);
                judge_rowless(sight, (terms.floor, !is_unbegun), (others, followed))?
            }
            // A row that appeared or disappeared in between can't be used.
            _ => return None,
        };
        let value = if let Sight::Held { value, .. } = sight { *value } else { 0 };
        let row = self.after.get(counter).cloned();
        let is_advanced = matches!(
            fault.kind,
            Kind::CounterBehind | Kind::CounterBehindOtherSlots | Kind::CounterAboveCeiling
        );
        // The row must also be written again above what its history proves.
        let claim = row.as_ref().map(|row| row.reached().max(ended.saturating_sub(1)));
        let to = claim.filter(|_| is_advanced).and_then(|claim| terms.least_advance(counter, claim));
        Some(Verdict { counter: counter.clone(), fault, value, row, to })
    }
}

/// One finding for each kind of fault in a slot.
pub(super) fn findings(slot: SlotIndex, verdicts: &[&Verdict]) -> Vec<Finding> {
    let mut groups: BTreeMap<(Kind, &str), Vec<&Verdict>> = BTreeMap::new();
    for verdict in verdicts {
        groups.entry((verdict.fault.kind, verdict.fault.advice)).or_default().push(verdict);
    }
    let finding = |((kind, advice), verdicts): ((Kind, &str), Vec<&Verdict>)| {
        let counters = verdicts.iter().map(|verdict| (verdict.counter.key.to_string(), &*verdict.fault.text));
        let finding = grouped(kind, slot, counters);
        let rescue = match advice {
            "" => finding.advice,
            advice => format!("{advice}; then `sequent rescue {slot} --why TEXT`."),
        };
        Finding { advice: rescue + &least(&verdicts), ..finding }
    };
    groups.into_iter().map(finding).collect()
}

/// A finding about some counters of a slot: the keys of the first few, and the text of the first.
pub(super) fn grouped<'a>(
    kind: Kind,
    slot: SlotIndex,
    mut counters: impl ExactSizeIterator<Item = (String, &'a str)>,
) -> Finding {
    let count = counters.len();
    let (first, text) = counters.next().unwrap_or_default();
    let keys: Vec<String> =
        std::iter::once(first).chain(counters.map(|(key, _)| key)).take(KEYS_NAMED_MAX).collect();
    let found = if count == 1 {
        format!("counter {}: {text}", keys.concat())
    } else {
        let more = if count > keys.len() { ", …" } else { "" };
        format!("{count} counters ({}{more}); of the first: {text}", keys.join(", "))
    };
    Finding { keys, ..Finding::new(kind, Site::Slot(slot), found) }
}

/// The least numbers to advance to. An advance to less leaves these rows as they are.
fn least(verdicts: &[&Verdict]) -> String {
    let aims = verdicts.iter().filter_map(|verdict| Some((&verdict.counter.key, verdict.to?)));
    let aims = aims.take(KEYS_NAMED_MAX).map(|(key, to)| format!(" Advance counter {key} to at least {to}."));
    aims.collect()
}
