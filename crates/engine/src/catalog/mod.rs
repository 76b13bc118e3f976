//! The catalog of definitions in force. It is a snapshot, read again when the ledger has another version of it,
//! together with the definitions that first uses have created since.

mod deferred_import;
pub(crate) mod define;
mod effective_from;
mod entry;
mod expired;
mod first_uses;
pub(crate) mod forget;
mod import;
mod look;
mod names;
mod reload;
mod restore;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    ops::Bound,
    sync::{Arc, RwLock},
    time::Duration,
};

use arc_swap::ArcSwap;
use globset::GlobSet;
use sequent_core::{
    Clock, ErrorKind, Key, Layout, SequenceName, SourceError, Span,
    ledger::{Defined, Ledger},
    sync,
};

use crate::{
    config::{SequencePart, SharedLimits},
    definition::{Body, capacity::AtRisk},
    error::{EngineError, OpenError},
    ledger_timeout::{not_found, patiently, within},
    stores::{self, Shard},
};

use deferred_import::Pending;
use entry::Contents;
pub(crate) use entry::Entry;
use first_uses::FirstUses;
use look::Looks;
use reload::Readings;
use restore::Lost;

#[derive(Default)]
struct Snapshot {
    version: u64,
    entries: BTreeMap<SequenceName, Arc<Entry>>,
    /// How many of them are not forgotten.
    in_use: usize,
}

/// The parts of the cluster that the catalog needs.
pub(crate) struct CatalogContext {
    pub(crate) ledger: Arc<dyn Ledger>,
    pub(crate) limit: Duration,
    /// The clock that decides which version is in effect.
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) layout: Layout,
    pub(crate) at_risk: AtRisk,
    pub(crate) auto_create: GlobSet,
    pub(crate) limits: SharedLimits,
    /// The stores, which must be able to hold the keys of each definition.
    pub(crate) shards: Vec<Shard>,
}

/// The definitions in force.
pub(crate) struct Catalog {
    context: CatalogContext,
    auto_create: ArcSwap<GlobSet>,
    /// The names of the configuration.
    configured: ArcSwap<BTreeSet<SequenceName>>,
    /// The limits used by the check of bounded sequences.
    at_risk: ArcSwap<AtRisk>,
    snapshot: ArcSwap<Snapshot>,
    /// Definitions created by first uses or found by a look, and not read back from the ledger yet. They are separate
    /// because copying a snapshot of a million for each would be slow.
    fresh: RwLock<HashMap<SequenceName, Arc<Entry>>>,
    contents: Contents,
    lost: Lost,
    pending: Pending,
    readings: Readings,
    first_uses: FirstUses,
    looks: Looks,
}

impl Catalog {
    /// Imports the file's definitions into the ledger, after checking all of them, and reads the definitions in force.
    /// If the ledger is not `trusted`, nothing is written: the import follows when it is.
    pub(crate) async fn open(
        context: CatalogContext,
        parts: &[SequencePart],
        trusted: bool,
    ) -> Result<Self, OpenError> {
        let catalog = Self {
            auto_create: ArcSwap::from_pointee(context.auto_create.clone()),
            configured: ArcSwap::from_pointee(names_of(parts)),
            at_risk: ArcSwap::from_pointee(context.at_risk),
            first_uses: FirstUses::new(Arc::clone(&context.limits), context.clock.now()),
            context,
            snapshot: ArcSwap::default(),
            fresh: RwLock::default(),
            contents: Contents::default(),
            lost: Lost::default(),
            pending: Pending::default(),
            readings: Readings::default(),
            looks: Looks::default(),
        };
        catalog.refresh().await?;
        if trusted {
            catalog.bring_all(parts).await?;
        } else {
            catalog.pending.put(parts);
        }
        Ok(catalog)
    }

    /// Applies the file's current definitions and patterns: all of them, or none and the reason.
    pub(crate) async fn reload(
        &self,
        parts: &[SequencePart],
        auto_create: &GlobSet,
    ) -> Result<(), OpenError> {
        self.bring_all(parts).await?;
        self.pending.clear();
        self.configured.store(Arc::new(names_of(parts)));
        self.auto_create.store(Arc::new(auto_create.clone()));
        Ok(())
    }

    /// Whether the configuration names a sequence.
    pub(crate) fn is_configured(&self, name: &SequenceName) -> bool {
        self.configured.load().contains(name)
    }

    /// The limits used by the check of bounded sequences.
    pub(crate) fn at_risk(&self) -> AtRisk {
        **self.at_risk.load()
    }

    /// Replaces these limits; returns the former ones. Definitions in force stay in force.
    pub(crate) fn count_with(&self, at_risk: AtRisk) -> AtRisk {
        *self.at_risk.swap(Arc::new(at_risk))
    }

    /// A definition in force.
    pub(crate) fn find(&self, name: &SequenceName) -> Option<Arc<Entry>> {
        let read = self.snapshot.load().entries.get(name).map(Arc::clone);
        read.or_else(|| sync::read(&self.fresh).get(name).map(Arc::clone))
    }

