//! The ledger's logic as a pure state machine: each file is one of `sequent_core::ledger`'s books.

mod catalog;
mod dense;
mod identity;
mod layout;
mod recovery;
mod retention;
mod rows;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use sequent_core::{
    Block, Incarnation, Key, LedgerId, Rules, SequenceName, SlotIndex,
    ledger::{Counter, Definition, Known, LayoutPage, PastLife, Row, ServerId, Word},
};

/// Everything a ledger holds. Pure: a copy of it is a backup, and time comes in as an argument.
///
/// The incarnation is a field and no secret: who puts a copy back decides as whom it speaks ([`Book::speak_as`]).
#[derive(Debug, Clone)]
pub struct Book {
    rules: Rules,
    id: LedgerId,
    incarnation: Incarnation,
    version: u64,
    /// What an operator named as lost: a counter without a row may have been given so far.
    floor: u64,
    servers: BTreeMap<ServerId, Seat>,
    known: Known,
    layout: Option<LayoutPage>,
    rows: BTreeMap<Counter, Row>,
    /// The version of the call that moved each row last, and the rows by it.
    moved: BTreeMap<Counter, u64>,
    moves: BTreeSet<(u64, Counter)>,
    history: BTreeMap<Counter, Vec<PastLife>>,
    catalog_version: u64,
    definitions: BTreeMap<SequenceName, Definition>,
    /// How far operators have advanced keys.
    advanced: BTreeMap<Key, u64>,
    words: BTreeMap<SlotIndex, Word>,
    /// What each dense counter has given, and when it began.
    dense: BTreeMap<Key, (u64, u64)>,
}

/// A server's row: the nonce it left, and when.
#[derive(Debug, Clone, Copy)]
struct Seat {
    nonce: u64,
    seen_ms: u64,
}

impl Book {
    /// An empty ledger.
    pub fn new(id: LedgerId, incarnation: Incarnation, rules: Rules) -> Self {
        Self {
            rules,
            id,
            incarnation,
            version: 0,
            floor: 0,
            servers: BTreeMap::new(),
            known: Known::default(),
            layout: None,
            rows: BTreeMap::new(),
            moved: BTreeMap::new(),
            moves: BTreeSet::new(),
            history: BTreeMap::new(),
            catalog_version: 0,
            definitions: BTreeMap::new(),
            advanced: BTreeMap::new(),
            words: BTreeMap::new(),
            dense: BTreeMap::new(),
        }
    }

    /// The identity it was made with.
    pub const fn id(&self) -> LedgerId {
        self.id
    }

    /// As whom it speaks.
    pub const fn incarnation(&self) -> &Incarnation {
        &self.incarnation
    }

    /// Makes it speak as somebody else.
    pub fn speak_as(&mut self, incarnation: Incarnation) {
        self.incarnation = incarnation;
    }

    /// One more with each call that opened, or that moved a ceiling or a `seen`.
    pub const fn version(&self) -> u64 {
        self.version
    }
}

/// A sum that stays within what a ledger can hold.
fn capped(value: u64, more: u64) -> u64 {
    value.saturating_add(more).min(Block::NUMBER_MAX)
}
