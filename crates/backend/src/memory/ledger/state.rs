//! Data of a memory ledger, as maps. A clone is a backup.

use std::collections::{BTreeMap, BTreeSet};

use sequent_core::{
    InstanceId, Key, LedgerId, SequenceName, SlotIndex,
    ledger::{
        Counter, Definition, DenseRow, LayoutPage, Moved, NoteSubject, PastEpoch, Row, ServerId, SlotCommand,
    },
};

use crate::ledger::{Changes, DenseCount, Keys, Records, Scan, Selection, bounded_sum};

/// All data of a ledger. Time is an argument of its calls.
///
/// The instance is an ordinary field: a test that restores a copy chooses the instance.
#[derive(Debug, Clone)]
pub struct LedgerState {
    /// The identity that it was created with.
    pub(super) id: LedgerId,
    pub(super) instance: InstanceId,
    version: u64,
    catalog: u64,
    floor: u64,
    accepted: Option<InstanceId>,
    layout: Option<LayoutPage>,
    /// Each server's nonce, and when it was written.
    servers: BTreeMap<ServerId, (u64, u64)>,
    stores: BTreeMap<SlotIndex, InstanceId>,
    rows: BTreeMap<Counter, Row>,
    /// The version that last changed each row, and the rows ordered by it.
    moved: BTreeMap<Counter, u64>,
    moves: BTreeSet<(u64, Counter)>,
    history: BTreeMap<Counter, Vec<PastEpoch>>,
    definitions: BTreeMap<SequenceName, Definition>,
    notes: BTreeMap<NoteSubject, u64>,
    commands: BTreeMap<SlotIndex, SlotCommand>,
    dense: BTreeMap<Key, DenseCount>,
}

impl LedgerState {
    /// An empty ledger.
    pub(super) fn new(id: LedgerId, instance: InstanceId) -> Self {
        Self {
            id,
            instance,
            version: 0,
            catalog: 0,
            floor: 0,
            accepted: None,
            layout: None,
            servers: BTreeMap::new(),
            stores: BTreeMap::new(),
            rows: BTreeMap::new(),
            moved: BTreeMap::new(),
            moves: BTreeSet::new(),
            history: BTreeMap::new(),
            definitions: BTreeMap::new(),
            notes: BTreeMap::new(),
            commands: BTreeMap::new(),
            dense: BTreeMap::new(),
        }
    }

    /// The version: raised by each call that changes a row or gives dense numbers.
    pub const fn version(&self) -> u64 {
        self.version
    }

    /// The page of the layout.
    pub const fn layout(&self) -> Option<&LayoutPage> {
        self.layout.as_ref()
    }

    /// The rows of a sequence's keys, or all rows; at most `most`, ascending by slot and key.
    pub fn list(&self, sequence: Option<&str>, most: usize) -> Vec<(Counter, Row)> {
        self.rows(None, sequence.map_or(Keys::All, Keys::Of), most).collect()
    }

    /// The dense counters of a sequence's keys, or all of them; at most `most`, ascending by key.
    pub fn dense(&self, sequence: Option<&str>, most: usize) -> Vec<DenseRow> {
        let dense = self.counts(sequence.map_or(Keys::All, Keys::Of), most);
        dense.map(|(key, DenseCount { value, begun_at_ms })| DenseRow { key, value, begun_at_ms }).collect()
    }

    /// The row of a counter.
    pub fn row(&self, counter: &Counter) -> Option<&Row> {
        self.rows.get(counter)
    }

    /// Changes a row directly, like an operator in the data: no version records it. `false` if there is no such row.
    pub(super) fn set_row(&mut self, counter: &Counter, change: impl FnOnce(&mut Row)) -> bool {
        self.rows.get_mut(counter).map(change).is_some()
    }

    /// Deletes a row directly, like an operator in the data; `false` if there was none.
    pub fn delete_row(&mut self, counter: &Counter) -> bool {
        self.note_move(counter, None);
        self.rows.remove(counter).is_some()
    }

