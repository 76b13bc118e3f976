//! In-memory registers that yield to other tasks between read and swap.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use sequent_core::{
    Block, BoxFuture, Cell, Durability, DurabilityClass, Epoch, ErrorKind, Inspection, InstanceId, Key,
    SourceError, Stamp, Store,
};

use sequent_testkit::{SeededEntropy, seeded};

use super::{Register, Seen};
use crate::store::CellState;

/// The most yields after a lost race; the number is random up to it.
const PAUSE_MAX: u64 = 40;

#[derive(Default)]
struct Held {
    cells: BTreeMap<Key, (u64, CellState)>,
    swaps: u64,
    stamp: Option<Stamp>,
    mark: u64,
}

/// A store whose cells are in-memory registers.
#[derive(Clone)]
pub(super) struct TestModel {
    held: Arc<Mutex<Held>>,
    entropy: Arc<SeededEntropy>,
}

impl TestModel {
    pub(super) fn new() -> Self {
        Self { held: Arc::default(), entropy: Arc::new(seeded(20)) }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn register(&self, cell: &Cell<'_>) -> Result<Slot, SourceError> {
        if cell.under.as_str() != "twin" {
            return Err(SourceError::new(ErrorKind::InstanceChanged, "found twin"));
        }
        Ok(Slot { model: self.clone(), key: cell.key.clone() })
    }

    pub(super) fn delete(&self, key: &Key) -> bool {
        self.held().cells.remove(key).is_some()
    }
}

struct Slot {
    model: TestModel,
    key: Key,
}

impl Register for Slot {
    type Token = u64;
    type Fault = SourceError;

    async fn read(&mut self) -> Result<Option<Seen<u64>>, SourceError> {
        tokio::task::yield_now().await;
        let seen = self
            .model
            .held()
            .cells
            .get(&self.key)
            .map(|(token, state)| Seen { state: *state, token: *token });
        tokio::task::yield_now().await;
        Ok(seen)
    }

    async fn swap(&mut self, seen: &Seen<u64>, new: CellState) -> Result<bool, SourceError> {
        let mut held = self.model.held();
        held.swaps += 1;
        let next = held.swaps;
        let Some((token, state)) = held.cells.get_mut(&self.key) else { return Ok(false) };
        let same = *token == seen.token;
        if same {
            (*token, *state) = (next, new);
        }
        Ok(same)
    }

    async fn add(&mut self, new: CellState) -> Result<bool, SourceError> {
        let mut held = self.model.held();
        held.swaps += 1;
        let next = held.swaps;
        let absent = !held.cells.contains_key(&self.key);
        if absent {
            held.cells.insert(self.key.clone(), (next, new));
        }
        Ok(absent)
    }

    async fn pause(&mut self) {
        for _ in 0..self.model.entropy.below(PAUSE_MAX) {
            tokio::task::yield_now().await;
        }
    }
}

fn fits(what: &str, value: u64) -> Result<u64, SourceError> {
    if value <= Block::NUMBER_MAX {
        return Ok(value);
    }
    Err(SourceError::new(ErrorKind::Exhausted, format!("{what} {value} is above {}", Block::NUMBER_MAX)))
}

impl Store for TestModel {
    fn inspect(&self) -> BoxFuture<'_, Result<Inspection, SourceError>> {
        let held = self.held();
        let inspection = Inspection {
            instance: InstanceId::new("twin"),
            stamp: held.stamp.clone(),
            has_cells: !held.cells.is_empty(),
            durability: Durability { class: DurabilityClass::Volatile, settings: Vec::new() },
            clock_ms: 1_700_000_000_000,
            version: "twin".to_owned(),
        };
        Box::pin(std::future::ready(Ok(inspection)))
    }

    fn stamp<'a>(
        &'a self,
        under: &'a InstanceId,
        expected: Option<&'a Stamp>,
        new: &'a Stamp,
    ) -> BoxFuture<'a, Result<(), SourceError>> {
        Box::pin(async move {
            self.register(&Cell { key: &Key::from_stored(""), under })?;
            let mut held = self.held();
            if held.stamp.as_ref() != expected {
                let found = held.stamp.as_ref().map_or("none".to_owned(), ToString::to_string);
                return Err(SourceError::new(ErrorKind::Refused, format!("found {found}")));
            }
            held.stamp = Some(new.clone());
            Ok(())
        })
    }

    fn mark<'a>(&'a self, under: &'a InstanceId, version: u64) -> BoxFuture<'a, Result<u64, SourceError>> {
        Box::pin(async move {
            self.register(&Cell { key: &Key::from_stored(""), under })?;
            let mut held = self.held();
            held.mark = held.mark.max(version);
            Ok(held.mark)
        })
    }

    fn take<'a>(
        &'a self,
        cell: Cell<'a>,
        epoch: Epoch,
        want: u64,
    ) -> BoxFuture<'a, Result<Block, SourceError>> {
        Box::pin(async move {
            let (mut register, want) = (self.register(&cell)?, fits("count", want.max(1))?);
            super::take(&mut register, cell.key, epoch, want, None).await.map(|(block, _)| block)
        })
    }

    fn close<'a>(&'a self, cell: Cell<'a>, next: Epoch) -> BoxFuture<'a, Result<u64, SourceError>> {
        Box::pin(async move { super::close(&mut self.register(&cell)?, cell.key, next).await })
    }

    fn install<'a>(
        &'a self,
        cell: Cell<'a>,
        epoch: Epoch,
        base: u64,
    ) -> BoxFuture<'a, Result<(), SourceError>> {
        Box::pin(async move {
            let (mut register, base) = (self.register(&cell)?, fits("base", base)?);
            super::install(&mut register, cell.key, epoch, base).await
        })
    }

    fn lift<'a>(
        &'a self,
        cell: Cell<'a>,
        epoch: Epoch,
        floor: u64,
    ) -> BoxFuture<'a, Result<u64, SourceError>> {
        Box::pin(async move {
            let (mut register, floor) = (self.register(&cell)?, fits("floor", floor)?);
            super::lift(&mut register, cell.key, epoch, floor).await
        })
    }
}
