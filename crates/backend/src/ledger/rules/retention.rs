//! Rules of retention: counters of past periods are deleted behind a fence.

use sequent_core::{
    Key, SourceError,
    ledger::{Counter, LedgerNote},
};

use crate::{ledger::Records, net::refused};

/// What one part of a call deletes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Expired<'a> {
    /// Counters, with their history and notes.
    Counters(&'a [Counter]),
    /// Dense counters, with their notes.
    Dense(&'a [Key]),
}

/// Deletes counters if the fence is present.
pub(crate) fn delete(
    records: &mut Records,
    fence: &LedgerNote,
    expired: Expired<'_>,
) -> Result<(), SourceError> {
    if records.notes.get(&fence.about).is_none_or(|held| *held < fence.to) {
        return Err(refused("the ledger went back while it deleted counters: their fence is gone"));
    }
    let any = match expired {
        Expired::Counters(counters) => {
            records.changes.expired.extend_from_slice(counters);
            !records.rows.is_empty()
        }
        Expired::Dense(keys) => {
            records.changes.expired_dense.extend_from_slice(keys);
            !(records.dense.is_empty() && records.locked_dense.is_empty())
        }
    };
    if any {
        records.raise_version();
    }
    Ok(())
}