    /// Sets a dense counter's value directly, like an operator in the data; `false` if there is no such counter.
    pub(super) fn set_dense(&mut self, key: &Key, value: u64) -> bool {
        self.dense.get_mut(key).map(|held| held.value = value).is_some()
    }

    /// Removes a server's row; `false` if there was none.
    pub(super) fn delist(&mut self, server: ServerId) -> bool {
        self.servers.remove(&server).is_some()
    }

    /// Reads the records of a selection.
    pub(super) fn read(&self, selection: &Selection<'_>, now_ms: u64) -> Records {
        let held = |counter: &Counter| Some((counter.clone(), self.rows.get(counter)?.clone()));
        let note = |about: &NoteSubject| Some((about.clone(), *self.notes.get(about)?));
        let count = |key: &Key| Some((key.clone(), *self.dense.get(key)?));
        let is_read = |name: &SequenceName| selection.all_definitions || selection.definition == Some(name);
        let definitions = self.definitions.values().filter(|definition| is_read(&definition.name));
        let commands = self.commands.values().filter(|_| selection.commands);
        let stores = self.stores.iter().filter(|_| selection.stores);
        let mut records = Records {
            version: self.version,
            catalog: self.catalog,
            floor: self.floor,
            accepted: self.accepted.clone(),
            layout: self.layout.clone(),
            nonce: selection.server.and_then(|server| Some(self.servers.get(&server)?.0)),
            rows: selection.counters.iter().copied().filter_map(held).collect(),
            dense: selection.dense.iter().copied().filter_map(count).collect(),
            notes: selection.notes.iter().filter_map(note).collect(),
            definitions: definitions.cloned().collect(),
            stores: stores.map(|(slot, store)| (*slot, store.clone())).collect(),
            commands: commands.cloned().collect(),
            ..Records::of(self.instance.clone(), now_ms)
        };
        if selection.all_notes {
            records.notes.clone_from(&self.notes);
        }
        match selection.scan {
            Some(Scan::Rows { slot, keys, most }) => records.rows = self.rows(slot, keys, most).collect(),
            Some(Scan::Dense { keys, most }) => records.dense = self.counts(keys, most).collect(),
            Some(Scan::History(counter)) => records.history = self.history(counter),
            Some(Scan::Moved { since, most }) => records.moved = self.moved(since, most),
            None => {}
        }
        records
    }

    /// Writes the changes of records that were read under the same lock.
    pub(super) fn write(&mut self, records: &Records) {
        let changes = &records.changes;
        self.write_session(changes, records.clock_ms);
        self.write_rows(records);
        self.write_catalog(changes);
        for key in &changes.dense {
            if let Some(count) = records.dense.get(key) {
                self.dense.insert(key.clone(), *count);
            }
        }
        if changes.lost > 0 {
            self.add_loss(changes.lost);
        }
    }

    fn write_session(&mut self, changes: &Changes, now_ms: u64) {
        if let Some(since_ms) = changes.servers_silent_since_ms {
            self.servers.retain(|_, (_, seen_ms)| *seen_ms > since_ms);
        }
        if let Some((server, nonce)) = changes.nonce {
            self.servers.insert(server, (nonce, now_ms));
        }
        if let Some(token) = &changes.token {
            self.instance = token.instance.clone();
        }
        if changes.forgets_stores {
            self.stores.clear();
        }
        if let Some((slot, store)) = &changes.store {
            self.stores.insert(*slot, store.clone());
        }
        self.accepted = changes.accepted.clone().or_else(|| self.accepted.take());
        self.layout = changes.layout.clone().or_else(|| self.layout.take());
        self.floor = changes.floor.unwrap_or(self.floor);
        self.version = changes.version.unwrap_or(self.version);
        self.catalog = changes.catalog.unwrap_or(self.catalog);
    }

