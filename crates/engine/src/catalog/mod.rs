//! The definitions in force: one snapshot, read again when the ledger has another version of it, and beside it what
//! first uses have defined since.

mod deferred_import;
pub(crate) mod define;
pub(crate) mod definition;
mod effective_from;
mod entry;
mod expired;
mod import;
mod names;
mod reload;
mod restore;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use arc_swap::ArcSwap;
use globset::GlobSet;
use sequent_core::{
    Clock, ErrorKind, Key, Layout, SequenceName, SourceError,
    ledger::{Defined, Ledger},
};

use crate::{
    catalog::definition::{Body, capacity::AtRisk},
    config::SequencePart,
    error::{EngineError, OpenError, reason::Reason},
    ledger_timeout::{not_found, of_ledger, patiently, within},
    stores::{self, Shard},
};

use deferred_import::Pending;
use entry::Contents;
pub(crate) use entry::Entry;
use reload::Readings;
use restore::Lost;

/// The most sequences that are known when a first use may define one more.
const AUTO_CREATED_MAX: usize = 1 << 20;

#[derive(Default)]
struct Snapshot {
    version: u64,
    entries: BTreeMap<SequenceName, Arc<Entry>>,
}

/// What the catalog must know of its cluster.
pub(crate) struct CatalogContext {
    pub(crate) ledger: Arc<dyn Ledger>,
    pub(crate) limit: Duration,
    /// What shows from when on a version is in effect.
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) layout: Layout,
    pub(crate) at_risk: AtRisk,
    pub(crate) auto_create: GlobSet,
    /// The stores that must be able to hold what is defined.
    pub(crate) shards: Vec<Shard>,
}

/// The definitions in force.
pub(crate) struct Catalog {
    ground: CatalogContext,
    auto_create: ArcSwap<GlobSet>,
    /// What the rule for bounded sequences counts with.
    at_risk: ArcSwap<AtRisk>,
    snapshot: ArcSwap<Snapshot>,
    /// Defined by first uses, and not read back from the ledger yet: a snapshot of a million is not copied for each.
    fresh: RwLock<HashMap<SequenceName, Arc<Entry>>>,
    contents: Contents,
    lost: Lost,
    pending: Pending,
    readings: Readings,
}

impl Catalog {
    /// Brings the file's definitions into the ledger, after checking all of them, and reads what is in force. Where the
    /// ledger is not `trusted`, nothing is written: they are brought when it is.
    pub(crate) async fn open(
        ground: CatalogContext,
        parts: &[SequencePart],
        trusted: bool,
    ) -> Result<Self, OpenError> {
        let catalog = Self {
            auto_create: ArcSwap::from_pointee(ground.auto_create.clone()),
            at_risk: ArcSwap::from_pointee(ground.at_risk),
            ground,
            snapshot: ArcSwap::default(),
            fresh: RwLock::default(),
            contents: Contents::default(),
            lost: Lost::default(),
            pending: Pending::default(),
            readings: Readings::default(),
        };
        catalog.refresh().await.map_err(|error| OpenError::of_source(&error))?;
        if trusted {
            catalog.bring_all(parts).await?;
        } else {
            catalog.pending.put(parts);
        }
        Ok(catalog)
    }

    /// Takes up the file's definitions and patterns as they are now: all of them, or none and why.
    pub(crate) async fn reload(
        &self,
        parts: &[SequencePart],
        auto_create: &GlobSet,
    ) -> Result<(), OpenError> {
        self.bring_all(parts).await?;
        self.pending.clear();
        self.auto_create.store(Arc::new(auto_create.clone()));
        Ok(())
    }

    /// What the rule for bounded sequences counts with.
    pub(crate) fn at_risk(&self) -> AtRisk {
        **self.at_risk.load()
    }

    /// Counts with something else from now on; returns what it was. What is in force stays.
    pub(crate) fn count_with(&self, at_risk: AtRisk) -> AtRisk {
        *self.at_risk.swap(Arc::new(at_risk))
    }

    /// A definition in force.
    pub(crate) fn find(&self, name: &SequenceName) -> Option<Arc<Entry>> {
        let read = self.snapshot.load().entries.get(name).map(Arc::clone);
        read.or_else(|| self.fresh.read().unwrap_or_else(PoisonError::into_inner).get(name).map(Arc::clone))
    }

    /// All that were read from the ledger, ascending by name.
    pub(crate) fn all(&self) -> Vec<Arc<Entry>> {
        self.snapshot.load().entries.values().cloned().collect()
    }

    /// A definition in force, of another server's making a moment ago perhaps; none is made.
    pub(crate) async fn find_defined(&self, name: &SequenceName) -> Result<Option<Arc<Entry>>, EngineError> {
        if let Some(entry) = self.find(name) {
            return Ok(Some(entry));
        }
        self.look_again().await.map_err(|error| of_ledger(&error))?;
        Ok(self.find(name))
    }

    /// Whether a first use may define this name.
    pub(crate) fn may_create(&self, name: &SequenceName) -> bool {
        self.auto_create.load().is_match(name.as_str())
    }

    /// Whether the stores can hold a key; the error is the bound.
    pub(crate) fn holds(&self, key: &Key) -> Result<(), String> {
        stores::hold(&self.ground.shards, key)
    }

    /// A definition in force; a first use makes it where a pattern allows.
    pub(crate) async fn find_or_create(&self, name: &SequenceName) -> Result<Arc<Entry>, EngineError> {
        if let Some(entry) = self.find(name) {
            return Ok(entry);
        }
        if let Some(lost) = self.lost.get(name) {
            return self.find_again(&lost).await.map_err(|error| of_ledger(&error));
        }
        if !self.may_create(name) {
            // Another server may have defined it a moment ago.
            self.look_again().await.map_err(|error| of_ledger(&error))?;
            return self.find(name).ok_or_else(|| not_found(name));
        }
        let known = self.fresh.read().unwrap_or_else(PoisonError::into_inner).len();
        if known + self.snapshot.load().entries.len() >= AUTO_CREATED_MAX {
            let text = format!("{AUTO_CREATED_MAX} sequences are defined: a first use may define no more");
            return Err(EngineError::new(Reason::QuotaExceeded, text));
        }
        stores::hold(&self.ground.shards, &Key::of(name))
            .map_err(|bound| EngineError::invalid("sequence", name, bound))?;
        self.create(name).await.map_err(|error| of_ledger(&error))
    }

    async fn create(&self, name: &SequenceName) -> Result<Arc<Entry>, SourceError> {
        let definition = Body::default().defining(name, 1);
        let step = format!("define {name}");
        // Many processes may begin with the same first use. Each caller has a deadline of its own besides.
        let define = || within(self.ground.limit, &step, self.ground.ledger.define(&definition, None));
        let in_force = match patiently(define).await? {
            Defined::Created | Defined::Same => definition,
            Defined::Older { held } | Defined::Conflict { held } | Defined::Moved { held: Some(held) } => {
                held
            }
            Defined::Moved { held: None } => {
                let context = format!("{step}: the ledger holds no version, and says that it holds one");
                return Err(SourceError::new(ErrorKind::Refused, context));
            }
        };
        let entry = Arc::new(self.contents.entry(in_force));
        // The snapshot's version stays behind on purpose: the next look at the ledger's reads the others' definitions
        // too. A version that the snapshot has goes before this one.
        let mut fresh = self.fresh.write().unwrap_or_else(PoisonError::into_inner);
        fresh.insert(name.clone(), Arc::clone(&entry));
        Ok(entry)
    }
}
