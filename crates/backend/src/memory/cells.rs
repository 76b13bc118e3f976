//! Cells as a pure state machine: the reference for the calls of every store.

use std::collections::BTreeMap;

use sequent_core::{Block, Epoch, Key, Rule, Rules, SourceError, Stamp};

use super::CellState;
use crate::store::{CellRef, block, fitting, other_stamp};

/// All cells of a store, its stamp and its mark. It is pure data: a clone is a backup.
///
/// ```
/// use sequent_backend::memory::Cells;
/// use sequent_core::{Key, Epoch, Rules};
/// let (mut cells, key) = (Cells::new(Rules::ALL), Key::from_stored("order"));
/// let epoch = Epoch::from_stored(7);
/// assert!(cells.take(&key, epoch, 1).is_err(), "a take never creates");
/// assert_eq!(cells.close(&key, epoch)?, 0);
/// cells.install(&key, epoch, 100)?;
/// assert_eq!(cells.take(&key, epoch, 3)?.to_string(), "101..=103");
/// # Ok::<(), sequent_core::SourceError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cells {
    rules: Rules,
    held: BTreeMap<Key, CellState>,
    stamp: Option<Stamp>,
    mark: u64,
}

impl Cells {
    /// An empty store with these rules.
    pub const fn new(rules: Rules) -> Self {
        Self { rules, held: BTreeMap::new(), stamp: None, mark: 0 }
    }

    /// Adds `want` (0 counts as 1) to the cell, if it is open and of this epoch.
    pub fn take(&mut self, key: &Key, epoch: Epoch, want: u64) -> Result<Block, SourceError> {
        let (want, named) = (want.max(1), CellRef { key, epoch });
        let fresh = CellState { epoch, open: true, value: 0 };
        let rules = self.rules;
        let cell = match self.held.get_mut(key) {
            // R5
            Some(cell) if named.counts(Some(*cell)) || !rules.keep(Rule::EpochInTake) => cell,
            // R6
            None if !rules.keep(Rule::TakeNeverCreates) => self.held.entry(key.clone()).or_insert(fresh),
            found => return Err(named.regressed(found.copied())),
        };
        let value = fitting("value", key, cell.value.saturating_add(want))?;
        let block = block(value, want)?;
        cell.value = value;
        Ok(block)
    }

    /// Closes the cell for the next epoch and returns its value. A missing cell is created closed.
    pub fn close(&mut self, key: &Key, next: Epoch) -> Result<u64, SourceError> {
        let closed = CellState { epoch: next, open: false, value: 0 };
        let cell = self.held.entry(key.clone()).or_insert(closed);
        *cell = CellState { value: cell.value, ..closed };
        Ok(cell.value)
    }

    /// Opens the closed cell of this epoch at the greater of its value and `base`.
    pub fn install(&mut self, key: &Key, epoch: Epoch, base: u64) -> Result<(), SourceError> {
        let (base, named) = (fitting("base", key, base)?, CellRef { key, epoch });
        let found = self.held.get(key).copied();
        match found {
            Some(_) if named.counts(found) => return Ok(()),
            Some(cell) if cell.epoch == epoch => {}
            // R8
            _ if !self.rules.keep(Rule::InstallOnOwnClose) => {}
            _ => return Err(named.regressed(found)),
        }
        let value = found.map_or(0, |cell| cell.value).max(base);
        self.held.insert(key.clone(), CellState { epoch, open: true, value });
        Ok(())
    }

    /// Raises the value to `floor`, if it is lower and the cell is open and of this epoch. Returns the value
    /// afterwards.
    pub fn lift(&mut self, key: &Key, epoch: Epoch, floor: u64) -> Result<u64, SourceError> {
        let (value, named) = (fitting("floor", key, floor)?, CellRef { key, epoch });
        match self.held.get_mut(key) {
            Some(cell) if named.counts(Some(*cell)) => {
                cell.value = cell.value.max(value);
                Ok(cell.value)
            }
            // R7
            None if !self.rules.keep(Rule::LiftNeverCreates) => {
                self.held.insert(key.clone(), CellState { epoch, open: true, value });
                Ok(value)
            }
            found => Err(named.regressed(found.copied())),
        }
    }

    /// Removes a cell; returns whether there was one.
    pub fn remove(&mut self, key: &Key) -> bool {
        self.held.remove(key).is_some()
    }

    /// Replaces the stamp if it is `expected`.
    pub fn stamp(&mut self, expected: Option<&Stamp>, new: &Stamp) -> Result<(), SourceError> {
        if self.stamp.as_ref() != expected {
            let [found, expected] = [self.stamp.as_ref(), expected].map(|stamp| stamp.map(Stamp::to_string));
            return Err(other_stamp(found.as_deref(), expected.as_deref()));
        }
        self.stamp = Some(new.clone());
        Ok(())
    }

    /// Keeps the greater of the mark and `version`, and returns it; 0 only reads.
    pub fn mark(&mut self, version: u64) -> Result<u64, SourceError> {
        self.mark = self.mark.max(fitting("mark", &"the store", version)?);
        Ok(self.mark)
    }

    /// The stamp.
    pub const fn stamped(&self) -> Option<&Stamp> {
        self.stamp.as_ref()
    }

    /// Whether there is any cell.
    pub fn has_cells(&self) -> bool {
        !self.held.is_empty()
    }

    /// The cell of a key.
    pub fn cell(&self, key: &Key) -> Option<CellState> {
        self.held.get(key).copied()
    }

    /// Sets or removes a cell, as an operator or a fault might. Returns the cell before.
    pub fn put(&mut self, key: &Key, cell: Option<CellState>) -> Option<CellState> {
        match cell {
            Some(cell) => self.held.insert(key.clone(), cell),
            None => self.held.remove(key),
        }
    }

    /// Removes cells, stamp and mark.
    pub fn empty(&mut self) {
        *self = Self::new(self.rules);
    }
}
