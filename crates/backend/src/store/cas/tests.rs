//! Compare-and-swap cells: conformance suite on an in-memory register, and the bound on tries.

use std::sync::Arc;

use sequent_core::{BoxFuture, Epoch, ErrorKind, Key, SourceError, Store};
use sequent_testkit::conformance::store::StoreFixture;

use crate::store::CellState;

use super::{ROUNDS_MAX, Register, Seen, test_model::TestModel};

impl StoreFixture for TestModel {
    fn open(&self) -> BoxFuture<'_, Arc<dyn Store>> {
        Box::pin(std::future::ready(Arc::new(self.clone()) as Arc<dyn Store>))
    }

    fn delete<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, bool> {
        Box::pin(std::future::ready(TestModel::delete(self, key)))
    }
}

sequent_testkit::store_conformance!(TestModel::new());

/// A register that loses every race.
struct Busy {
    swaps: u32,
}

impl Register for Busy {
    type Token = ();
    type Fault = SourceError;

    async fn read(&mut self) -> Result<Option<Seen<()>>, SourceError> {
        Ok(Some(Seen { state: CellState { epoch: Epoch::from_stored(1), open: true, value: 7 }, token: () }))
    }

    async fn swap(&mut self, _: &Seen<()>, _: CellState) -> Result<bool, SourceError> {
        self.swaps += 1;
        Ok(false)
    }

    async fn add(&mut self, _: CellState) -> Result<bool, SourceError> {
        Ok(false)
    }

    async fn pause(&mut self) {}
}

#[tokio::test]
async fn lost_races_are_tried_again_within_a_bound() {
    let (key, epoch) = (Key::from_stored("order"), Epoch::from_stored(1));
    let mut busy = Busy { swaps: 0 };
    let refusal = super::take(&mut busy, &key, epoch, 1, None).await.unwrap_err();
    assert_eq!((refusal.kind(), busy.swaps), (ErrorKind::Contended, ROUNDS_MAX));
    let refusal = super::close(&mut busy, &key, epoch).await.unwrap_err();
    assert_eq!((refusal.kind(), busy.swaps), (ErrorKind::Contended, 2 * ROUNDS_MAX));
}

#[tokio::test]
async fn a_hint_of_another_epoch_is_not_used() {
    let (key, epoch) = (Key::from_stored("order"), Epoch::from_stored(2));
    let stale = Seen { state: CellState { epoch: Epoch::from_stored(1), open: true, value: 7 }, token: () };
    let refusal = super::take(&mut Busy { swaps: 0 }, &key, epoch, 1, Some(stale)).await.unwrap_err();
    assert_eq!(refusal.kind(), ErrorKind::Regressed);
}
