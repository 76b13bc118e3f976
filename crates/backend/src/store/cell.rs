//! Cells as calls name and find them, and the errors for a cell in an unexpected state.

use std::fmt;

use sequent_core::{Block, Epoch, ErrorKind, Key, SourceError, Stamp};

use crate::net::refused;

/// The cell of a key, in the epoch that a call names.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CellRef<'a> {
    pub(crate) key: &'a Key,
    pub(crate) epoch: Epoch,
}

impl fmt::Display for CellRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in epoch {}", self.key, self.epoch)
    }
}

impl CellRef<'_> {
    /// Whether a call in this epoch may count in such a cell.
    pub(crate) fn counts(self, found: Option<CellState>) -> bool {
        found.is_some_and(|state| state.open && state.epoch == self.epoch)
    }

    /// The state of a cell that is closed for this epoch.
    pub(crate) fn closed_at(self, value: u64) -> CellState {
        CellState { epoch: self.epoch, open: false, value }
    }

    /// Error for a cell that is missing, closed, or of another epoch.
    pub(crate) fn regressed(self, found: Option<CellState>) -> SourceError {
        let found = match found {
            None => "no cell".to_owned(),
            Some(state) if state.open => format!("a cell open for epoch {}", state.epoch),
            Some(state) => format!("a cell closed for epoch {}", state.epoch),
        };
        SourceError::new(ErrorKind::Regressed, format!("{self}: found {found}"))
    }

    /// Error for a take of `want` ids above `value` that would pass the end of the range.
    pub(crate) fn exhausted(self, want: u64, value: u64) -> SourceError {
        let context = format!("{}: {want} more than {value} is above {}", self.key, Block::NUMBER_MAX);
        SourceError::new(ErrorKind::Exhausted, context)
    }
}

/// The state of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CellState {
    /// The current epoch of an open cell, or the epoch that a closed one is closed for.
    pub epoch: Epoch,
    /// Whether ids can be taken; `false` from a close until the install for the same epoch.
    pub open: bool,
    /// The highest id taken, or the base.
    pub value: u64,
}

/// Error for another stamp than the expected one.
pub(crate) fn other_stamp(found: Option<&str>, expected: Option<&str>) -> SourceError {
    let [found, expected] = [found, expected].map(|stamp| stamp.unwrap_or("none"));
    refused(format!("stamp: found {found}, expected {expected}"))
}

/// Parses a stamp.
pub(crate) fn parse_stamp(text: Option<&str>) -> Result<Option<Stamp>, SourceError> {
    text.map(str::parse).transpose().map_err(|error| refused("stamp").because(error))
}

/// The ids of a take that left `last` in its cell.
pub(crate) fn block(last: u64, want: u64) -> Result<Block, SourceError> {
    Block::ending_at(last, want).map_err(SourceError::exhausted)
}

/// The value, if it is within a counter's range.
pub(crate) fn fitting(what: &str, of: &impl fmt::Display, value: u64) -> Result<u64, SourceError> {
    if value <= Block::NUMBER_MAX {
        return Ok(value);
    }
    let context = format!("{of}: {what} {value} is above {}", Block::NUMBER_MAX);
    Err(SourceError::new(ErrorKind::Exhausted, context))
}
