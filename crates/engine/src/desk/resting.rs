//! Counters that rest: a slot that began a new life above what the others have reached is live, and gives nothing until they
//! come up to it.

use std::collections::BTreeMap;

use sequent_core::{
    Key, SlotIndex,
    ledger::{Counter, Row, WordVerb},
};

use super::Desk;
use crate::{
    limit::within,
    report::{COUNTERS_SHOWN_MAX, RESTING_SHOWN_MAX, RestReport, ShardReport},
};

impl Desk {
    /// Notes in each slot's report which of its counters rest, the longest first; as far as the ledger's rows can be read.
    pub(super) async fn note_resting(&self, reports: &mut [ShardReport]) {
        let list = self.ledger().list(None, COUNTERS_SHOWN_MAX);
        let mut rows = within(self.limit(), "read the rows", list).await.unwrap_or_default();
        // Nobody waits for a slot that does not serve.
        rows.retain(|(counter, _)| {
            reports.iter().any(|report| report.slot == counter.slot && serves(report))
        });
        for (slot, rest) in resting(&rows) {
            if let Some(report) = reports.iter_mut().find(|report| report.slot == slot) {
                report.resting.push(rest);
            }
        }
        for report in reports {
            report.resting.sort_by_key(|rest| std::cmp::Reverse(rest.raw_ids));
            report.resting.truncate(RESTING_SHOWN_MAX);
        }
    }
}

/// Whether a slot can serve, and no operator's word keeps it from that.
fn serves(report: &ShardReport) -> bool {
    let rescued = report.word.as_ref().is_none_or(|word| word.verb == WordVerb::Rescue.as_str());
    report.cause.is_none() && rescued
}

/// The counters whose life began above what another slot's counter of the key has reached by now.
fn resting(rows: &[(Counter, Row)]) -> Vec<(SlotIndex, RestReport)> {
    let reached = |row: &Row| row.base.max(row.seen);
    let mut lowest: BTreeMap<&Key, u64> = BTreeMap::new();
    for (counter, row) in rows {
        let lowest = lowest.entry(&counter.key).or_insert(u64::MAX);
        *lowest = (*lowest).min(reached(row));
    }
    let rest = |(counter, row): &(Counter, Row)| {
        let lowest = lowest.get(&counter.key).copied().filter(|lowest| row.base > *lowest)?;
        Some((counter.slot, RestReport { key: counter.key.to_string(), raw_ids: reached(row) - lowest }))
    };
    rows.iter().filter_map(rest).collect()
}

#[cfg(test)]
mod tests {
    use sequent_core::{Incarnation, Life};

    use super::*;

    fn row(slot: SlotIndex, key: &str, base: u64, seen: u64) -> (Counter, Row) {
        let (store, ledger) = (Incarnation::new("s"), Incarnation::new("l"));
        let row =
            Row { life: Life::from_stored(9), store, ledger, base, ceiling: 9000, seen, opened_at_ms: 0 };
        (Counter { slot, key: Key::from_stored(key) }, row)
    }

    #[test]
    fn who_began_above_the_others_rests_until_they_come_up() {
        let rows = [
            row(0, "order", 0, 120),
            row(1, "order", 900, 900),
            row(2, "order", 0, 117),
            // It gave a few before anybody knew how far ahead it is.
            row(3, "order", 800, 803),
            // Nobody has given anything.
            row(0, "fresh", 0, 0),
            row(1, "fresh", 0, 0),
            // It has nobody to wait for.
            row(2, "alone", 500, 500),
        ];
        let rest = |slot, raw_ids| (slot, RestReport { key: "order".to_owned(), raw_ids });
        assert_eq!(resting(&rows), [rest(1, 783), rest(3, 686)]);
        let level = [row(0, "order", 0, 950), row(1, "order", 900, 940), row(2, "order", 800, 951)];
        assert_eq!(resting(&level), [], "they have come up to it");
    }
}
