//! Store in memory: [`Cells`] behind a mutex, with an instance that changes whenever the data may have gone back.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sequent_core::{
    Block, BoxFuture, Cell, Clock, Durability, DurabilityClass, Entropy, Epoch, ErrorKind, Inspection,
    InstanceId, Key, Rule, Rules, SourceError, Stamp, Store,
};

use super::{Cells, CurrentInstance, pause};

/// A volatile store. A clone is another handle to the same data, like one in another process.
///
/// The methods beside those of the trait inject faults for tests.
#[derive(Debug, Clone)]
pub struct MemoryStore {
    held: Arc<Mutex<Held>>,
    clock: Arc<dyn Clock>,
    rules: Rules,
    yields: bool,
}

#[derive(Debug, Clone)]
struct Held {
    cells: Cells,
    current: CurrentInstance,
    away: bool,
    class: DurabilityClass,
}

impl MemoryStore {
    /// An empty store.
    pub fn new(clock: Arc<dyn Clock>, entropy: &dyn Entropy) -> Self {
        Self::with_rules(clock, entropy, Rules::ALL)
    }

    /// An empty store with only some of the guard's rules.
    pub fn with_rules(clock: Arc<dyn Clock>, entropy: &dyn Entropy, rules: Rules) -> Self {
        let (cells, current) = (Cells::new(rules), CurrentInstance::new("memory", entropy));
        let held = Held { cells, current, away: false, class: DurabilityClass::Volatile };
        Self { held: Arc::new(Mutex::new(held)), clock, rules, yields: false }
    }

    /// The same store, reporting another durability class: for tests that script its faults.
    #[must_use]
    pub fn posing_as(self, class: DurabilityClass) -> Self {
        self.pose_as(class);
        self
    }

    /// Reports another durability class from now on, under the same instance, like a setting changed while a server
    /// runs.
    pub fn pose_as(&self, class: DurabilityClass) {
        self.held().class = class;
    }

    /// The same store, yielding to other tasks before and after each call acts: for tests of what happens in between.
    #[must_use]
    pub fn yielding(self) -> Self {
        Self { yields: true, ..self }
    }

    /// A copy of the data, like a backup.
    pub fn snapshot(&self) -> Cells {
        self.held().cells.clone()
    }

    /// Restarts from a copy, as a new instance.
    pub fn restore(&self, copy: Cells) {
        let mut held = self.held();
        held.cells = copy;
        held.current.renew();
    }

    /// Goes back to a copy under the same instance, like a file overwritten while in use.
    pub fn restore_in_place(&self, copy: Cells) {
        self.held().cells = copy;
    }

    /// Restarts without data, as a new instance.
    pub fn empty(&self) {
        let mut held = self.held();
        held.cells.empty();
        held.current.renew();
    }

    /// Restarts with all data, as a new instance.
    pub fn restart(&self) {
        self.held().current.renew();
    }

    /// Deletes a cell directly, unseen by servers; returns whether there was one.
    pub fn delete(&self, key: &Key) -> bool {
        self.held().cells.put(key, None).is_some()
    }

    /// Sets a cell's value directly; returns whether there is such a cell.
    pub fn set_value(&self, key: &Key, value: u64) -> bool {
        let mut held = self.held();
        let cell = held.cells.cell(key);
        cell.is_some_and(|cell| held.cells.put(key, Some(super::CellState { value, ..cell })).is_some())
    }

    /// Makes the store unreachable, or reachable again. While it is away, every call is `Unavailable` and changes
    /// nothing.
    pub fn set_away(&self, away: bool) {
        self.held().away = away;
    }

    /// A second store with the same data and instance: an old primary after another copy was promoted.
    #[must_use]
    pub fn parted(&self) -> Self {
        let held = self.held().clone();
        Self { held: Arc::new(Mutex::new(held)), ..self.clone() }
    }

    /// The current instance.
    pub fn instance(&self) -> InstanceId {
        self.held().current.instance().clone()
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        // Poisoning is ignored: each call changes one field last, so a panic leaves no half-written state.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn verb<'a, T: Send + 'a>(
        &'a self,
        act: impl FnOnce(&mut Held) -> Result<T, SourceError> + Send + 'a,
    ) -> BoxFuture<'a, Result<T, SourceError>> {
        Box::pin(async move {
            pause(self.yields).await;
            let answer = self.reach().and_then(|mut held| act(&mut held));
            pause(self.yields).await;
            answer
        })
    }

    fn reach(&self) -> Result<MutexGuard<'_, Held>, SourceError> {
        let held = self.held();
        if held.away {
            return Err(SourceError::new(ErrorKind::Unavailable, "memory store is switched away"));
        }
        Ok(held)
    }

    fn cell_verb<'a, T: Send + 'a>(
        &'a self,
        under: &'a InstanceId,
        act: impl FnOnce(&mut Cells) -> Result<T, SourceError> + Send + 'a,
    ) -> BoxFuture<'a, Result<T, SourceError>> {
        self.verb(move |held| {
            // R1
            if self.rules.keep(Rule::SameConnection) {
                held.current.check(under)?;
            }
            act(&mut held.cells)
        })
    }
}

impl Store for MemoryStore {
    fn inspect(&self) -> BoxFuture<'_, Result<Inspection, SourceError>> {
        self.verb(|held| {
            Ok(Inspection {
                instance: held.current.instance().clone(),
                stamp: held.cells.stamped().cloned(),
                has_cells: held.cells.has_cells(),
                durability: Durability { class: held.class, settings: Vec::new() },
                clock_ms: self.clock.wall_ms(),
                version: super::VERSION.to_owned(),
            })
        })
    }

    fn stamp<'a>(
        &'a self,
        under: &'a InstanceId,
        expected: Option<&'a Stamp>,
        new: &'a Stamp,
    ) -> BoxFuture<'a, Result<(), SourceError>> {
        self.cell_verb(under, move |cells| cells.stamp(expected, new))
    }

    fn mark<'a>(&'a self, under: &'a InstanceId, version: u64) -> BoxFuture<'a, Result<u64, SourceError>> {
        self.cell_verb(under, move |cells| cells.mark(version))
    }

    fn take<'a>(
        &'a self,
        cell: Cell<'a>,
        epoch: Epoch,
        want: u64,
    ) -> BoxFuture<'a, Result<Block, SourceError>> {
        self.cell_verb(cell.under, move |cells| cells.take(cell.key, epoch, want))
    }

    fn close<'a>(&'a self, cell: Cell<'a>, next: Epoch) -> BoxFuture<'a, Result<u64, SourceError>> {
        self.cell_verb(cell.under, move |cells| cells.close(cell.key, next))
    }

    fn install<'a>(
        &'a self,
        cell: Cell<'a>,
        epoch: Epoch,
        base: u64,
    ) -> BoxFuture<'a, Result<(), SourceError>> {
        self.cell_verb(cell.under, move |cells| cells.install(cell.key, epoch, base))
    }

    fn lift<'a>(
        &'a self,
        cell: Cell<'a>,
        epoch: Epoch,
        floor: u64,
    ) -> BoxFuture<'a, Result<u64, SourceError>> {
        self.cell_verb(cell.under, move |cells| cells.lift(cell.key, epoch, floor))
    }

    fn remove<'a>(&'a self, cell: Cell<'a>) -> BoxFuture<'a, Result<bool, SourceError>> {
        self.cell_verb(cell.under, move |cells| Ok(cells.remove(cell.key)))
    }
}
