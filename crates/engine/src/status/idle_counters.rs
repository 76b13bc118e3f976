//! Counters that are not used for a while. If a slot's counter is far above those of the key's other slots, then the
//! ring uses the others until they have come up to it.

use std::collections::BTreeMap;

use sequent_core::{
    Key, SlotIndex,
    ledger::{Counter, Row, SlotVerb},
};
use sequent_guard::CounterStatus;

use crate::{
    open::bootstrap::ClusterHandle,
    status::report::{COUNTERS_SHOWN_MAX, RESTING_SHOWN_MAX, RestReport, ShardReport},
};

/// Largest normal distance of slots that take turns, in raw ids. The limit is higher if a fraction of their ceilings'
/// lead is more. The distance comes from refills in progress, and from takes that other servers have not reported yet.
pub const APART_MAX: u64 = 1 << 12;

/// That fraction. A ceiling leads by about twenty minutes of consumption, and each server reports every two seconds.
const AHEAD_PARTS: u64 = 200;

impl ClusterHandle {
    /// Adds to each slot's report its resting counters, the longest first, as far as the ledger's rows can be read.
    /// Slots that are not `asked` delay no other counter.
    pub(crate) async fn note_resting(&self, reports: &mut [ShardReport], asked: impl Fn(SlotIndex) -> bool) {
        let list = self.ledger.list(None, COUNTERS_SHOWN_MAX);
        let mut rows = self.within("read the rows", list).await.unwrap_or_default();
        rows.retain(|(counter, _)| {
            let report = reports.iter().find(|report| report.slot == counter.slot);
            asked(counter.slot) && report.is_some_and(|report| serves(report, &counter.key))
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

/// Whether a slot can serve a key, and no slot command prevents that.
fn serves(report: &ShardReport, key: &Key) -> bool {
    let rescued = report.word.as_ref().is_none_or(|word| word.verb == SlotVerb::Rescue.as_str());
    let quarantined = || report.quarantined.iter().any(|counter| counter.key == key.as_str());
    report.cause.is_none() && rescued && !quarantined()
}

/// The position of a counter, to compare with those of its key in other slots.
#[derive(Clone, Copy)]
struct Stand<'a> {
    counter: &'a Counter,
    /// The raw id that its epoch began above; 0 if that is not known.
    base: u64,
    reached: u64,
    /// The lead of its ceiling over `reached`, or the lead that it should have.
    ahead: u64,
}

impl<'a> Stand<'a> {
    fn of((counter, row): &'a (Counter, Row)) -> Self {
        let reached = row.reached();
        Self { counter, base: row.base, reached, ahead: row.ceiling.saturating_sub(reached) }
    }

    fn known(CounterStatus { counter, seen, ahead, .. }: &'a CounterStatus) -> Self {
        Self { counter, base: 0, reached: *seen, ahead: *ahead }
    }

    /// The number of raw ids above `lowest`, if that is too far for the counter to be used.
    fn rests(&self, lowest: &Stand<'_>) -> Option<u64> {
        let apart = APART_MAX.max(lowest.ahead / AHEAD_PARTS);
        let is_far = self.base > lowest.reached || self.reached > lowest.reached.saturating_add(apart);
        is_far.then(|| self.reached - lowest.reached)
    }
}

/// The counters that began their epochs above what another slot's counter of the key has reached by now, or that are
/// far above it.
fn far_above<'a>(stands: &[Stand<'a>]) -> Vec<(&'a Counter, u64)> {
    let mut lowest: BTreeMap<&Key, Stand<'_>> = BTreeMap::new();
    for stand in stands {
        let least = lowest.entry(&stand.counter.key).or_insert(*stand);
        if stand.reached < least.reached {
            *least = *stand;
        }
    }
    let rest = |stand: &Stand<'a>| {
        Some((stand.counter, lowest.get(&stand.counter.key).and_then(|least| stand.rests(least))?))
    };
    stands.iter().filter_map(rest).collect()
}

