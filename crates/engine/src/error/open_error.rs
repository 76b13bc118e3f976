//! The error of a start.

use sequent_core::{ErrorKind, SourceError};

use crate::config::Faults;

/// A cluster that was not opened.
#[derive(Debug, Clone, thiserror::Error)]
pub enum OpenError {
    /// The configuration has faults: all of them, each with place, key, value and bound. Nothing was changed.
    #[error("{0}")]
    Config(#[from] Faults),
    /// The cluster does not fit: the text names what was found and what was expected.
    #[error("{0}")]
    Refused(String),
    /// The ledger went back, or everything changed at once: an operator must declare the loss.
    #[error("{0}")]
    Recovery(String),
    /// There is no cluster, and this command creates none.
    #[error("{0}")]
    NoCluster(String),
    /// A ledger or store that is needed at the start is unavailable.
    #[error("{0}")]
    Unavailable(String),
}

impl OpenError {
    /// The exit code: 3 if refused, 4 if a retry may help, 1 without a cluster.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Config(_) | Self::Refused(_) | Self::Recovery(_) => 3,
            Self::NoCluster(_) => 1,
            Self::Unavailable(_) => 4,
        }
    }
}

impl From<SourceError> for OpenError {
    fn from(error: SourceError) -> Self {
        let kind = match error.kind() {
            ErrorKind::LedgerBehind => Self::Recovery,
            ErrorKind::Refused | ErrorKind::Jumped | ErrorKind::Regressed | ErrorKind::Unfit => Self::Refused,
            _ => Self::Unavailable,
        };
        kind(error.to_string())
    }
}
