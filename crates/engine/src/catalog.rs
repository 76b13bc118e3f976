//! The definitions in force: one snapshot, read again when the ledger has another version of it.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use arc_swap::ArcSwap;
use globset::GlobSet;
use sequent_core::{
    ErrorKind, Layout, SequenceName, SourceError,
    ledger::{Defined, Definition, Ledger},
};

use crate::{
    Body, EngineError, OpenError, Reason,
    config::SequencePart,
    limit::{not_found, of_ledger, within},
};

/// The most sequences that first uses may define: a snapshot is copied with each.
const AUTO_CREATED_MAX: usize = 65_536;

/// How often a definition is judged again because another process replaced what it was compared with.
const JUDGED_MAX: u32 = 16;

/// A definition, and what this version can make of it.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) definition: Definition,
    pub(crate) body: Result<Body, String>,
}

impl Entry {
    fn new(definition: Definition) -> Self {
        let body = Body::from_text(&definition.body);
        Self { definition, body }
    }

    /// The content, or why it can't be used.
    pub(crate) fn body(&self) -> Result<&Body, EngineError> {
        self.body.as_ref().map_err(|error| {
            let Definition { name, version, .. } = &self.definition;
            let text = format!("version {version} of {name} can't be used: {error}");
            EngineError::new(Reason::DefinitionConflict, text)
        })
    }
}

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
    snapshot: ArcSwap<Snapshot>,
    /// Held over a read of the ledger and the swap that follows, so that no older reading replaces a newer one.
    reading: tokio::sync::Mutex<()>,
}

impl Catalog {
    /// Brings the file's definitions into the ledger, after checking all of them, and reads what is in force.
    pub(crate) async fn open(ground: Ground, parts: &[SequencePart]) -> Result<Self, OpenError> {
        let catalog = Self { ground, snapshot: ArcSwap::default(), reading: tokio::sync::Mutex::default() };
        let read = catalog.refresh().await;
        read.map_err(|error| OpenError::of_source(&error))?;
        let mut refusals: Vec<String> = parts.iter().filter_map(|part| catalog.refusal(part)).collect();
        if refusals.is_empty() {
            for part in parts {
                refusals.extend(catalog.bring(part).await.map_err(|error| OpenError::of_source(&error))?);
            }
        }
        if !refusals.is_empty() {
            return Err(OpenError::Refused(refusals.join("\n")));
        }
        if !parts.is_empty() {
            catalog.refresh().await.map_err(|error| OpenError::of_source(&error))?;
        }
        Ok(catalog)
    }

