//! What a call reads, and what it makes of it.

use std::collections::{BTreeMap, BTreeSet};

use sequent_core::{
    InstanceId, Key, SequenceName, SlotIndex,
    ledger::{Counter, Definition, LayoutPage, LedgerNote, NoteSubject, PastEpoch, Row, ServerId, Word},
};

use super::Changes;

/// The records that a call rests on. Who speaks, versions, floor, run on record and layout are always among them.
#[derive(Debug, Clone, Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is a table that is read or not")]
pub(crate) struct Selection<'a> {
    /// The row of the server that calls.
    pub(crate) server: Option<ServerId>,
    /// Rows of counters, ascending, once each.
    pub(crate) counters: BTreeSet<&'a Counter>,
    /// Dense counters.
    pub(crate) dense: BTreeSet<&'a Key>,
    /// What is noted about these.
    pub(crate) notes: BTreeSet<NoteSubject>,
    /// Every note.
    pub(crate) all_notes: bool,
    /// The definition in force of a sequence.
    pub(crate) definition: Option<&'a SequenceName>,
    /// Every definition in force.
    pub(crate) all_definitions: bool,
    /// The stores on record.
    pub(crate) stores: bool,
    /// The operators' commands.
    pub(crate) commands: bool,
    /// A token that nobody has had, to speak by.
    pub(crate) token: bool,
}

/// The records of a [`Selection`] as a transaction has found them, and what the call makes of them.
#[derive(Debug, Clone)]
pub(crate) struct Records {
    /// The ledger's wall clock, in milliseconds since 1970.
    pub(crate) clock_ms: u64,
    /// Who speaks.
    pub(crate) speaks: InstanceId,
    /// The version as it was read.
    pub(crate) version: u64,
    /// The catalog's version as it was read.
    pub(crate) catalog: u64,
    /// The ceiling of counters without a row.
    pub(crate) floor: u64,
    /// The run on record.
    pub(crate) accepted: Option<InstanceId>,
    /// The layout's page.
    pub(crate) layout: Option<LayoutPage>,
    /// The nonce in the server's row.
    pub(crate) nonce: Option<u64>,
    /// The rows that there are.
    pub(crate) rows: BTreeMap<Counter, Row>,
    /// The dense counters that there are.
    pub(crate) dense: BTreeMap<Key, DenseCount>,
    /// Dense counters whose rows somebody else holds.
    pub(crate) locked_dense: BTreeSet<Key>,
    /// The notes that there are.
    pub(crate) notes: BTreeMap<NoteSubject, u64>,
    /// The definition in force.
    pub(crate) definition: Option<Definition>,
    /// Every definition in force, ascending by name.
    pub(crate) definitions: Vec<Definition>,
    /// The stores on record, ascending by slot.
    pub(crate) stores: Vec<(SlotIndex, InstanceId)>,
    /// The operators' commands, ascending by slot.
    pub(crate) commands: Vec<Word>,
    /// The token asked for.
    pub(crate) token: Option<Token>,
    /// What is to be written.
    pub(crate) changes: Changes,
}

/// A dense counter as it is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DenseCount {
    /// What it has given.
    pub(crate) value: u64,
    /// When it gave its first, in milliseconds since 1970.
    pub(crate) begun_at_ms: u64,
}

/// What a ledger may speak by from now on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    /// As it is kept.
    pub(crate) text: String,
    /// Who speaks by it.
    pub(crate) speaks: InstanceId,
}

impl Records {
    /// The records that every transaction reads.
    pub(crate) fn of(speaks: InstanceId, clock_ms: u64) -> Self {
        Self {
            clock_ms,
            speaks,
            version: 0,
            catalog: 0,
            floor: 0,
            accepted: None,
            layout: None,
            nonce: None,
            rows: BTreeMap::new(),
            dense: BTreeMap::new(),
            locked_dense: BTreeSet::new(),
            notes: BTreeMap::new(),
            definition: None,
            definitions: Vec::new(),
            stores: Vec::new(),
            commands: Vec::new(),
            token: None,
            changes: Changes::default(),
        }
    }

    /// The version once the changes are written.
    pub(crate) fn next_version(&self) -> u64 {
        self.changes.version.unwrap_or(self.version)
    }

    /// The version is one more, however often a call says so.
    pub(crate) fn raise_version(&mut self) {
        self.changes.version = Some(self.version.saturating_add(1));
    }

    /// A counter's row is this one from now on; the epoch before goes into the history if anything was given in it.
    pub(crate) fn begin(&mut self, counter: &Counter, row: Row) {
        let old = self.rows.insert(counter.clone(), row);
        self.changes.ended.extend(old.and_then(|old| Some((counter.clone(), old.ended()?))));
        self.changes.rows.insert(counter.clone());
        self.raise_version();
    }

    /// A counter has no row any more; its epoch goes into the history.
    pub(crate) fn end(&mut self, counter: &Counter) {
        if let Some(Row { epoch, base, ceiling, .. }) = self.rows.remove(counter) {
            self.changes.ended.push((counter.clone(), PastEpoch { epoch, base, ceiling }));
            self.changes.rows.insert(counter.clone());
        }
    }

    /// A counter's row holds these from now on.
    pub(crate) fn raise(&mut self, counter: &Counter, ceiling: u64, seen: u64) {
        let Some(row) = self.rows.get_mut(counter) else { return };
        if (row.ceiling, row.seen) != (ceiling, seen) {
            (row.ceiling, row.seen) = (ceiling, seen);
            self.changes.raised.insert(counter.clone());
            self.raise_version();
        }
    }

    /// A note is at least this from now on; returns what it is. The catalog's version tells of it where it moved.
    pub(crate) fn note(&mut self, LedgerNote { about, to }: &LedgerNote) -> u64 {
        let held = self.notes.entry(about.clone()).or_default();
        if *to > *held {
            *held = *to;
            self.changes.notes.insert(about.clone(), *to);
            self.raise_catalog();
        }
        self.noted(about)
    }

    /// What is noted about a subject that was read; 0 where there is nothing.
    pub(crate) fn noted(&self, about: &NoteSubject) -> u64 {
        self.notes.get(about).copied().unwrap_or_default()
    }

    /// The catalog's version is one more.
    pub(crate) fn raise_catalog(&mut self) {
        self.changes.catalog = Some(self.catalog.saturating_add(1));
    }
}

/// A sum that stays within what a counter can hold.
#[cfg(any(feature = "etcd", feature = "memory"))]
pub(crate) fn bounded_sum(value: u64, more: u64) -> u64 {
    value.saturating_add(more).min(sequent_core::Block::NUMBER_MAX)
}
