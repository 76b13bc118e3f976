//! Changes: what a ledger call writes.

use std::collections::{BTreeMap, BTreeSet};

use sequent_core::{
    InstanceId, Key, SlotIndex,
    ledger::{Counter, Definition, LayoutPage, NoteSubject, PastEpoch, ServerId, SlotCommand},
};

use super::records::Token;

/// The writes of a ledger call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    /// A server's row: its id and its next nonce.
    pub(crate) nonce: Option<(ServerId, u64)>,
    /// If there are many servers, rows silent since before this time are removed.
    pub(crate) servers_silent_since_ms: Option<u64>,
    /// The new token of the ledger.
    pub(crate) token: Option<Token>,
    /// The ledger's instance on record.
    pub(crate) accepted: Option<InstanceId>,
    /// A store's instance on record.
    pub(crate) store: Option<(SlotIndex, InstanceId)>,
    /// Whether all stores' instances on record are removed.
    pub(crate) forgets_stores: bool,
    /// The page of the layout.
    pub(crate) layout: Option<LayoutPage>,
    /// Whether the transaction must prove the privilege to delete rows. A resize would otherwise fail after the ring is
    /// fenced.
    pub(crate) tries_deleting: bool,
    /// The ceiling of counters without a row.
    pub(crate) floor: Option<u64>,
    /// The version.
    pub(crate) version: Option<u64>,
    /// The catalog's version.
    pub(crate) catalog: Option<u64>,
    /// Added to every ceiling, every `seen`, every dense counter and the floor.
    pub(crate) lost: u64,
    /// Counters whose row is written as in the records, with the version of this call, or deleted.
    pub(crate) rows: BTreeSet<Counter>,
    /// Ended epochs, in this order.
    pub(crate) ended: Vec<(Counter, PastEpoch)>,
    /// Counters to delete, with their history and note.
    pub(crate) expired: Vec<Counter>,
    /// Dense counters whose row is written as in the records.
    pub(crate) dense: BTreeSet<Key>,
    /// Those of `dense` that had no row.
    pub(crate) begun_dense: BTreeSet<Key>,
    /// Dense counters to delete.
    pub(crate) expired_dense: Vec<Key>,
    /// Notes.
    pub(crate) notes: BTreeMap<NoteSubject, u64>,
    /// A definition.
    pub(crate) definition: Option<Definition>,
    /// An operator's command.
    pub(crate) command: Option<SlotCommand>,
}

impl Changes {
    /// The notes of deleted counters.
    pub(crate) fn expired_notes(&self) -> impl Iterator<Item = NoteSubject> {
        let expired = self.expired.iter().map(|counter| &counter.key);
        expired.chain(&self.expired_dense).map(|key| NoteSubject::Advanced(key.clone()))
    }
}