    /// Why the file's definition can't be brought, as far as is known before asking the ledger.
    fn refusal(&self, part: &SequencePart) -> Option<String> {
        let name = &part.name;
        if let Err(fault) = part.body.check_layout(self.ground.layout, self.ground.at_risk_max) {
            return Some(format!("sequence {name}: {} is {}: {}", fault.field, fault.value, fault.bound));
        }
        let held = self.find(name)?;
        let (held, version) = (&held.definition, part.version);
        if version < held.version {
            return None;
        }
        let body = part.body.to_text();
        if version == held.version {
            return (body != held.body).then(|| conflict(held, &body));
        }
        let before = match Body::from_text(&held.body) {
            Ok(before) => before,
            Err(error) => {
                return Some(format!(
                    "sequence {name}: version {} is in force and can't be read, so nobody knows whether version \
                     {version} would give its numbers again: {error}",
                    held.version,
                ));
            }
        };
        (!part.body.may_follow(&before)).then(|| {
            format!(
                "sequence {name}: version {version} changes start or step, which would give numbers of version {} \
                 again: found {}, refused {body}; give it another name",
                held.version, held.body,
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
            let judged = self.find(&part.name).map(|held| held.definition.version);
            let define = self.ground.ledger.define(&definition, judged);
            match within(self.ground.limit, &step, define).await? {
                Defined::Created | Defined::Same => return Ok(None),
                Defined::Older { held } => {
                    let (name, version, in_force) = (&part.name, part.version, held.version);
                    tracing::warn!(%name, version, in_force, "definition ignored: a higher version is in force");
                    return Ok(None);
                }
                Defined::Conflict { held } => return Ok(Some(conflict(&held, &definition.body))),
                Defined::Moved { .. } => drop(self.refresh().await?),
            }
        }
        let context = format!("{step}: another version was in force each of {JUDGED_MAX} times");
        Err(SourceError::new(ErrorKind::Contended, context))
    }

    /// A definition in force.
    pub(crate) fn find(&self, name: &SequenceName) -> Option<Arc<Entry>> {
        self.snapshot.load().entries.get(name).map(Arc::clone)
    }

    /// A definition in force; a first use makes it where a pattern allows.
    pub(crate) async fn find_or_create(&self, name: &SequenceName) -> Result<Arc<Entry>, EngineError> {
        if let Some(entry) = self.find(name) {
            return Ok(entry);
        }
        if !self.ground.auto_create.is_match(name.as_str()) {
            // Another server may have defined it a moment ago.
            self.refresh().await.map_err(|error| of_ledger(&error))?;
            return self.find(name).ok_or_else(|| not_found(name));
        }
        if self.snapshot.load().entries.len() >= AUTO_CREATED_MAX {
            let text = format!("{AUTO_CREATED_MAX} sequences are defined: a first use may define no more");
            return Err(EngineError::new(Reason::QuotaExceeded, text));
        }
        self.create(name).await.map_err(|error| of_ledger(&error))
    }

    async fn create(&self, name: &SequenceName) -> Result<Arc<Entry>, SourceError> {
        let definition = Body::default().defining(name, 1);
        let step = format!("define {name}");
        let define = self.ground.ledger.define(&definition, None);
        let in_force = match within(self.ground.limit, &step, define).await? {
            Defined::Created | Defined::Same => definition,
            Defined::Older { held } | Defined::Conflict { held } | Defined::Moved { held: Some(held) } => {
                held
            }
            Defined::Moved { held: None } => {
                let context = format!("{step}: the ledger holds no version, and says that it holds one");
                return Err(SourceError::new(ErrorKind::Refused, context));
            }
        };
        let entry = Arc::new(Entry::new(in_force));
        let _reading = self.reading.lock().await;
        let now = self.snapshot.load();
        let mut entries = now.entries.clone();
        entries.insert(name.clone(), Arc::clone(&entry));
        // The version stays behind on purpose: the next look at the ledger's reads the others' definitions too.
        self.snapshot.store(Arc::new(Snapshot { version: now.version, entries }));
        Ok(entry)
    }

    /// Reads the ledger's definitions if it has another version of them; returns the names that changed.
    pub(crate) async fn follow(&self, version: u64) -> Result<Vec<SequenceName>, SourceError> {
        if self.snapshot.load().version == version { Ok(Vec::new()) } else { self.refresh().await }
    }

    async fn refresh(&self) -> Result<Vec<SequenceName>, SourceError> {
        let _reading = self.reading.lock().await;
        let read = self.ground.ledger.definitions();
        let (version, definitions) = within(self.ground.limit, "read the definitions", read).await?;
        let before = self.snapshot.load();
        let mut changed = Vec::new();
        let mut entries = BTreeMap::new();
        for definition in definitions {
            let name = definition.name.clone();
            let entry = match before.entries.get(&name) {
                Some(entry) if entry.definition == definition => Arc::clone(entry),
                Some(entry) => {
                    changed.push(name.clone());
                    Arc::new(followed(entry, definition))
                }
                None => Arc::new(Entry::new(definition)),
            };
            entries.insert(name, entry);
        }
        self.snapshot.store(Arc::new(Snapshot { version, entries }));
        Ok(changed)
    }
}

/// The entry of a definition that took the place of another; unusable where it would repeat numbers of that one.
fn followed(before: &Entry, definition: Definition) -> Entry {
    let mut entry = Entry::new(definition);
    if let (Ok(body), Ok(held)) = (&entry.body, &before.body)
        && !body.may_follow(held)
    {
        let Definition { name, version, .. } = &entry.definition;
        tracing::error!(%name, version, "definition changes start or step of one in force: out of use");
        entry.body = Err("it changes start or step of the version before".to_owned());
    }
    entry
}

fn conflict(held: &Definition, body: &str) -> String {
    format!(
        "sequence {}: version {} is in the ledger with another content: found {}, expected {body}; \
         a changed definition needs a higher version",
        held.name, held.version, held.body,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use sequent_backend::memory::MemoryLedger;
    use sequent_testkit::{PausedClock, SeededEntropy};

    fn part(version: u32, start: u64) -> SequencePart {
        let body = Body::check(None, start, 1, None, None).unwrap();
        SequencePart { name: "order".parse().unwrap(), version, body }
    }

    async fn catalog_over(ledger: &Arc<MemoryLedger>) -> Catalog {
        let ground = Ground {
            ledger: Arc::clone(ledger) as Arc<dyn Ledger>,
            limit: Duration::from_secs(1),
            layout: Layout::new(2, 0).unwrap(),
            at_risk_max: 1000,
            auto_create: GlobSet::empty(),
        };
        Catalog::open(ground, &[]).await.unwrap()
    }

    fn ledger() -> Arc<MemoryLedger> {
        Arc::new(MemoryLedger::new(Arc::new(PausedClock::new()), &SeededEntropy::new(1)))
    }

    #[tokio::test(start_paused = true)]
    async fn a_definition_is_judged_again_when_another_came_first() {
        let ledger = ledger();
        let (one, other) = (catalog_over(&ledger).await, catalog_over(&ledger).await);
        assert_eq!(one.bring(&part(1, 1000)).await.unwrap(), None);
        let refusal = other.bring(&part(2, 1)).await.unwrap().expect("start changed behind its back");
        assert!(refusal.contains("changes start or step"), "{refusal}");
        assert_eq!(other.bring(&part(2, 1000)).await.unwrap(), None, "the same start may follow");
    }

    #[tokio::test(start_paused = true)]
    async fn what_nobody_can_read_is_not_followed() {
        let ledger = ledger();
        let name: SequenceName = "order".parse().unwrap();
        let unreadable = Definition { name, version: 1, body: "{}".to_owned() };
        let ledger_dyn: &dyn Ledger = &*ledger;
        ledger_dyn.define(&unreadable, None).await.unwrap();
        let refusal = catalog_over(&ledger).await.bring(&part(2, 1)).await.unwrap().expect("unreadable");
        assert!(refusal.contains("can't be read"), "{refusal}");
    }
}
