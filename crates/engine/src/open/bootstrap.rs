//! The handle of a cluster before anything runs: the ledger with its layout, and the stores.

use std::{path::PathBuf, sync::Arc, time::Duration};

use sequent_core::{
    Condition, Durability, Env, Layout, LedgerId, SlotIndex, SourceError, Stamp, Store,
    ledger::{LayoutRecord, Ledger, LedgerInspection, SlotCommand},
};

use crate::{
    config::{Config, Place},
    data::{self, Found, Quarantine, VersionFile},
    error::OpenError,
    ledger_timeout::{patiently, within},
    open::{foreign_stores, options::Options, unopened::Unopened},
    stores::{self, Files, Shard},
    telemetry::MeteredLedger,
};

/// Factor of the attempt timeout that a start waits for the ledger, since the first call may have to create it.
pub const FIRST_CALL_FACTOR: u32 = 10;

/// A ledger, its layout, and the stores of its slots, none of them used yet.
pub struct ClusterHandle {
    /// The ledger, with metrics of each call.
    pub ledger: Arc<dyn Ledger>,
    /// The ledger's id, which the stamps of the stores must have.
    pub id: LedgerId,
    /// The durability that follows from the ledger's settings.
    pub(crate) durability: Durability,
    /// The layout in force; for a new cluster, its first layout.
    pub record: LayoutRecord,
    /// The stores, each with its slot; slots without a store are absent.
    pub shards: Vec<Shard>,
    /// The file for ledger versions in the data directory; `None` for a volatile ledger.
    pub home: Option<Arc<VersionFile>>,
    /// The file for counters in quarantine; `None` for a volatile ledger.
    pub(crate) quarantine: Option<Quarantine>,
    pub(crate) files: Files,
    /// The data directory.
    pub data: PathBuf,
    /// Whether servers of other hosts may use the ledger, each with a data directory of its own.
    pub is_shared: bool,
    /// Clock, randomness and events.
    pub env: Env,
    /// The time limit of one call to the ledger or a store.
    pub limit: Duration,
    /// Longest duration of one request to a slot.
    pub(crate) longest_ask: Duration,
    /// Whether the ledger has no layout yet.
    pub(crate) is_new: bool,
}

impl ClusterHandle {
    /// Opens the ledger of a cluster that exists; never creates one.
    pub async fn open(config: &Config, options: &Options) -> Result<Self, OpenError> {
        let none =
            |what: String| OpenError::NoCluster(format!("no cluster in {}: {what}", config.data.display()));
        if config.ledger.place == Place::Memory {
            return Err(none("a memory ledger lasts as long as its process".to_owned()));
        }
        let is_nothing = data::look(config).await? == Found::Nothing;
        let unmade = || none("a first `sequent next NAME` makes one".to_owned());
        if is_nothing && !foreign_stores::may_be_elsewhere(config) {
            return Err(unmade());
        }
        let existing = async || match Self::existing(config, options.env.clone()).await {
            Ok(Some(cluster)) => Ok(Ok(cluster)),
            Ok(None) => Ok(Err(none(format!(
                "{NOT_STARTED}: its ledger has no layout, which a first `sequent serve` or `next NAME` writes"
            )))),
            Err(Unopened { error, condition }) => match (error, condition) {
                (OpenError::Unavailable(_), Some(Condition::NeverMade)) if is_nothing => Ok(Err(unmade())),
                (OpenError::Refused(text), Some(Condition::NeverMade)) => {
                    Ok(Err(OpenError::Refused(format!("{NOT_STARTED}: {text}"))))
                }
                (error @ OpenError::Refused(_), Some(Condition::Emptied)) => Ok(Err(error)),
                (other, _) => Err(other),
            },
        };
        let not_started = match existing().await? {
            Ok(cluster) => return Ok(cluster),
            Err(not_started) => not_started,
        };
        let Some(orphans) = foreign_stores::look(config, options).await? else { return Err(not_started) };
        // Read once more: a process that creates a cluster writes the layout before any stamp.
        existing().await?.map_err(|_| orphans.error())
    }

    /// As [`within`], with the cluster's time limit.
    pub async fn within<T>(
        &self,
        step: &str,
        call: impl Future<Output = Result<T, SourceError>>,
    ) -> Result<T, SourceError> {
        within(self.limit, step, call).await
    }

