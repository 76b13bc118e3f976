//! Reload of definitions from the ledger. One reload runs at a time; each reports what changed and what is missing.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use sequent_core::{SequenceName, SourceError, ledger::Definition};

use super::{Catalog, Entry, Snapshot};
use crate::ledger_timeout::within;

#[derive(Default)]
pub(super) struct Readings {
    /// Held over a read of the ledger and the swap that follows, so that no older reading replaces a newer one.
    pub(super) turn: tokio::sync::Mutex<()>,
    /// How many readings have begun, and the latest that succeeded.
    pub(super) begun: AtomicU64,
    read: AtomicU64,
    /// Found changed by any reading, and not asked for yet.
    changed: Mutex<BTreeSet<SequenceName>>,
}

impl Readings {
    fn changed(&self) -> MutexGuard<'_, BTreeSet<SequenceName>> {
        self.changed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Catalog {
    /// Reads the ledger's definitions if it has another version of them; `None`: in any case.
    pub(crate) async fn follow(&self, version: Option<u64>) -> Result<(), SourceError> {
        if version == Some(self.snapshot.load().version) { Ok(()) } else { self.refresh().await }
    }

    /// The names whose definition changed since this was asked last.
    pub(crate) fn changed(&self) -> BTreeSet<SequenceName> {
        std::mem::take(&mut *self.readings.changed())
    }

    /// Reads the ledger's definitions, unless that was begun after this call and has succeeded: many who ask for what
    /// is not there cause one reading at a time.
    pub(super) async fn look_again(&self) -> Result<(), SourceError> {
        let before = self.readings.begun.load(Ordering::Acquire);
        let turn = self.readings.turn.lock().await;
        if self.readings.read.load(Ordering::Acquire) > before {
            return Ok(());
        }
        self.refresh_in(&turn).await
    }

    pub(super) async fn refresh(&self) -> Result<(), SourceError> {
        let turn = self.readings.turn.lock().await;
        self.refresh_in(&turn).await
    }

    async fn refresh_in(&self, _turn: &tokio::sync::MutexGuard<'_, ()>) -> Result<(), SourceError> {
        let number = self.readings.begun.fetch_add(1, Ordering::AcqRel) + 1;
        // In the ledger before it is read: what is missing of them is lost.
        let fresh: Vec<Arc<Entry>> =
            self.fresh.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect();
        let read = self.ground.ledger.definitions();
        let (version, definitions) = within(self.ground.limit, "read the definitions", read).await?;
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
        let now = Arc::new(Snapshot { version, entries });
        self.snapshot.store(Arc::clone(&now));
        // Only now: whoever lets a key go for it makes the next one from what is here.
        self.readings.changed().append(&mut changed);
        let mut fresh = self.fresh.write().unwrap_or_else(PoisonError::into_inner);
        fresh.retain(|name, _| !now.entries.contains_key(name) && !self.lost.has(name));
        fresh.shrink_to_fit();
        self.readings.read.store(number, Ordering::Release);
        Ok(())
    }

    /// What a definition of the ledger is here: the one known, one that follows it, or one that must not. Its name is
    /// added to those `changed` where it is no longer what it was.
    fn take_up(
        &self,
        before: &Snapshot,
        found: Definition,
        changed: &mut BTreeSet<SequenceName>,
    ) -> Arc<Entry> {
        let name = &found.name;
        let fresh = || self.fresh.read().unwrap_or_else(PoisonError::into_inner).get(name).map(Arc::clone);
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
