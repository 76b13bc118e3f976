//! Records: what a ledger call reads, and the rules' changes to it.

use std::collections::{BTreeMap, BTreeSet};

use sequent_core::{
    InstanceId, Key, SequenceName, SlotIndex,
    ledger::{
        Counter, Definition, LayoutPage, LedgerNote, Moved, NoteSubject, PastEpoch, Row, ServerId,
        SlotCommand,
    },
};

use super::Changes;
use crate::net::TxMode;

/// The records that a call needs. Instance, versions, floor, instance on record and layout are always among them.
#[derive(Debug, Clone, Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is a table that is read or not")]
pub(crate) struct Selection<'a> {
    /// The row of the calling server.
    pub(crate) server: Option<ServerId>,
    /// Rows of counters.
    pub(crate) counters: BTreeSet<&'a Counter>,
    /// Dense counters.
    pub(crate) dense: BTreeSet<&'a Key>,
    /// The notes on these subjects.
    pub(crate) notes: BTreeSet<NoteSubject>,
    /// Every note.
    pub(crate) all_notes: bool,
    /// The definition in force of a sequence.
    pub(crate) definition: Option<&'a SequenceName>,
    /// Every definition in force.
    pub(crate) all_definitions: bool,
    /// The stores' instances on record.
    pub(crate) stores: bool,
    /// The operators' slot commands.
    pub(crate) commands: bool,
    /// Whether a new token is needed.
    pub(crate) token: bool,
    /// Records to list. Only a view lists any.
    pub(crate) scan: Option<Scan<'a>>,
}

impl Selection<'_> {
    /// Transaction mode of a view. Some records must be read as of one moment: rows and their changes belong to the
    /// instance, definitions to the catalog's version, stores to the instance on record.
    pub(crate) fn mode(&self) -> TxMode {
        let lists_changes = matches!(self.scan, Some(Scan::Moved { .. }));
        let is_of_one_moment =
            !self.counters.is_empty() || self.all_definitions || self.stores || lists_changes;
        if is_of_one_moment { TxMode::Read } else { TxMode::Single }
    }
}

/// Records listed in order.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Scan<'a> {
    /// The first rows of one slot or of all, by slot and key.
    Rows {
        /// The slot, if keys between two are listed; `None`: all slots.
        slot: Option<SlotIndex>,
        /// The keys.
        keys: Keys<'a>,
        /// The most rows.
        most: usize,
    },
    /// The first dense counters, by key.
    Dense {
        /// The keys.
        keys: Keys<'a>,
        /// The most counters.
        most: usize,
    },
    /// The ended epochs of a counter, oldest first.
    History(&'a Counter),
    /// The rows changed after a version, ascending by version.
    Moved {
        /// The version.
        since: u64,
        /// The most rows.
        most: usize,
    },
}

impl<'a> From<Scan<'a>> for Selection<'a> {
    fn from(scan: Scan<'a>) -> Self {
        Self { scan: Some(scan), ..Self::default() }
    }
}

/// The keys of a scan.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Keys<'a> {
    /// All of them.
    All,
    /// This text, and keys that begin with it and `|`: all keys of a sequence name. The range ends before `}`, the
    /// character after `|`.
    Of(&'a str),
    /// Keys from the first, inclusive, to the second, exclusive.
    Between(&'a str, &'a str),
}

/// The records of a [`Selection`] as a transaction read them, and the changes of the call.
#[derive(Debug, Clone)]
pub(crate) struct Records {
    /// The ledger's wall clock, in milliseconds since 1970.
    pub(crate) clock_ms: u64,
    /// The ledger's instance.
    pub(crate) instance: InstanceId,
    /// The version as read.
    pub(crate) version: u64,
    /// The catalog's version as read.
    pub(crate) catalog: u64,
    /// The ceiling of counters without a row.
    pub(crate) floor: u64,
    /// The ledger's instance on record.
    pub(crate) accepted: Option<InstanceId>,
    /// The page of the layout.
    pub(crate) layout: Option<LayoutPage>,
    /// The nonce in the server's row.
    pub(crate) nonce: Option<u64>,
    /// The rows found, and those listed.
    pub(crate) rows: BTreeMap<Counter, Row>,
    /// The dense counters found, and those listed.
    pub(crate) dense: BTreeMap<Key, DenseCount>,
    /// Dense counters whose rows another client has locked.
    pub(crate) locked_dense: BTreeSet<Key>,
    /// The notes found.
    pub(crate) notes: BTreeMap<NoteSubject, u64>,
    /// The definitions in force that were read, ascending by name.
    pub(crate) definitions: Vec<Definition>,
    /// The stores' instances on record, ascending by slot.
    pub(crate) stores: Vec<(SlotIndex, InstanceId)>,
    /// The slot commands, ascending by slot.
    pub(crate) commands: Vec<SlotCommand>,
    /// The ended epochs listed.
    pub(crate) history: Vec<PastEpoch>,
    /// The changed rows listed.
    pub(crate) moved: Vec<Moved>,
    /// The new token.
    pub(crate) token: Option<Token>,
    /// The changes to write.
    pub(crate) changes: Changes,
}

