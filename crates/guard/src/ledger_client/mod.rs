//! Ledger client: the only caller of the ledger. It handles nonces, instances, time limits, and reports each outage once.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use sequent_core::{
    Durability, Env, InstanceId, LedgerId, Rules, SlotIndex, SourceError,
    ledger::{LayoutRecord, Ledger, LedgerInspection, ServerId},
};
use tokio::sync::Notify;

use crate::{
    GuardConfig,
    guard::{DenseIssued, RAISES_MAX},
    marks::Marks,
    shard::Shard,
};

mod availability;
mod behind;
mod calls;
mod change_feed;
mod clone_detection;
mod durability;
mod expiry;
mod instances;
mod ledger_fault;
mod nonces;
mod reconnect;
mod witness;

pub(crate) use calls::Call;
pub(crate) use ledger_fault::other_master;
pub use ledger_fault::{LAYOUT_CHANGED, LedgerFault, all_forget, forgets, lossy};

struct State {
    instance: InstanceId,
    /// The instance that this server has seen on record.
    record: Option<InstanceId>,
    /// The settings found at the latest inspection.
    durability: Durability,
    /// When that was, or when dense numbers last requested an inspection.
    looked: Instant,
    nonces: VecDeque<u64>,
    /// Whether nonces were dropped: the ledger may hold one that this server no longer knows.
    some_dropped: bool,
    /// The highest version that the ledger ever told this server. A lower one means that the ledger went back.
    version: u64,
    /// The version up to which this server has read the rows moved by others.
    heard: u64,
    away_since: Option<Instant>,
    /// Whether a refusal was reported during this outage.
    refused: bool,
    /// One more with each outage and each return; odd while the ledger is away.
    losses: u64,
    trouble: Option<LedgerFault>,
    /// The ledger also accepts writes from another master. Kept beside `trouble`.
    other_master: Option<LedgerFault>,
    /// No store took the mark of the latest dense numbers; none are taken until one does.
    unwitnessed: bool,
    /// Another ledger has replaced this one. It hides `trouble`, until this ledger answers again.
    another: Option<LedgerFault>,
}

/// One server's client of the ledger.
pub(crate) struct LedgerClient {
    ledger: Arc<dyn Ledger>,
    id: LedgerId,
    server: ServerId,
    layout: LayoutRecord,
    embedded: bool,
    config: GuardConfig,
    rules: Rules,
    env: Env,
    pub(crate) marks: Marks,
    /// The dense numbers that this server has given.
    pub(crate) given: DenseIssued,
    shards: Vec<Arc<Shard>>,
    state: Mutex<State>,
    /// Notified when the ledger is found to be away.
    news_of_loss: Notify,
    /// Serializes calls that write, so that their nonces have an order.
    writing: tokio::sync::Mutex<()>,
}

/// The parts of a client.
pub(crate) struct LedgerClientParts {
    pub(crate) ledger: Arc<dyn Ledger>,
    pub(crate) server: ServerId,
    pub(crate) nonce: u64,
    pub(crate) inspection: LedgerInspection,
    /// The instance on record.
    pub(crate) record: Option<InstanceId>,
    pub(crate) layout: LayoutRecord,
    pub(crate) embedded: bool,
    pub(crate) config: GuardConfig,
    pub(crate) rules: Rules,
    pub(crate) env: Env,
    pub(crate) marks: Marks,
    pub(crate) shards: Vec<Arc<Shard>>,
}

impl LedgerClient {
    pub(crate) fn new(parts: LedgerClientParts) -> Self {
        let LedgerClientParts {
            ledger,
            server,
            nonce,
            inspection,
            record,
            layout,
            embedded,
            config,
            rules,
            env,
            marks,
            shards,
        } = parts;
        let id = inspection.id;
        let state = State {
            instance: inspection.instance,
            record,
            durability: inspection.durability,
            looked: env.clock.now(),
            nonces: VecDeque::from([nonce]),
            some_dropped: false,
            version: inspection.version,
            heard: inspection.version,
            away_since: None,
            refused: false,
            losses: 0,
            trouble: None,
            other_master: None,
            unwitnessed: false,
            another: None,
        };
        let (state, writing) = (Mutex::new(state), tokio::sync::Mutex::default());
        Self {
            ledger,
            id,
            server,
            layout,
            embedded,
            config,
            rules,
            env,
            marks,
            given: DenseIssued::default(),
            shards,
            state,
            news_of_loss: Notify::new(),
            writing,
        }
    }

    /// The ledger's instance under which grants are given now.
    pub(crate) fn instance(&self) -> InstanceId {
        self.state().instance.clone()
    }

    /// Whether grants of this instance of the ledger are still valid.
    pub(crate) fn speaks_as(&self, instance: &InstanceId) -> bool {
        self.state().instance == *instance
    }

    /// The generation of this server's layout.
    pub(crate) fn generation(&self) -> u64 {
        self.layout.generation
    }

    /// The number of slots of the ring.
    pub(crate) fn slots(&self) -> SlotIndex {
        self.layout.layout.slots()
    }

    /// The most counters in one call of this ledger.
    pub(crate) fn batch_max(&self) -> usize {
        self.ledger.batch_max().clamp(1, RAISES_MAX)
    }

    /// The highest version that the ledger told this server.
    pub(crate) fn version(&self) -> u64 {
        self.state().version
    }

    /// Why nothing may be opened.
    pub(crate) fn trouble(&self) -> Option<LedgerFault> {
        let state = self.state();
        state.another.as_ref().or(state.trouble.as_ref()).or(state.other_master.as_ref()).cloned()
    }

    /// Fails if the ledger is not trusted.
    pub(crate) fn trusted(&self) -> Result<(), SourceError> {
        self.trouble().map_or(Ok(()), |trouble| Err(trouble.error()))
    }

    /// Fails if another instance of the ledger has replaced this one. Acknowledged ceilings are then invalid too.
    pub(crate) fn not_outdone(&self) -> Result<(), SourceError> {
        let state = self.state();
        let mut faults = state.trouble.iter().chain(&state.other_master);
        faults.find(|fault| fault.is_outdone()).map_or(Ok(()), |fault| Err(fault.error()))
    }

    /// Sets what a judgement of the ledger found.
    pub(crate) fn set_trouble(&self, trouble: Option<LedgerFault>) {
        self.state().trouble = trouble;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
