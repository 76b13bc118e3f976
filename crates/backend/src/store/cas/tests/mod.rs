//! Compare-and-swap cells: conformance suite on an in-memory register, and the bound on tries.

mod model;

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use sequent_core::{Block, BoxFuture, Cell, Epoch, ErrorKind, Examination, Key, Store};
use sequent_testkit::conformance::store::StoreFixture;

use super::{Registers, Seen};
use crate::{
    net::{Fault, Pool, Server as _},
    store::{CellRef, CellState, CoreStore, Counting, Examining, cas},
};
use model::{ModelConnection, ModelServer, TestModel};

impl StoreFixture for TestModel {
    fn open(&self) -> BoxFuture<'_, Arc<dyn Store>> {
        Box::pin(std::future::ready(Arc::new(self.store()) as Arc<dyn Store>))
    }

    fn delete<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, bool> {
        Box::pin(std::future::ready(TestModel::delete(self, key)))
    }
}

sequent_testkit::store_conformance!(TestModel::default());

/// The tries of an operation that collides with others on a server.
const TRIES: u32 = 16;

/// Registers that lose every race.
#[derive(Default)]
struct Busy {
    swaps: Arc<AtomicU32>,
}

impl Registers<ModelConnection> for Busy {
    type Token = ();

    async fn read(&self, _: &mut ModelConnection, _: &Key) -> Result<Option<Seen<()>>, Fault> {
        Ok(Some(Seen { state: CellState { epoch: Epoch::from_stored(1), open: true, value: 7 }, token: () }))
    }

    async fn swap(
        &self,
        _: &mut ModelConnection,
        _: &Key,
        _: &Seen<()>,
        _: CellState,
    ) -> Result<bool, Fault> {
        self.swaps.fetch_add(1, Ordering::Relaxed);
        Ok(false)
    }
}

impl Counting<ModelConnection> for Busy {
    async fn take(
        &self,
        connection: &mut ModelConnection,
        cell: CellRef<'_>,
        want: u64,
    ) -> Result<Block, Fault> {
        Ok(cas::take(self, connection, cell, want, None).await?.0)
    }

    async fn close(&self, connection: &mut ModelConnection, cell: CellRef<'_>) -> Result<u64, Fault> {
        Ok(cas::close(self, connection, cell).await?.unwrap_or(0))
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

impl Examining<ModelConnection> for Busy {
    async fn examine(&self, _: &mut ModelConnection, _: &[Key]) -> Result<Examination, Fault> {
        Err(Fault::away("nothing is examined here"))
    }
}

#[tokio::test(start_paused = true)]
async fn lost_races_are_tried_again_within_a_bound() {
    let busy = Busy::default();
    let swaps = Arc::clone(&busy.swaps);
    let store = CoreStore::on(Pool::new(ModelServer::new(TestModel::default())), busy);
    let (key, epoch, under) =
        (Key::from_stored("order"), Epoch::from_stored(1), sequent_core::InstanceId::new("model"));
    let cell = Cell { key: &key, under: &under };
    let refusal = store.take(cell, epoch, 1).await.unwrap_err();
    assert_eq!((refusal.kind(), swaps.load(Ordering::Relaxed)), (ErrorKind::Contended, TRIES));
    assert!(refusal.to_string().contains("order"), "{refusal}");
    let refusal = store.close(cell, epoch).await.unwrap_err();
    assert_eq!((refusal.kind(), swaps.load(Ordering::Relaxed)), (ErrorKind::Contended, 2 * TRIES));
}

#[tokio::test]
async fn a_hint_of_another_epoch_is_not_used() {
    let (key, epoch) = (Key::from_stored("order"), Epoch::from_stored(2));
    let stale = Seen { state: CellState { epoch: Epoch::from_stored(1), open: true, value: 7 }, token: () };
    let mut connection = ModelServer::new(TestModel::default()).connect(true).await.unwrap();
    let cell = CellRef { key: &key, epoch };
    let refusal = super::take(&Busy::default(), &mut connection, cell, 1, Some(stale)).await.unwrap_err();
    assert_eq!(refusal.into_error("take").kind(), ErrorKind::Regressed);
}