    /// What the ledger says of itself.
    pub async fn inspected(&self) -> Result<LedgerInspection, SourceError> {
        self.within("open the ledger", self.ledger.inspect()).await
    }

    /// The slot commands in force.
    pub async fn slot_commands(&self) -> Result<Vec<SlotCommand>, SourceError> {
        self.within("read the words", self.ledger.slot_commands()).await
    }

    /// The layout in force.
    pub fn layout(&self) -> Layout {
        self.record.layout
    }

    /// Whether a shard counts in tables that another program made.
    pub fn adopts_tables(&self) -> bool {
        self.shards.iter().any(stores::adopts)
    }

    /// Closes the files that this handle has opened, and returns the names of those that could not be closed in time.
    /// A running engine closes its own files when it ends.
    pub async fn close(&self) -> Vec<String> {
        self.files.leave().await
    }

    /// A cluster that exists; `None` if its ledger has no layout yet. Creates nothing.
    pub(crate) async fn existing(config: &Config, env: Env) -> Result<Option<Self>, Unopened> {
        let ledger = Opened::new(config, &env, false)?;
        let read = ledger.read(config).await;
        if !matches!(read, Ok((_, Some(_)))) {
            ledger.files.leave().await;
        }
        let (found, held) = read?;
        Ok(held.map(|record| Self::new(config, env, &ledger, (found, record), false)).transpose()?)
    }

    /// A cluster that exists, or one that is to be created.
    pub(crate) async fn any(config: &Config, env: Env, create_ledger: bool) -> Result<Self, OpenError> {
        let ledger = Opened::new(config, &env, create_ledger)?;
        let read = ledger.read(config).await.and_then(|(found, held)| {
            let is_new = held.is_none();
            let record = held.map_or_else(|| first(config), Ok)?;
            Ok((found, record, is_new))
        });
        if read.is_err() {
            ledger.files.leave().await;
        }
        let (found, record, is_new) = read?;
        Ok(Self { is_new, ..Self::new(config, env, &ledger, (found, record), true)? })
    }

    fn new(
        config: &Config,
        env: Env,
        opened: &Opened,
        (found, record): (LedgerInspection, LayoutRecord),
        create: bool,
    ) -> Result<Self, OpenError> {
        let mut files = opened.files.clone();
        let shards =
            stores::shards(config.shards_of(record.layout), &record.cluster, create, &env, &mut files)?;
        let (limit, longest_ask) = (config.ring.attempt_timeout, config.ring.health().longest_request());
        let home = (config.ledger.place != Place::Memory)
            .then(|| Arc::new(VersionFile::new(&config.data, limit, Arc::clone(&env.entropy))));
        let quarantine = home.as_ref().map(|_| Quarantine::new(&config.data));
        let ledger = Arc::clone(&opened.ledger);
        Ok(Self {
            ledger,
            id: found.id,
            durability: found.durability,
            record,
            shards,
            home,
            quarantine,
            files,
            data: config.data.clone(),
            is_shared: matches!(config.ledger.place, Place::Server(_)),
            env,
            limit,
            longest_ask,
            is_new: false,
        })
    }

    /// Removes the quarantine notes of a slot. A note that can't be removed is only shown once too often.
    pub fn clear_quarantined(&self, slot: SlotIndex) {
        if let Some(notes) = &self.quarantine {
            drop(notes.forget(Some(slot)));
        }
    }

    /// The stores, each with its slot.
    pub fn stores(&self) -> Vec<(SlotIndex, Arc<dyn Store>)> {
        self.shards.iter().map(|shard| (shard.part.slot, Arc::clone(&shard.store))).collect()
    }

    /// The stamp that this cluster's store in `slot` must have.
    pub(crate) fn stamp(&self, slot: SlotIndex) -> Stamp {
        self.record.stamp(self.id, slot)
    }

    /// Whether ledger and stores are all files: a copy of the directory then looks consistent.
    pub(crate) fn is_embedded(&self, config: &Config) -> bool {
        config.ledger.place.is_file() && self.shards.iter().all(|shard| shard.part.place.is_file())
    }
}

