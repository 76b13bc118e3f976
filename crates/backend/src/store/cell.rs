//! What a cell holds, and what is said where a call finds another one.

use std::fmt;

use sequent_core::{Block, Epoch, ErrorKind, Key, SourceError, Stamp};

/// What a cell holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CellState {
    /// The stretch of history in force, or the one that it was closed for.
    pub(crate) epoch: Epoch,
    /// Whether it counts.
    pub(crate) open: bool,
    /// The highest id given.
    pub(crate) value: u64,
}

impl CellState {
    /// Whether it counts for this epoch.
    pub(crate) fn counts_for(&self, epoch: Epoch) -> bool {
        self.open && self.epoch == epoch
    }
}

/// What became of a stamp.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Swapped {
    /// It is the new one.
    Done,
    /// Another one than expected was there.
    Found(Option<String>),
}

impl Swapped {
    /// An error where another stamp was found.
    pub(super) fn expecting(self, expected: Option<&str>) -> Result<(), SourceError> {
        let Self::Found(found) = self else { return Ok(()) };
        let [found, expected] = [found.as_deref(), expected].map(|stamp| stamp.unwrap_or("none"));
        Err(SourceError::new(ErrorKind::Refused, format!("stamp: found {found}, expected {expected}")))
    }
}

/// The stamp that a text says.
pub(crate) fn parse_stamp(text: Option<&str>) -> Result<Option<Stamp>, SourceError> {
    let unreadable = |error| SourceError::new(ErrorKind::Refused, "stamp").because(error);
    text.map(str::parse).transpose().map_err(unreadable)
}

/// The ids of a take that left `last` in its cell.
pub(crate) fn block(last: u64, want: u64) -> Result<Block, SourceError> {
    Block::ending_at(last, want).map_err(SourceError::exhausted)
}

/// A value within the range.
pub(super) fn fitting(what: &str, of: &impl fmt::Display, value: u64) -> Result<u64, SourceError> {
    if value <= Block::NUMBER_MAX {
        return Ok(value);
    }
    let context = format!("{of}: {what} {value} is above {}", Block::NUMBER_MAX);
    Err(SourceError::new(ErrorKind::Exhausted, context))
}

/// The cell is missing, closed, or another epoch's.
pub(crate) fn regressed(key: &Key, epoch: Epoch, found: Option<CellState>) -> SourceError {
    let found = match found {
        None => "no cell".to_owned(),
        Some(state) if state.open => format!("a cell open for epoch {}", state.epoch),
        Some(state) => format!("a cell closed for epoch {}", state.epoch),
    };
    SourceError::new(ErrorKind::Regressed, format!("{key} in epoch {epoch}: found {found}"))
}
