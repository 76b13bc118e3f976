//! Compare-and-swap cells: conformance suite on an in-memory register, and the bound on tries.

mod model;

use std::sync::Arc;

use sequent_core::{BoxFuture, Cell, Epoch, ErrorKind, Key, Store};
use sequent_testkit::conformance::store::StoreFixture;

use super::Seen;
use crate::{
    net::{Purpose, Server as _},
    store::{CellRef, CellState},
};
use model::{ModelServer, TestModel};

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
const TRIES: u64 = 16;

#[tokio::test(start_paused = true)]
async fn lost_races_are_tried_again_within_a_bound() {
    let (key, epoch) = (Key::from_stored("order"), Epoch::from_stored(1));
    let (model, under) = (TestModel::losing(&key, epoch), sequent_core::InstanceId::new("model"));
    let store = model.store();
    let cell = Cell { key: &key, under: &under };
    let refusal = store.take(cell, epoch, 1).await.unwrap_err();
    assert_eq!((refusal.kind(), model.swaps()), (ErrorKind::Contended, TRIES));
    assert!(refusal.to_string().contains("order"), "{refusal}");
    let refusal = store.close(cell, epoch).await.unwrap_err();
    assert_eq!((refusal.kind(), model.swaps()), (ErrorKind::Contended, 2 * TRIES));
}

#[tokio::test]
async fn a_hint_of_another_epoch_is_not_used() {
    let (key, before) = (Key::from_stored("order"), Epoch::from_stored(1));
    let model = TestModel::losing(&key, before);
    let stale = Seen { state: CellState { epoch: before, open: true, value: 7 }, token: 0 };
    let mut connection = ModelServer::new(model.clone()).connect(Purpose::Use).await.unwrap();
    let cell = CellRef { key: &key, epoch: Epoch::from_stored(2) };
    let refusal = super::take(&model, &mut connection, cell, 1, Some(stale)).await.unwrap_err();
    assert_eq!(refusal.into_error("take").kind(), ErrorKind::Regressed);
}
