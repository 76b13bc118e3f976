//! What a call writes.

use std::collections::{BTreeMap, BTreeSet};

use sequent_core::{
    InstanceId, Key, SlotIndex,
    ledger::{Counter, Definition, LayoutPage, NoteSubject, PastEpoch, ServerId, Word},
};

use super::records::Token;

/// What a call writes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    /// A server's row.
    pub(crate) nonce: Option<(ServerId, u64)>,
    /// Of many servers' rows, those go that have been silent since before this time.
    pub(crate) servers_silent_since_ms: Option<u64>,
    /// The token to speak by.
    pub(crate) token: Option<Token>,
    /// The run on record.
    pub(crate) accepted: Option<InstanceId>,
    /// A store on record.
    pub(crate) store: Option<(SlotIndex, InstanceId)>,
    /// No store is on record any more.
    pub(crate) forgets_stores: bool,
    /// The layout's page.
    pub(crate) layout: Option<LayoutPage>,
    /// The caller shows that it may delete rows: a resize would find out too late that it may not.
    pub(crate) tries_deleting: bool,
    /// The ceiling of counters without a row.
    pub(crate) floor: Option<u64>,
    /// The version.
    pub(crate) version: Option<u64>,
    /// The catalog's version.
    pub(crate) catalog: Option<u64>,
    /// Every ceiling, every `seen`, every dense counter and the floor are this much higher.
    pub(crate) lost: u64,
    /// Counters whose rows are as the records have them: moved by the version that is written, or gone.
    pub(crate) rows: BTreeSet<Counter>,
    /// Rows of which ceiling and `seen` alone have moved.
    pub(crate) raised: BTreeSet<Counter>,
    /// Epochs that have ended, in this order.
    pub(crate) ended: Vec<(Counter, PastEpoch)>,
    /// Counters of which nothing is kept: no row, no history, no note.
    pub(crate) expired: Vec<Counter>,
    /// Dense counters that are as the records have them.
    pub(crate) dense: BTreeSet<Key>,
    /// Those of them that had no row.
    pub(crate) begun_dense: BTreeSet<Key>,
    /// Dense counters of which nothing is kept.
    pub(crate) expired_dense: Vec<Key>,
    /// Notes.
    pub(crate) notes: BTreeMap<NoteSubject, u64>,
    /// A definition.
    pub(crate) definition: Option<Definition>,
    /// An operator's command.
    pub(crate) command: Option<Word>,
}

impl Changes {
    /// The notes of counters of which nothing is kept.
    pub(crate) fn expired_notes(&self) -> impl Iterator<Item = NoteSubject> {
        let expired = self.expired.iter().map(|counter| &counter.key);
        expired.chain(&self.expired_dense).map(|key| NoteSubject::Advanced(key.clone()))
    }
}