    fn write_rows(&mut self, records: &Records) {
        let changes = &records.changes;
        for (counter, past) in &changes.ended {
            self.history.entry(counter.clone()).or_default().push(past.clone());
        }
        for counter in &changes.rows {
            let row = records.rows.get(counter);
            self.note_move(counter, row.map(|_| self.version));
            match row {
                Some(row) => drop(self.rows.insert(counter.clone(), row.clone())),
                None => drop(self.rows.remove(counter)),
            }
        }
        for counter in &changes.expired {
            self.note_move(counter, None);
            self.rows.remove(counter);
            self.history.remove(counter);
        }
    }

    fn write_catalog(&mut self, changes: &Changes) {
        for key in &changes.expired_dense {
            self.dense.remove(key);
        }
        for about in changes.expired_notes() {
            self.notes.remove(&about);
        }
        self.notes.extend(changes.notes.iter().map(|(about, to)| (about.clone(), *to)));
        if let Some(definition) = &changes.definition {
            self.definitions.insert(definition.name.clone(), definition.clone());
        }
        if let Some(command) = &changes.command {
            self.commands.insert(command.slot, command.clone());
        }
    }

    fn add_loss(&mut self, lost: u64) {
        // Counters that began after the backup was made have no row. They may have given as much as was lost.
        self.floor = bounded_sum(self.floor, lost);
        for row in self.rows.values_mut() {
            row.ceiling = bounded_sum(row.ceiling, lost);
            // The lost ids count as taken. Otherwise the next open would treat the stated loss as a jump.
            row.seen = bounded_sum(row.seen, lost);
        }
        for count in self.dense.values_mut() {
            count.value = bounded_sum(count.value, lost);
        }
    }

    /// Sets the version that last changed a row; `None` for a deleted row.
    fn note_move(&mut self, counter: &Counter, version: Option<u64>) {
        if let Some(before) = self.moved.remove(counter) {
            self.moves.remove(&(before, counter.clone()));
        }
        if let Some(version) = version {
            self.moved.insert(counter.clone(), version);
            self.moves.insert((version, counter.clone()));
        }
    }

    /// The rows changed after version `since`, ascending by version, at most `most`.
    fn moved(&self, since: u64, most: usize) -> Vec<Moved> {
        // The range begins at the lowest possible counter of the next version.
        let first = Counter { slot: 0, key: Key::from_stored("") };
        let later = self.moves.range((since.saturating_add(1), first)..).take(most);
        let moved = later.filter_map(|(version, counter)| {
            let Row { epoch, seen, .. } = *self.rows.get(counter)?;
            Some(Moved { counter: counter.clone(), epoch, seen, version: *version })
        });
        moved.collect()
    }

    fn rows(
        &self,
        slot: Option<SlotIndex>,
        keys: Keys<'_>,
        most: usize,
    ) -> impl Iterator<Item = (Counter, Row)> {
        let asked =
            move |counter: &Counter| slot.is_none_or(|slot| counter.slot == slot) && keys.holds(&counter.key);
        let rows = self.rows.iter().filter(move |(counter, _)| asked(counter)).take(most);
        rows.map(|(counter, row)| (counter.clone(), row.clone()))
    }

    fn counts(&self, keys: Keys<'_>, most: usize) -> impl Iterator<Item = (Key, DenseCount)> {
        let counts = self.dense.iter().filter(move |(key, _)| keys.holds(key)).take(most);
        counts.map(|(key, count)| (key.clone(), *count))
    }

    /// The ended epochs of a counter, oldest first.
    pub fn history(&self, counter: &Counter) -> Vec<PastEpoch> {
        self.history.get(counter).cloned().unwrap_or_default()
    }
}

impl Keys<'_> {
    /// Whether the range contains a key.
    fn holds(self, key: &Key) -> bool {
        let key = key.as_str();
        match self {
            Self::All => true,
            Self::Of(name) => {
                key.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('|'))
            }
            Self::Between(from, below) => (from..below).contains(&key),
        }
    }
}
