//! Tokens that tell one stretch of history from another.

use std::{fmt, str::FromStr, sync::Arc};

use crate::Entropy;

/// A random token: one unbroken stretch of a counter's history, and a fencing token at once.
///
/// Within an epoch the store alone counts; from one epoch to the next only the ledger's ceiling counts.
/// Stores keep it as a signed 64-bit integer holding the same bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Epoch(u64);

impl Epoch {
    /// An epoch that nobody has had: never 0, so that a store's default is no epoch.
    pub fn random(entropy: &dyn Entropy) -> Self {
        Self(entropy.bits().max(1))
    }

    /// The epoch that no store ever has: of a row that a resize wrote, until the first epoch of that generation is opened.
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

impl fmt::Debug for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
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

/// How the name of no store begins.
const NOBODY: &str = "none: ";

/// Which run of which data of a store or ledger is speaking; learned once, when a connection is opened.
///
/// It changes at restart, failover and restore. Only equality has a meaning; the text is for people.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InstanceId(Arc<str>);

impl InstanceId {
    /// An instance from whatever the engine says of itself, joined to one text.
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// What a row names as its store while no store knows of its epoch: no store says that of itself, so whoever comes to
    /// it first opens the next one.
    ///
    /// ```
    /// use sequent_core::InstanceId;
    /// assert!(InstanceId::nobody("advanced").is_nobody() && !InstanceId::new("a file").is_nobody());
    /// ```
    pub fn nobody(why: &str) -> Self {
        Self(format!("{NOBODY}{why}").into())
    }

    /// Whether it stands for no store.
    pub fn is_nobody(&self) -> bool {
        self.0.starts_with(NOBODY)
    }

    /// The text, as it is kept in a ledger.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for InstanceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for InstanceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