fn resting(rows: &[(Counter, Row)]) -> Vec<(SlotIndex, RestReport)> {
    let stands: Vec<Stand<'_>> = rows.iter().map(Stand::of).collect();
    let report = |(counter, raw_ids): (&Counter, u64)| {
        (counter.slot, RestReport { key: counter.key.to_string(), raw_ids })
    };
    far_above(&stands).into_iter().map(report).collect()
}

/// How many counters of each slot rest, as far as this process knows, among those `asked`. The ledger is not read.
pub(crate) fn resting_by_slot(
    counters: &[CounterStatus],
    asked: impl Fn(SlotIndex) -> bool,
) -> BTreeMap<SlotIndex, u64> {
    let known = counters.iter().filter(|status| status.grant.is_some() && asked(status.counter.slot));
    let stands: Vec<Stand<'_>> = known.map(Stand::known).collect();
    let mut counts = BTreeMap::new();
    for (counter, _) in far_above(&stands) {
        *counts.entry(counter.slot).or_default() += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use sequent_core::{Epoch, InstanceId};

    use super::*;

    fn row(slot: SlotIndex, key: &str, base: u64, seen: u64) -> (Counter, Row) {
        let (store, ledger) = (InstanceId::new("s"), InstanceId::new("l"));
        let row =
            Row { epoch: Epoch::from_stored(9), store, ledger, base, ceiling: 9000, seen, opened_at_ms: 0 };
        (Counter { slot, key: Key::from_stored(key) }, row)
    }

    #[test]
    fn who_began_above_the_others_rests_until_they_come_up() {
        let rows = [
            row(0, "order", 0, 120),
            row(1, "order", 900, 900),
            row(2, "order", 0, 117),
            // It issued a few before the ring knew how far ahead it is.
            row(3, "order", 800, 803),
            // None of them has issued anything.
            row(0, "fresh", 0, 0),
            row(1, "fresh", 0, 0),
            // The key has no other slot to wait for.
            row(2, "alone", 500, 500),
        ];
        let rest = |slot, raw_ids| (slot, RestReport { key: "order".to_owned(), raw_ids });
        assert_eq!(resting(&rows), [rest(1, 783), rest(3, 686)]);
        let level = [row(0, "order", 0, 950), row(1, "order", 900, 940), row(2, "order", 800, 951)];
        assert_eq!(resting(&level), [], "they have come up to it");
    }

    #[test]
    fn who_was_lifted_above_the_others_rests_however_its_epoch_began() {
        let far = |seen| [row(0, "order", 0, 58_700), row(1, "order", 0, 58_900), row(2, "order", 0, seen)];
        let rest = |raw_ids| (2, RestReport { key: "order".to_owned(), raw_ids });
        assert_eq!(resting(&far(168_846)), [rest(110_146)]);
        assert_eq!(resting(&far(58_700 + APART_MAX)), [], "as far apart as slots that take turns");
        assert_eq!(resting(&far(58_701 + APART_MAX)), [rest(APART_MAX + 1)]);
        // If many are taken each second, slots that take turns are further apart.
        let busy = far(168_846).map(|(counter, row)| (counter, Row { ceiling: 40_000_000, ..row }));
        assert_eq!(resting(&busy), []);
    }

    #[test]
    fn what_a_process_knows_is_enough_for_a_count_of_each_slot() {
        let of = |slot, seen| CounterStatus {
            counter: Counter { slot, key: Key::from_stored("order") },
            grant: Some((Epoch::from_stored(9), 9_000_000)),
            seen,
            ahead: 0,
        };
        let held = [of(0, 90_000), of(1, 58_700), of(2, 168_846), of(3, 7)];
        assert_eq!(resting_by_slot(&held, |slot| slot != 3), BTreeMap::from([(0, 1), (2, 1)]));
        assert_eq!(resting_by_slot(&held, |_| true).len(), 3, "all wait for the last");
    }
}
