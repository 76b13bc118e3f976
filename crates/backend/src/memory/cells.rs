//! Cells as a pure state machine: the reference for the calls of every store.

use std::collections::BTreeMap;

use sequent_core::{Block, Epoch, ErrorKind, Key, Rule, Rules, SourceError, Stamp};

/// The state of one counter's cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CellState {
    /// The current epoch of an open cell, or the epoch that a closed one is closed for.
    pub epoch: Epoch,
    /// Whether ids can be taken; `false` from a close until the install for the same epoch.
    pub open: bool,
    /// The highest id taken, or the base.
    pub value: u64,
}

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
        let want = want.max(1);
        let fresh = CellState { epoch, open: true, value: 0 };
        let rules = self.rules;
        let cell = match self.held.get_mut(key) {
            // R5
            Some(cell) if counts(cell, epoch) || !rules.keep(Rule::EpochInTake) => cell,
            // R6
            None if !rules.keep(Rule::TakeNeverCreates) => self.held.entry(key.clone()).or_insert(fresh),
            found => return Err(regressed("take", key, epoch, found.as_deref())),
        };
        let value = bounded("take", key, cell.value.saturating_add(want))?;
        let block = Block::ending_at(value, want).map_err(SourceError::exhausted)?;
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
        let base = bounded("install", key, base)?;
        let found = self.held.get(key).copied();
        match found {
            Some(cell) if counts(&cell, epoch) => return Ok(()),
            Some(cell) if cell.epoch == epoch => {}
            // R8
            _ if !self.rules.keep(Rule::InstallOnOwnClose) => {}
            _ => return Err(regressed("install", key, epoch, found.as_ref())),
        }
        let value = found.map_or(0, |cell| cell.value).max(base);
        self.held.insert(key.clone(), CellState { epoch, open: true, value });
        Ok(())
    }

    /// Raises the value to `floor`, if it is lower and the cell is open and of this epoch. Returns the value
    /// afterwards.
    pub fn lift(&mut self, key: &Key, epoch: Epoch, floor: u64) -> Result<u64, SourceError> {
        let value = bounded("lift", key, floor)?;
        match self.held.get_mut(key) {
            Some(cell) if counts(cell, epoch) => {
                cell.value = cell.value.max(value);
                Ok(cell.value)
            }
            // R7
            None if !self.rules.keep(Rule::LiftNeverCreates) => {
                self.held.insert(key.clone(), CellState { epoch, open: true, value });
                Ok(value)
            }
            found => Err(regressed("lift", key, epoch, found.as_deref())),
        }
    }

    /// Removes a cell; returns whether there was one.
    pub fn remove(&mut self, key: &Key) -> bool {
        self.held.remove(key).is_some()
    }

    /// Replaces the stamp if it is `expected`.
    pub fn stamp(&mut self, expected: Option<&Stamp>, new: &Stamp) -> Result<(), SourceError> {
        if self.stamp.as_ref() != expected {
            let text = |stamp: Option<&Stamp>| stamp.map_or("none".to_owned(), ToString::to_string);
            let (found, expected) = (text(self.stamp.as_ref()), text(expected));
            let context = format!("stamp: found {found}, expected {expected}");
            return Err(SourceError::new(ErrorKind::Refused, context));
        }
        self.stamp = Some(new.clone());
        Ok(())
    }

    /// Keeps the greater of the mark and `version`, and returns it; 0 only reads.
    pub fn mark(&mut self, version: u64) -> Result<u64, SourceError> {
        if version > Block::NUMBER_MAX {
            let context = format!("mark is {version}: at most {} is allowed", Block::NUMBER_MAX);
            return Err(SourceError::new(ErrorKind::Exhausted, context));
        }
        self.mark = self.mark.max(version);
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

fn counts(cell: &CellState, epoch: Epoch) -> bool {
    cell.open && cell.epoch == epoch
}

fn bounded(verb: &str, key: &Key, value: u64) -> Result<u64, SourceError> {
    if value > Block::NUMBER_MAX {
        let context = format!("{verb} {key}: value {value} is above {}", Block::NUMBER_MAX);
        return Err(SourceError::new(ErrorKind::Exhausted, context));
    }
    Ok(value)
}

fn regressed(verb: &str, key: &Key, epoch: Epoch, found: Option<&CellState>) -> SourceError {
    let found = match found {
        None => "no cell".to_owned(),
        Some(cell) if cell.open => format!("a cell open for epoch {}", cell.epoch),
        Some(cell) => format!("a cell closed for epoch {}", cell.epoch),
    };
    SourceError::new(ErrorKind::Regressed, format!("{verb} {key} in epoch {epoch}: found {found}"))
}
