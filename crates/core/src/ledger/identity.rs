//! Identity of a ledger and of its callers, and detection of a ledger that went back.

use std::{
    fmt,
    hash::{DefaultHasher, Hash, Hasher},
};

use crate::{
    Durability, Entropy, ErrorKind, ExamineLedger, InstanceId, LedgerId, Reply, SlotIndex, SourceError,
};

/// The least distance between the first versions of two instances of the same ledger data. It exceeds the number of calls that
/// either makes before its servers read a mark.
pub const RUNS_APART: u64 = 1 << 20;

/// The jump of a ledger's version when `run` replaces another instance on record. Without it, a copy started beside the
/// original would count up to the same versions, and no mark could distinguish the two.
pub fn apart(run: &InstanceId) -> u64 {
    let mut hasher = DefaultHasher::new();
    run.as_str().hash(&mut hasher);
    RUNS_APART + hasher.finish() % RUNS_APART
}

/// Id of a server process in the ledger; random.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ServerId(pub u64);

impl ServerId {
    /// A new id.
    pub fn random(entropy: &dyn Entropy) -> Self {
        Self(entropy.bits())
    }
}

impl fmt::Debug for ServerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// Credentials that a caller sends with each call that writes; see the [module](super).
#[derive(Debug, Clone, Copy)]
pub struct Pass<'a> {
    /// The instance of the ledger under which the caller's grants were given.
    pub under: &'a InstanceId,
    /// The instance on record in the ledger, as the caller last saw it; `None` if there was none.
    pub record: Option<&'a InstanceId>,
    /// The calling server.
    pub server: ServerId,
    /// The nonces that the caller's row may hold: the last acknowledged one, and those of calls whose outcome is unknown.
    pub nonces: &'a [u64],
    /// The nonce that this call writes.
    pub next: u64,
    /// The layout's generation, as the caller knows it.
    pub generation: u64,
}

impl Pass<'_> {
    /// Compares the instance on record with the one that the caller saw there.
    ///
    /// # Errors
    ///
    /// `Refused` if they differ: another server has met another instance of this ledger.
    pub fn check_record(&self, found: Option<&str>) -> Result<(), SourceError> {
        let expected = self.record.map(InstanceId::as_str);
        if found == expected {
            return Ok(());
        }
        let said = |run: Option<&str>| run.unwrap_or("none").to_owned();
        let context = format!("instance on record: found {}, expected {}", said(found), said(expected));
        Err(SourceError::new(ErrorKind::Refused, context))
    }
}

/// The ledger's description of itself at a fresh look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerInspection {
    /// Which instance of which data answered.
    pub instance: InstanceId,
    /// The identity that it created once.
    pub id: LedgerId,
    /// The version: one more with each call that opens an epoch, moves a ceiling or a `seen`, or gives dense numbers.
    ///
    /// Two states of the rows never share a version. A backup from before such a call is therefore behind the marks.
    pub version: u64,
    /// How much survives a crash.
    pub durability: Durability,
    /// Its wall clock, in milliseconds since 1970.
    pub clock_ms: u64,
    /// The engine's name and version, for people.
    pub engine: String,
    /// Evidence that it also accepts writes from another master, which makes it unfit as a ledger. `None` if there is none, or
    /// if it cannot be seen.
    pub other_master: Option<String>,
}

/// Instances on record: the ledger's own, and each slot's store.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Known {
    /// The ledger's own instance when it was last accepted; `None` for a new ledger.
    pub ledger: Option<InstanceId>,
    /// Each slot's store instance when it was last admitted, ascending by slot.
    pub stores: Vec<(SlotIndex, InstanceId)>,
}

/// Identity of a ledger and of its callers.
pub trait Identity: Send + Sync {
    /// The examiner, which reads without changing anything; `None` by default.
    fn examiner(&self) -> Option<&dyn ExamineLedger> {
        None
    }

    /// Opens a connection if needed, and reads the ledger's description of itself. The first use creates id and schema.
    fn inspect(&self) -> Reply<'_, LedgerInspection>;

    /// Writes the caller's row with its first nonce; required before its first [`Pass`]. If there are many rows, those of
    /// servers not seen for a day may be deleted.
    fn enlist<'a>(&'a self, under: &'a InstanceId, server: ServerId, nonce: u64) -> Reply<'a, ()>;

    /// Gives the ledger a new instance id if it still has `was`. Called by a server that found that the ledger went back.
    /// Returns the id in force afterwards.
    fn rebear<'a>(&'a self, was: &'a InstanceId) -> Reply<'a, InstanceId>;

    /// The instances on record.
    fn known(&self) -> Reply<'_, Known>;

    /// Records the instance of the ledger (`slot` is `None`) or of a store as accepted. If another instance of the ledger was
    /// on record, the version goes up by [`apart`] in the same step.
    fn record<'a>(
        &'a self,
        under: &'a InstanceId,
        slot: Option<SlotIndex>,
        instance: &'a InstanceId,
    ) -> Reply<'a, ()>;
}