/// The message about a cluster whose ledger was never created.
pub const NOT_STARTED: &str = "this cluster has not been started yet";

/// The layout of a new cluster.
fn first(config: &Config) -> Result<LayoutRecord, OpenError> {
    let (cluster, layout) = (config.cluster.clone(), config.first_layout());
    let record = LayoutRecord { cluster, layout, generation: 1 };
    check_slots(config, &record)?;
    Ok(record)
}

/// A ledger before its layout is known.
struct Opened {
    ledger: Arc<dyn Ledger>,
    files: Files,
}

impl Opened {
    fn new(config: &Config, env: &Env, create: bool) -> Result<Self, OpenError> {
        let mut files = Files::default();
        let ledger = stores::ledger(&config.ledger.place, create, env, &mut files)?;
        Ok(Self { ledger: MeteredLedger::of(ledger, &env.clock), files })
    }

    /// The checked layout, and the ledger's identity. The layout is checked first: an inspection writes to test write
    /// access, and a refused layout must leave everything unchanged.
    async fn read(&self, config: &Config) -> Result<(LedgerInspection, Option<LayoutRecord>), Unopened> {
        let limit = config.ring.attempt_timeout * FIRST_CALL_FACTOR;
        let held = within(limit, "read the layout", patiently(|| self.ledger.layout())).await?;
        if let Some(held) = &held {
            check_layout(config, held)?;
            check_slots(config, held)?;
        }
        let inspection = within(limit, "open the ledger", patiently(|| self.ledger.inspect())).await?;
        Ok((inspection, held))
    }
}

/// Checks that every configured slot is in the ring.
pub fn check_slots(config: &Config, record: &LayoutRecord) -> Result<(), OpenError> {
    let slots = record.layout.slots();
    match config.shards_of(record.layout).iter().find(|part| part.slot >= slots) {
        None => Ok(()),
        Some(part) => Err(OpenError::Refused(format!(
            "slot {} is configured, and the ring has slots 0 to {} (shard_bits = {})",
            part.slot,
            slots - 1,
            record.layout.shard_bits(),
        ))),
    }
}

/// Checks that the configured layout is the ledger's.
pub fn check_layout(config: &Config, held: &LayoutRecord) -> Result<(), OpenError> {
    let mut lines = other_layout(config, held);
    if lines.is_empty() {
        return Ok(());
    }
    if is_other_ring(config, held) {
        lines.push(OTHER_RING.to_owned());
    }
    Err(OpenError::Refused(lines.join("\n")))
}

/// The advice if the configured ring differs from the ledger's.
const OTHER_RING: &str = "to change the ring's layout: `sequent resize`, with every process on the configuration of the layout in force \
    until then; where it was changed already: start with the newer configuration file; only where the ring has this layout, \
    and the ledger was put back from a copy of before its resize: put the newest one back; `sequent recover` says what to do where \
    there is none";

/// Whether the configured ring differs from this one.
fn is_other_ring(config: &Config, held: &LayoutRecord) -> bool {
    let is_other = |configured: Option<u8>, held: u8| configured.is_some_and(|bits| bits != held);
    is_other(config.ring.shard_bits, held.layout.shard_bits())
        || is_other(config.ring.memory_bits, held.layout.memory_bits())
}

/// The differences between the configured layout and this one, a line each.
pub fn other_layout(config: &Config, held: &LayoutRecord) -> Vec<String> {
    let (n, m) = (held.layout.shard_bits(), held.layout.memory_bits());
    let mut found = Vec::new();
    if config.cluster != held.cluster {
        found.push((
            "cluster",
            format!("{:?}", config.cluster.as_str()),
            format!("{:?}", held.cluster.as_str()),
        ));
    }
    if let Some(bits) = config.ring.shard_bits.filter(|bits| *bits != n) {
        found.push(("ring.shard_bits", bits.to_string(), n.to_string()));
    }
    if let Some(bits) = config.ring.memory_bits.filter(|bits| *bits != m) {
        found.push(("ring.memory_bits", bits.to_string(), m.to_string()));
    }
    let line = |(key, configured, expected): (&str, String, String)| {
        format!("{key} is {configured}: the ledger's layout has {expected}, and another would repeat numbers")
    };
    found.into_iter().map(line).collect()
}
