//! Epoch (a counter's fencing token) and instance id (of a running store or ledger).

use std::{fmt, str::FromStr, sync::Arc};

use crate::Entropy;

/// Fencing token: a random number that stands for one uninterrupted part of a counter's history.
///
/// Within an epoch only the store's cell counts. From one epoch to the next, only the ledger's ceiling is trusted. Stores keep
/// it as a signed 64-bit integer with the same bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Epoch(u64);

impl Epoch {
    /// A new epoch. It is never 0, so that a store's default value is no epoch.
    pub fn random(entropy: &dyn Entropy) -> Self {
        Self(entropy.bits().max(1))
    }

    /// The epoch of a row written by a resize, until the first real epoch of that generation is opened. No store ever has it.
    pub const fn of_generation(generation: u64) -> Self {
        Self(u64::MAX - generation)
    }

    /// The epoch with these bits, as a store keeps them.
    #[allow(clippy::cast_sign_loss, reason = "the bits are what counts")]
    pub const fn from_stored(bits: i64) -> Self {
        Self(bits as u64)
    }

    /// The bits as a store keeps them.
    #[allow(clippy::cast_possible_wrap, reason = "the bits are what counts")]
    pub const fn to_stored(self) -> i64 {
        self.0 as i64
    }
}

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl FromStr for Epoch {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        u64::from_str_radix(text, 16).map(Self)
    }
}

/// Prefix of instance ids that stand for no store.
const NOBODY: &str = "none: ";

/// Instance of a store or ledger: which run of which data answers. It is read once, when a connection is opened.
///
/// It changes at restart, failover and restore. Only equality has a meaning; the text is for people.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InstanceId(Arc<str>);

impl InstanceId {
    /// An instance id from the engine's description of itself, joined to one text.
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// Placeholder for the store in a row whose epoch no store knows. No real store has this id, so the first server to use the
    /// row opens a new epoch.
    ///
    /// ```
    /// use sequent_core::InstanceId;
    /// assert!(InstanceId::nobody("advanced").is_nobody() && !InstanceId::new("a file").is_nobody());
    /// ```
    pub fn nobody(why: &str) -> Self {
        Self(format!("{NOBODY}{why}").into())
    }

    /// Whether it is such a placeholder.
    pub fn is_nobody(&self) -> bool {
        self.0.starts_with(NOBODY)
    }

    /// The text as kept in a ledger.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for InstanceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