/// The row of a dense counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DenseCount {
    /// The highest number given.
    pub(crate) value: u64,
    /// The time of the first number, in milliseconds since 1970.
    pub(crate) begun_at_ms: u64,
}

/// A token, from which the ledger's instance id is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    /// The token as stored.
    pub(crate) text: String,
    /// The instance id that it gives.
    pub(crate) instance: InstanceId,
}

impl Records {
    /// The records that every transaction reads.
    pub(crate) fn of(instance: InstanceId, clock_ms: u64) -> Self {
        Self {
            clock_ms,
            instance,
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
            definitions: Vec::new(),
            stores: Vec::new(),
            commands: Vec::new(),
            history: Vec::new(),
            moved: Vec::new(),
            token: None,
            changes: Changes::default(),
        }
    }

    /// The version after the changes.
    pub(crate) fn next_version(&self) -> u64 {
        self.changes.version.unwrap_or(self.version)
    }

    /// Raises the version by one, however often a call does so.
    pub(crate) fn raise_version(&mut self) {
        self.changes.version = Some(self.version.saturating_add(1));
    }

    /// Begins an epoch: replaces a counter's row. The epoch before goes into the history if ids were given in it.
    pub(crate) fn begin(&mut self, counter: &Counter, row: Row) {
        let old = self.rows.insert(counter.clone(), row);
        self.changes.ended.extend(old.and_then(|old| Some((counter.clone(), old.ended()?))));
        self.changes.rows.insert(counter.clone());
        self.raise_version();
    }

    /// Removes a counter's row. Its epoch goes into the history.
    pub(crate) fn end(&mut self, counter: &Counter) {
        if let Some(Row { epoch, base, ceiling, .. }) = self.rows.remove(counter) {
            self.changes.ended.push((counter.clone(), PastEpoch { epoch, base, ceiling }));
            self.changes.rows.insert(counter.clone());
        }
    }

    /// Sets ceiling and `seen` of a counter's row.
    pub(crate) fn raise(&mut self, counter: &Counter, ceiling: u64, seen: u64) {
        let Some(row) = self.rows.get_mut(counter) else { return };
        if (row.ceiling, row.seen) != (ceiling, seen) {
            (row.ceiling, row.seen) = (ceiling, seen);
            self.changes.rows.insert(counter.clone());
            self.raise_version();
        }
    }

    /// Raises a note to at least `to` and returns it. If it changed, the catalog's version goes up.
    pub(crate) fn note(&mut self, LedgerNote { about, to }: &LedgerNote) -> u64 {
        let held = self.notes.entry(about.clone()).or_default();
        if *to > *held {
            *held = *to;
            self.changes.notes.insert(about.clone(), *to);
            self.raise_catalog();
        }
        self.noted(about)
    }

    /// The note on a subject that was read; 0 if there is none.
    pub(crate) fn noted(&self, about: &NoteSubject) -> u64 {
        self.notes.get(about).copied().unwrap_or_default()
    }

    /// Raises the catalog's version by one.
    pub(crate) fn raise_catalog(&mut self) {
        self.changes.catalog = Some(self.catalog.saturating_add(1));
    }
}

/// A sum, bounded by a counter's range.
pub(crate) fn bounded_sum(value: u64, more: u64) -> u64 {
    value.saturating_add(more).min(sequent_core::Block::NUMBER_MAX)
}
