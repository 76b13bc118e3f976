//! In-memory registers that yield to other tasks between read and swap.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use sequent_core::{
    Block, Durability, DurabilityClass, Epoch, Examination, Inspection, InstanceId, Key, Sight,
};

use crate::{
    net::{self, Fault, Pool, Purpose, Server, ServerOptions},
    store::{
        CellRef, CellState, CoreStore, Counting, Examining, StoreConnection,
        cas::{self, Registers, Seen, won},
        other_stamp, parse_stamp,
    },
};

/// As many clients as the race has.
const CONNECTIONS_MAX: usize = 64;

#[derive(Debug, Default)]
struct Held {
    cells: BTreeMap<Key, (u64, CellState)>,
    swaps: u64,
    /// Whether each swap finds that another one was faster.
    loses: bool,
    stamp: Option<String>,
    mark: u64,
}

/// Cells in memory. A clone is another handle to the same ones.
#[derive(Debug, Clone, Default)]
pub(super) struct TestModel(Arc<Mutex<Held>>);

impl TestModel {
    /// Cells of which one is there, open and at 7. Each change of it loses its race.
    pub(super) fn losing(key: &Key, epoch: Epoch) -> Self {
        let state = CellState { epoch, open: true, value: 7 };
        let held = Held { cells: [(key.clone(), (0, state))].into(), loses: true, ..Held::default() };
        Self(Arc::new(Mutex::new(held)))
    }

    /// How many swaps were tried.
    pub(super) fn swaps(&self) -> u64 {
        self.held().swaps
    }

    /// A store on these cells.
    pub(super) fn store(&self) -> CoreStore<Pool<ModelServer>, Self> {
        CoreStore::on(Pool::new(ModelServer::new(self.clone())), self.clone())
    }

    /// Creates a cell; `false` if there is one already.
    fn add(&self, key: &Key, new: CellState) -> bool {
        let mut held = self.held();
        held.swaps += 1;
        let next = held.swaps;
        let absent = !held.cells.contains_key(key);
        if absent {
            held.cells.insert(key.clone(), (next, new));
        }
        absent
    }

    pub(super) fn delete(&self, key: &Key) -> bool {
        self.held().cells.remove(key).is_some()
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Registers<ModelConnection> for TestModel {
    type Token = u64;

    async fn read(&self, _: &mut ModelConnection, key: &Key) -> Result<Option<Seen<u64>>, Fault> {
        tokio::task::yield_now().await;
        let seen = self.held().cells.get(key).map(|(token, state)| Seen { state: *state, token: *token });
        tokio::task::yield_now().await;
        Ok(seen)
    }

    async fn swap(
        &self,
        _: &mut ModelConnection,
        key: &Key,
        seen: &Seen<u64>,
        new: CellState,
    ) -> Result<bool, Fault> {
        let mut held = self.held();
        held.swaps += 1;
        let (next, loses) = (held.swaps, held.loses);
        let Some((token, state)) = held.cells.get_mut(key) else { return Ok(false) };
        let same = *token == seen.token && !loses;
        if same {
            (*token, *state) = (next, new);
        }
        Ok(same)
    }
}

impl Counting<ModelConnection> for TestModel {
    async fn take(
        &self,
        connection: &mut ModelConnection,
        cell: CellRef<'_>,
        want: u64,
    ) -> Result<Block, Fault> {
        Ok(cas::take(self, connection, cell, want, None).await?.0)
    }

    async fn close(&self, connection: &mut ModelConnection, cell: CellRef<'_>) -> Result<u64, Fault> {
        if let Some(value) = cas::close(self, connection, cell).await? {
            return Ok(value);
        }
        let is_added = self.add(cell.key, cell.closed_at(0));
        won(cell, is_added)?;
        Ok(0)
    }

    async fn install(
        &self,
        connection: &mut ModelConnection,
        cell: CellRef<'_>,
        base: u64,
    ) -> Result<(), Fault> {
        cas::install(self, connection, cell, base).await
    }

    async fn lift(
        &self,
        connection: &mut ModelConnection,
        cell: CellRef<'_>,
        floor: u64,
    ) -> Result<u64, Fault> {
        cas::lift(self, connection, cell, floor).await
    }
}

impl Examining<ModelConnection> for TestModel {
    const LISTS_CELLS: bool = false;

    async fn examine(&self, connection: &mut ModelConnection, keys: &[Key]) -> Result<Examination, Fault> {
        let inspection = connection.inspect().await?;
        let held = self.held();
        let sight = |key| match held.cells.get(key) {
            None => Sight::Missing,
            Some((_, CellState { epoch, open, value })) => {
                Sight::Held { epoch: *epoch, open: *open, value: *value, expires_ms: None }
            }
        };
        let cells = keys.iter().map(sight).collect();
        Ok(Examination { inspection, mark: held.mark, cells, facts: Vec::new() })
    }
}

/// What answers for the cells.
pub(super) struct ModelServer {
    model: TestModel,
    options: ServerOptions,
}

impl ModelServer {
    pub(super) fn new(model: TestModel) -> Self {
        let options = ServerOptions::from_url("memcached://model").unwrap();
        Self { model, options: ServerOptions { connections_max: CONNECTIONS_MAX, ..options } }
    }
}

impl Server for ModelServer {
    type Connection = ModelConnection;

    async fn connect(&self, _: Purpose) -> Result<ModelConnection, Fault> {
        Ok(ModelConnection { model: self.model.clone(), instance: InstanceId::new("model") })
    }

    fn options(&self) -> &ServerOptions {
        &self.options
    }
}

pub(super) struct ModelConnection {
    model: TestModel,
    instance: InstanceId,
}

impl net::Connection for ModelConnection {
    fn instance(&self) -> &InstanceId {
        &self.instance
    }

    async fn ping(&mut self) -> Result<(), Fault> {
        Ok(())
    }
}

impl StoreConnection for ModelConnection {
    async fn inspect(&mut self) -> Result<Inspection, Fault> {
        let held = self.model.held();
        Ok(Inspection {
            instance: self.instance.clone(),
            stamp: parse_stamp(held.stamp.as_deref())?,
            has_cells: !held.cells.is_empty(),
            durability: Durability { class: DurabilityClass::Volatile, settings: Vec::new() },
            clock_ms: 1_700_000_000_000,
            version: "model".to_owned(),
        })
    }

    async fn swap_stamp(&mut self, expected: Option<&str>, new: &str) -> Result<(), Fault> {
        let mut held = self.model.held();
        if held.stamp.as_deref() != expected {
            return Err(other_stamp(held.stamp.as_deref(), expected).into());
        }
        held.stamp = Some(new.to_owned());
        Ok(())
    }

    async fn mark(&mut self, version: u64) -> Result<u64, Fault> {
        let mut held = self.model.held();
        held.mark = held.mark.max(version);
        Ok(held.mark)
    }
}