    /// The sequences that draw from the counter of `name`. It reads all definitions, and is for what is done rarely.
    pub(crate) fn drawing_from(&self, name: &SequenceName) -> Vec<Arc<Entry>> {
        let draws = |entry: &&Arc<Entry>| entry.known().is_ok_and(|body| body.counter() == Some(name));
        let mut found: Vec<Arc<Entry>> =
            self.snapshot.load().entries.values().filter(draws).map(Arc::clone).collect();
        let fresh = sync::read(&self.fresh);
        found.extend(fresh.values().filter(draws).map(Arc::clone));
        found
    }

    /// All definitions read from the ledger, ascending by name.
    pub(crate) fn all(&self) -> Vec<Arc<Entry>> {
        self.snapshot.load().entries.values().cloned().collect()
    }

    /// At most `most` definitions in use whose names are after a text and `wanted`, ascending, with those that were not
    /// read back yet.
    pub(crate) fn after(&self, after: &str, most: usize, wanted: impl Fn(&str) -> bool) -> Vec<Arc<Entry>> {
        let is_wanted = |entry: &Arc<Entry>| !entry.is_forgotten() && wanted(entry.name().as_str());
        let snapshot = self.snapshot.load();
        let range = (Bound::Excluded(after), Bound::Unbounded);
        let read = snapshot.entries.range::<str, _>(range).map(|(_, entry)| entry);
        let mut entries: Vec<_> = read.filter(|entry| is_wanted(entry)).take(most).map(Arc::clone).collect();
        let fresh = sync::read(&self.fresh);
        let is_new = |name: &SequenceName| name.as_str() > after && !snapshot.entries.contains_key(name);
        entries.extend(fresh.iter().filter(|(name, _)| is_new(name)).map(|(_, entry)| Arc::clone(entry)));
        entries.retain(is_wanted);
        entries.sort_unstable_by(|a, b| a.name().cmp(b.name()));
        entries.truncate(most);
        entries
    }

    /// A definition in force, including one that another server has just created; none is created here.
    pub(crate) async fn find_defined(&self, name: &SequenceName) -> Result<Option<Arc<Entry>>, EngineError> {
        match self.find(name) {
            Some(entry) => Ok(Some(entry)),
            None => self.look_for(name).await,
        }
    }

    /// Whether a first use may define this name.
    pub(crate) fn may_create(&self, name: &SequenceName) -> bool {
        self.auto_create.load().is_match(name.as_str())
    }

    /// Whether any store can hold a key; the error is the bound.
    pub(crate) fn holds(&self, key: &Key) -> Result<(), String> {
        stores::hold(&self.context.shards, key)
    }

    /// Refuses numbers that differ from those of an old program in whose tables a slot counts. Definitions are checked when they
    /// are made, and again when a key is built: `adopt_tables` may have been set since.
    pub(crate) fn check_agrees_with_old(
        &self,
        name: &SequenceName,
        key: &Key,
        span: Span,
    ) -> Result<(), EngineError> {
        stores::agree_with_old(&self.context.shards, key, span, self.context.layout)
            .map_err(|bound| EngineError::invalid("sequence", name, bound))
    }

    /// A definition in force. A first use creates it if a pattern allows that.
    pub(crate) async fn find_or_create(&self, name: &SequenceName) -> Result<Arc<Entry>, EngineError> {
        if let Some(entry) = self.find(name) {
            return Ok(entry);
        }
        if let Some(lost) = self.lost.get(name) {
            return Ok(self.find_again(&lost).await?);
        }
        if !self.may_create(name) {
            // Another server may have just defined it.
            return self.look_for(name).await?.ok_or_else(|| not_found(name));
        }
        let (context, key) = (&self.context, Key::of(name));
        stores::hold(&context.shards, &key).map_err(|bound| EngineError::invalid("sequence", name, bound))?;
        self.check_agrees_with_old(name, &key, Body::default().span())?;
        let first_use = self.first_uses.begin();
        let known = sync::read(&self.fresh).len();
        let known = known + self.snapshot.load().in_use + first_use.others;
        self.first_uses.admit(name, known, self.context.clock.now())?;
        Ok(self.create(name).await?)
    }

    async fn create(&self, name: &SequenceName) -> Result<Arc<Entry>, SourceError> {
        let definition = Body::default().defining(name, 1);
        let step = format!("define {name}");
        // Many processes may begin with the same first use. Each caller has a deadline of its own, too.
        let define = || within(self.context.limit, &step, self.context.ledger.define(&definition, None));
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
        self.add_fresh(&entry);
        Ok(entry)
    }

    /// Adds one definition before all are read. The snapshot's version stays behind on purpose, so that the next
    /// heartbeat causes a read of all new definitions. A version in the snapshot has priority over this one.
    fn add_fresh(&self, entry: &Arc<Entry>) {
        let mut fresh = sync::write(&self.fresh);
        fresh.insert(entry.name().clone(), Arc::clone(entry));
    }
}

fn names_of(parts: &[SequencePart]) -> BTreeSet<SequenceName> {
    parts.iter().map(|part| part.name.clone()).collect()
}
