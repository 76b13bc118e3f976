//! Reload of definitions from the ledger. One reload runs at a time; each reports what changed and what is missing.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use sequent_core::{SequenceName, SourceError, ledger::Definition, sync};
use sequent_format::Timestamp;

use super::{Catalog, Entry, Snapshot};
use crate::ledger_timeout::within;

#[derive(Default)]
pub(super) struct Readings {
    /// Locked from the read of the ledger to the swap, so that an older read does not replace a newer one.
    pub(super) turn: tokio::sync::Mutex<()>,
    /// When the ledger is known to have held the snapshot, in milliseconds since 1970.
    as_of_ms: AtomicU64,
    /// Names found changed by a read, and not retrieved yet.
    changed: Mutex<BTreeSet<SequenceName>>,
}

impl Catalog {
    /// Reads the ledger's definitions if it has another version of them; with `None` in any case.
    pub(crate) async fn follow(&self, version: Option<u64>) -> Result<(), SourceError> {
        if version == Some(self.snapshot.load().version) { Ok(()) } else { self.refresh().await }
    }

    /// The names whose definition changed since the last call.
    pub(crate) fn changed(&self) -> BTreeSet<SequenceName> {
        std::mem::take(&mut *sync::lock(&self.readings.changed))
    }

    /// The instant as of which the snapshot is known to be the ledger's.
    pub(crate) fn as_of(&self) -> Timestamp {
        let ms = i64::try_from(self.readings.as_of_ms.load(Ordering::Relaxed)).unwrap_or(i64::MAX);
        Timestamp::from_millisecond(ms).unwrap_or_default()
    }

    /// Notes that a heartbeat has just found this version in the ledger.
    pub(crate) fn heard(&self, version: u64) {
        if version == self.snapshot.load().version {
            self.readings.as_of_ms.store(self.context.clock.wall_ms(), Ordering::Relaxed);
        }
    }

    pub(super) async fn refresh(&self) -> Result<(), SourceError> {
        let turn = self.readings.turn.lock().await;
        self.refresh_in(&turn).await
    }

    pub(super) async fn refresh_in(
        &self,
        _turn: &tokio::sync::MutexGuard<'_, ()>,
    ) -> Result<(), SourceError> {
        let as_of_ms = self.context.clock.wall_ms();
        // These were in the ledger before this read: those that the read lacks are lost.
        let fresh: Vec<Arc<Entry>> = sync::read(&self.fresh).values().cloned().collect();
        let read = self.context.ledger.definitions();
        let (version, definitions) = within(self.context.limit, "read the definitions", read).await?;
        let before = self.snapshot.load();
        let mut changed = BTreeSet::new();
        let entries: BTreeMap<SequenceName, Arc<Entry>> = definitions
            .into_iter()
            .map(|found| (found.name.clone(), self.take_up(&before, found, &mut changed)))
            .collect();
        let missing =
            before.entries.values().chain(&fresh).filter(|entry| !entries.contains_key(entry.name()));
        missing.for_each(|entry| self.lost.miss(entry));
        self.contents.forget_unused();
        let in_use = entries.values().filter(|entry| !entry.is_forgotten()).count();
        let now = Arc::new(Snapshot { version, entries, in_use });
        self.snapshot.store(Arc::clone(&now));
        // Reported only now: a caller that drops a key because of it makes the next one from the new snapshot.
        sync::lock(&self.readings.changed).append(&mut changed);
        let mut fresh = sync::write(&self.fresh);
        fresh.retain(|name, _| !now.entries.contains_key(name) && !self.lost.has(name));
        fresh.shrink_to_fit();
        self.readings.as_of_ms.store(as_of_ms, Ordering::Relaxed);
        Ok(())
    }

    /// The entry for a definition of the ledger: the known one, one that follows it, or one that is unusable. Its name
    /// is added to `changed` if the entry is a different one.
    fn take_up(
        &self,
        before: &Snapshot,
        found: Definition,
        changed: &mut BTreeSet<SequenceName>,
    ) -> Arc<Entry> {
        let name = &found.name;
        let fresh = || sync::read(&self.fresh).get(name).map(Arc::clone);
        let held = before.entries.get(name).map(Arc::clone).or_else(fresh);
        if let Some(held) = held.as_ref().filter(|held| held.is(&found)) {
            return Arc::clone(held);
        }
        let Some(before) = held.clone().or_else(|| self.lost.get(name)) else {
            return Arc::new(self.contents.entry(found));
        };
        let name = name.clone();
        let entry = self.lost.judge(&self.contents, &before, found);
        if held.is_some() || !entry.same(&before) {
            changed.insert(name);
        }
        entry
    }
}
