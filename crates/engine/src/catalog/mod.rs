//! The definitions in force: one snapshot, read again when the ledger has another version of it, and beside it what
//! first uses have defined since.

mod entry;
mod lost;
mod pending;
mod reading;
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
    ErrorKind, Layout, SequenceName, SourceError,
    ledger::{Defined, Definition, Ledger},
};

use crate::{
    Body, EngineError, OpenError, Reason,
    config::SequencePart,
    limit::{not_found, of_ledger, patiently, within},
};

use entry::Contents;
pub(crate) use entry::Entry;
use lost::Lost;
use pending::Pending;
use reading::Readings;

/// The most sequences that are known when a first use may define one more.
const AUTO_CREATED_MAX: usize = 1 << 20;

/// How often a definition is judged again because another process replaced what it was compared with.
const JUDGED_MAX: u32 = 16;

#[derive(Default)]
struct Snapshot {
    version: u64,
    entries: BTreeMap<SequenceName, Arc<Entry>>,
}

/// What the catalog must know of its cluster.
pub(crate) struct Ground {
    pub(crate) ledger: Arc<dyn Ledger>,
    pub(crate) limit: Duration,
    pub(crate) layout: Layout,
    pub(crate) at_risk_max: u64,
    pub(crate) auto_create: GlobSet,
}

/// The definitions in force.
pub(crate) struct Catalog {
    ground: Ground,
    auto_create: ArcSwap<GlobSet>,
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
        ground: Ground,
        parts: &[SequencePart],
        trusted: bool,
    ) -> Result<Self, OpenError> {
        let catalog = Self {
            auto_create: ArcSwap::from_pointee(ground.auto_create.clone()),
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

    async fn bring_all(&self, parts: &[SequencePart]) -> Result<(), OpenError> {
        let mut refusals: Vec<String> = parts.iter().filter_map(|part| self.refusal(part)).collect();
        if refusals.is_empty() {
            for part in parts {
                refusals.extend(self.bring(part).await.map_err(|error| OpenError::of_source(&error))?);
            }
        }
        if !refusals.is_empty() {
            return Err(OpenError::Refused(refusals.join("\n")));
        }
        if parts.is_empty() {
            return Ok(());
        }
        self.refresh().await.map_err(|error| OpenError::of_source(&error))
    }

    /// Why the file's definition can't be brought, as far as is known before asking the ledger.
    fn refusal(&self, part: &SequencePart) -> Option<String> {
        let name = &part.name;
        if let Err(fault) = part.body.check_layout(self.ground.layout, self.ground.at_risk_max) {
            return Some(format!("sequence {name}: {} is {}: {}", fault.field, fault.value, fault.bound));
        }
        let held = self.find(name)?;
        let version = part.version;
        if version < held.version {
            return None;
        }
        let body = part.body.to_text();
        if version == held.version {
            return (body != held.text()).then(|| conflict(&held.definition(), &body));
        }
        let before = match held.known() {
            Ok(before) => before,
            Err(error) => {
                return Some(format!(
                    "sequence {name}: version {} is in force and can't be read, so nobody knows whether version \
                     {version} would give its numbers again: {error}",
                    held.version,
                ));
            }
        };
        (!part.body.may_follow(before)).then(|| {
            format!(
                "sequence {name}: version {version} changes start or step, which would give numbers of version {} \
                 again: found {}, refused {body}; give it another name",
                held.version,
                held.text(),
            )
        })
    }

    /// Brings one definition. It is judged against what is in force, and written only while that is still in force.
    async fn bring(&self, part: &SequencePart) -> Result<Option<String>, SourceError> {
        let definition = part.body.defining(&part.name, part.version);
        let step = format!("define {}", part.name);
        for _ in 0..JUDGED_MAX {
            if let Some(refusal) = self.refusal(part) {
                return Ok(Some(refusal));
            }
            let judged = self.find(&part.name).map(|held| held.version);
            let define = || within(self.ground.limit, &step, self.ground.ledger.define(&definition, judged));
            match patiently(define).await? {
                Defined::Created | Defined::Same => return Ok(None),
                Defined::Older { held } => {
                    let (name, version, in_force) = (&part.name, part.version, held.version);
                    tracing::warn!(%name, version, in_force, "definition ignored: a higher version is in force");
                    return Ok(None);
                }
                Defined::Conflict { held } => return Ok(Some(conflict(&held, &definition.body))),
                Defined::Moved { .. } => self.refresh().await?,
            }
        }
        let context = format!("{step}: another version was in force each of {JUDGED_MAX} times");
        Err(SourceError::new(ErrorKind::Contended, context))
    }

    /// A definition in force.
    pub(crate) fn find(&self, name: &SequenceName) -> Option<Arc<Entry>> {
        let read = self.snapshot.load().entries.get(name).map(Arc::clone);
        read.or_else(|| self.fresh.read().unwrap_or_else(PoisonError::into_inner).get(name).map(Arc::clone))
    }

    /// A definition in force; a first use makes it where a pattern allows.
    pub(crate) async fn find_or_create(&self, name: &SequenceName) -> Result<Arc<Entry>, EngineError> {
        if let Some(entry) = self.find(name) {
            return Ok(entry);
        }
        if let Some(lost) = self.lost.get(name) {
            return self.find_again(&lost).await.map_err(|error| of_ledger(&error));
        }
        if !self.auto_create.load().is_match(name.as_str()) {
            // Another server may have defined it a moment ago.
            self.look_again().await.map_err(|error| of_ledger(&error))?;
            return self.find(name).ok_or_else(|| not_found(name));
        }
        let known = self.fresh.read().unwrap_or_else(PoisonError::into_inner).len();
        if known + self.snapshot.load().entries.len() >= AUTO_CREATED_MAX {
            let text = format!("{AUTO_CREATED_MAX} sequences are defined: a first use may define no more");
            return Err(EngineError::new(Reason::QuotaExceeded, text));
        }
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

fn conflict(held: &Definition, body: &str) -> String {
    format!(
        "sequence {}: version {} is in the ledger with another content: found {}, expected {body}; \
         a changed definition needs a higher version",
        held.name, held.version, held.body,
    )
}
