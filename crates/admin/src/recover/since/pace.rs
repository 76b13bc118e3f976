//! How fast each counter went before a copy was made, as far as the copy has it on record.

use std::time::Duration;

use sequent_core::{
    Key, SlotIndex,
    ledger::{Counter, DenseRow, Row},
};
use serde::Serialize;

/// How fast a counter went before a copy was made.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pace {
    /// The key.
    pub key: String,
    /// The slot; absent for a dense counter.
    pub slot: Option<SlotIndex>,
    /// How far it rose in its epoch, as far as the ledger knows; a recovery's loss may be in it …
    pub taken: u64,
    /// … in so many seconds.
    pub over_s: u64,
    /// Raw ids, or dense numbers, a second: the mean of its epoch, or at the latest raise of its ceiling where that was more.
    pub per_s: f64,
    /// That mean alone.
    pub mean_per_s: f64,
}

/// Those of all counters of which something was taken.
pub(super) fn all(rows: &[(Counter, Row)], dense: &[DenseRow], since_ms: u64, ahead: Duration) -> Vec<Pace> {
    let spread = rows.iter().filter_map(|(counter, row)| Pace::of_row(counter, row, since_ms, ahead));
    spread.chain(dense.iter().filter_map(|row| Pace::of_dense(row, since_ms))).collect()
}

impl Pace {
    /// Of a counter in a slot. Its ceiling was raised for what it took just then, which may be faster than the mean.
    #[allow(clippy::cast_precision_loss, reason = "an estimate, with a margin of several times")]
    fn of_row(Counter { slot, key }: &Counter, row: &Row, since_ms: u64, ahead: Duration) -> Option<Self> {
        let taken_to = row.seen.max(row.base);
        let above = row.ceiling.saturating_sub(taken_to) as f64 / ahead.as_secs_f64().max(1.0);
        let lasted_ms = since_ms.saturating_sub(row.opened_at_ms);
        let mean = Self::mean(key, Some(*slot), taken_to - row.base, lasted_ms)?;
        Some(Self { per_s: mean.per_s.max(above), ..mean })
    }

    fn of_dense(row: &DenseRow, since_ms: u64) -> Option<Self> {
        Self::mean(&row.key, None, row.value, since_ms.saturating_sub(row.begun_at_ms))
    }

    #[allow(clippy::cast_precision_loss, reason = "an estimate, with a margin of several times")]
    fn mean(key: &Key, slot: Option<SlotIndex>, taken: u64, lasted_ms: u64) -> Option<Self> {
        // A second at least: what is taken at once when an epoch begins is no rate of hours.
        let over_s = lasted_ms.div_ceil(1000).max(1);
        let mean_per_s = taken as f64 / over_s as f64;
        let pace = || Self { key: key.to_string(), slot, taken, over_s, per_s: mean_per_s, mean_per_s };
        (taken > 0).then(pace)
    }

    /// For people.
    pub(super) fn line(&self) -> String {
        let Self { key, slot, taken, over_s, per_s, mean_per_s } = self;
        let place = slot.map_or_else(|| "dense".to_owned(), |slot| format!("slot {slot}"));
        let raised = if per_s > mean_per_s {
            format!(", and its ceiling was raised ahead for {per_s:.3} a second")
        } else {
            String::new()
        };
        format!(
            "the fastest is {key} ({place}), which rose by {taken} in {over_s} s: a mean of {mean_per_s:.3} a second{raised}"
        )
    }
}
