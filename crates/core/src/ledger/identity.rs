//! Who speaks, who calls, and whether the ledger went back in between.

use std::{
    fmt,
    hash::{DefaultHasher, Hash, Hasher},
};

use crate::{
    BoxFuture, Durability, Entropy, ErrorKind, ExamineLedger, InstanceId, LedgerId, SlotIndex, SourceError,
};

/// How far apart, at least, the versions of two runs of one ledger's data begin: more calls than either makes before its
/// servers look at a mark.
pub const RUNS_APART: u64 = 1 << 20;

/// By how much a ledger's version goes up where `run` is recorded in the place of another run. A copy that is started beside
/// the original would otherwise count up to the same versions, and no mark could tell the two apart.
pub fn apart(run: &InstanceId) -> u64 {
    let mut hasher = DefaultHasher::new();
    run.as_str().hash(&mut hasher);
    RUNS_APART + hasher.finish() % RUNS_APART
}

/// A server's name towards the ledger: random, one a process.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ServerId(pub u64);

impl ServerId {
    /// A name that no server has had.
    pub fn random(entropy: &dyn Entropy) -> Self {
        Self(entropy.bits())
    }
}

impl fmt::Debug for ServerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// What a caller shows with each call that writes; see the [module](super).
#[derive(Debug, Clone, Copy)]
pub struct Pass<'a> {
    /// The instance of the ledger under which the caller's permits were granted.
    pub under: &'a InstanceId,
    /// The run of the ledger that the caller has seen on record; `None` while there is none.
    pub record: Option<&'a InstanceId>,
    /// Who calls.
    pub server: ServerId,
    /// The nonces that the caller's row may hold: the last acknowledged, and those of calls whose outcome is unknown.
    pub nonces: &'a [u64],
    /// The nonce that this call leaves.
    pub next: u64,
    /// The layout's generation, as the caller knows it.
    pub generation: u64,
}

impl Pass<'_> {
    /// Compares the run on record with the one that the caller has seen there.
    ///
    /// # Errors
    ///
    /// `Refused` where they differ: another server has met another run of this ledger.
    pub fn check_record(&self, found: Option<&str>) -> Result<(), SourceError> {
        let expected = self.record.map(InstanceId::as_str);
        if found == expected {
            return Ok(());
        }
        let said = |run: Option<&str>| run.unwrap_or("none").to_owned();
        let context = format!("run on record: found {}, expected {}", said(found), said(expected));
        Err(SourceError::new(ErrorKind::Refused, context))
    }
}

/// What a ledger says of itself on a fresh look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerInspection {
    /// Which run of which data is speaking.
    pub instance: InstanceId,
    /// The identity it made for itself once.
    pub id: LedgerId,
    /// One more with each call that opens an epoch, moves a ceiling or a `seen`, or gives dense numbers: two states of the rows
    /// never share a version, so a copy from before any of these is behind the marks.
    pub version: u64,
    /// How much outlives a crash.
    pub durability: Durability,
    /// Its wall clock, in milliseconds since 1970.
    pub clock_ms: u64,
    /// The engine's name and version, for people.
    pub engine: String,
    /// What tells that it takes writes from another master, too, which makes it no ledger; `None` also where it can't be seen.
    pub other_master: Option<String>,
}

/// The instances that the ledger has on record: its own, and each slot's store.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Known {
    /// Its own instance when it was last accepted; `None` for a new ledger.
    pub ledger: Option<InstanceId>,
    /// Each slot's store when it was last admitted, ascending by slot.
    pub stores: Vec<(SlotIndex, InstanceId)>,
}

/// The identity of a ledger and of those who call it.
pub trait Identity: Send + Sync {
    /// Whoever can look into it without changing anything; by default nobody can.
    fn examiner(&self) -> Option<&dyn ExamineLedger> {
        None
    }

    /// Opens a connection if need be, and reads what the ledger says of itself. Makes id and schema at first use.
    fn inspect(&self) -> BoxFuture<'_, Result<LedgerInspection, SourceError>>;

    /// Writes the caller's row with its first nonce, before its first [`Pass`]. Of many, rows of servers not
    /// seen for a day may go.
    fn enlist<'a>(
        &'a self,
        under: &'a InstanceId,
        server: ServerId,
        nonce: u64,
    ) -> BoxFuture<'a, Result<(), SourceError>>;

    /// Makes the ledger speak as a new instance, if it still speaks as `was`: by whoever found that it went back.
    /// Returns the instance in force afterwards.
    fn rebear<'a>(&'a self, was: &'a InstanceId) -> BoxFuture<'a, Result<InstanceId, SourceError>>;

    /// The instances on record.
    fn known(&self) -> BoxFuture<'_, Result<Known, SourceError>>;

    /// Records the ledger's own instance (`slot` is `None`) or a store's as accepted. Where another run of the ledger was on
    /// record, its version goes up by [`apart`] in the same step.
    fn record<'a>(
        &'a self,
        under: &'a InstanceId,
        slot: Option<SlotIndex>,
        instance: &'a InstanceId,
    ) -> BoxFuture<'a, Result<(), SourceError>>;
}
