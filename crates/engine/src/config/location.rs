//! The location of a store or a ledger: memory, a file, or a server.

use std::{fmt, path::PathBuf};

use super::ServerPlace;

/// The location of a store or ledger. Printed without secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// An SQLite file; relative paths have been put under the data directory.
    Sqlite(PathBuf),
    /// A database of a server.
    Server(Box<ServerPlace>),
    /// This process's memory: test and bench only.
    Memory,
}

impl Place {
    /// The name in the configuration.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "sqlite",
            Self::Server(server) => server.kind.word,
            Self::Memory => "memory",
        }
    }

    /// Whether it is a file of this machine.
    pub const fn is_file(&self) -> bool {
        matches!(self, Self::Sqlite(_))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => fmt::Display::fmt(&path.display(), f),
            Self::Server(server) => fmt::Display::fmt(server, f),
            Self::Memory => f.write_str("this process's memory"),
        }
    }
}
