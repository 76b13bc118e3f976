//! The one place that calls the ledger: nonces, instances, time limits, and the loss of it noticed once.

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
    /// The run that this server has seen on record.
    record: Option<InstanceId>,
    /// What it said of its settings at the latest inspection.
    durability: Durability,
    /// When that was, or when dense numbers wanted to know it since.
    looked: Instant,
    nonces: VecDeque<u64>,
    /// Some of them were dropped: the ledger may hold one that this server no longer knows.
    some_dropped: bool,
    /// The highest that the ledger ever told this server: one that comes back below it went back.
    version: u64,
    /// Up to which version this server has heard what calls moved.
    heard: u64,
    away_since: Option<Instant>,
    /// Whether it was told of this loss that the ledger answers, and refuses.
    refused: bool,
    /// One more with each loss and each return; odd while the ledger is away.
    losses: u64,
    trouble: Option<LedgerFault>,
    /// It takes writes from another master, too, as far as can be seen; whatever else troubles it is kept beside.
    other_master: Option<LedgerFault>,
    /// Nobody took the mark of the latest dense numbers: none are taken before somebody does.
    unwitnessed: bool,
    /// Another ledger in the place of this one, until this one answers again: what troubled it before troubles it then.
    another: Option<LedgerFault>,
}

/// The ledger as one server sees it.
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
    /// What this server has given of dense counters.
    pub(crate) given: DenseIssued,
    shards: Vec<Arc<Shard>>,
    state: Mutex<State>,
    /// Told when the ledger is found to be away.
    news_of_loss: Notify,
    /// Writing calls go one at a time, so that their nonces have an order.
    writing: tokio::sync::Mutex<()>,
}

/// What a client is made of.
pub(crate) struct LedgerClientParts {
    pub(crate) ledger: Arc<dyn Ledger>,
    pub(crate) server: ServerId,
    pub(crate) nonce: u64,
    pub(crate) inspection: LedgerInspection,
    /// The run on record.
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

    /// The ledger's instance under which grants are granted now.
    pub(crate) fn instance(&self) -> InstanceId {
        self.state().instance.clone()
    }

    /// Whether grants of this instance of the ledger still count.
    pub(crate) fn speaks_as(&self, instance: &InstanceId) -> bool {
        self.state().instance == *instance
    }

    /// The generation of the layout that this server counts by.
    pub(crate) fn generation(&self) -> u64 {
        self.layout.generation
    }

    /// How many slots the ring has.
    pub(crate) fn slots(&self) -> SlotIndex {
        self.layout.layout.slots()
    }

    /// How many counters one call of this ledger names.
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

    /// Refuses what would rest on a ledger that is not to be trusted.
    pub(crate) fn trusted(&self) -> Result<(), SourceError> {
        self.trouble().map_or(Ok(()), |trouble| Err(trouble.error()))
    }

    /// Refuses what rests on a run of the ledger that another one has replaced, ceilings that were acknowledged before included.
    pub(crate) fn not_outdone(&self) -> Result<(), SourceError> {
        let outdone = self.trouble().filter(LedgerFault::is_outdone);
        outdone.map_or(Ok(()), |trouble| Err(trouble.error()))
    }

    /// Notes what an appraisal found.
    pub(crate) fn set_trouble(&self, trouble: Option<LedgerFault>) {
        self.state().trouble = trouble;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
