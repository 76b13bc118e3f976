//! Scan of all rows of a ledger, page by page. With very many rows, a ledger does not answer a single call within its time
//! limit.

use std::time::Duration;

use sequent_core::{
    SlotIndex, SourceError,
    ledger::{Counter, Ledger, Row},
};

use crate::timeouts::patiently;

/// Rows read per call.
const PAGE: usize = 2048;

/// Text that sorts after every key.
const BEHIND_ALL: &str = "\u{10ffff}";

/// The rows of all counters, at most `most`, each call within `limit`. `slots` is the number of slots of the widest layout with
/// rows.
///
/// If others write to the ledger meanwhile, some rows may be out of date.
///
/// # Errors
///
/// Those of the ledger.
pub async fn all_rows(
    ledger: &dyn Ledger,
    slots: SlotIndex,
    most: usize,
    limit: Duration,
) -> Result<Vec<(Counter, Row)>, SourceError> {
    let first = patiently(limit, "read of the rows", || ledger.list(None, PAGE.min(most))).await?;
    if first.len() < PAGE.min(most) {
        return Ok(first);
    }
    let under = patiently(limit, "inspect", || ledger.inspect()).await?.instance;
    let mut rows = Vec::new();
    for slot in 0..slots {
        let mut from = String::new();
        loop {
            let page = || ledger.keys_between(slot, &from, BEHIND_ALL, PAGE);
            let mut keys = patiently(limit, "list of keys", page).await?;
            let is_last = keys.len() < PAGE;
            // A page begins with the last key of the page before.
            keys.retain(|key| key.as_str() != from);
            let counters: Vec<Counter> = keys.into_iter().map(|key| Counter { slot, key }).collect();
            let Some(last) = counters.last() else { break };
            last.key.as_str().clone_into(&mut from);
            let reading = patiently(limit, "read of the rows", || ledger.read(&under, &counters)).await?;
            let held = counters.into_iter().zip(reading.rows);
            rows.extend(held.filter_map(|(counter, row)| Some((counter, row?))));
            if rows.len() >= most {
                rows.truncate(most);
                return Ok(rows);
            }
            if is_last {
                break;
            }
        }
    }
    Ok(rows)
}
