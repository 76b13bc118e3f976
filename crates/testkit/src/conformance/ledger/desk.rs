//! A server at the ledger, as the guard's guard is one: a handle, an instance, a row with nonces.

use std::sync::Arc;

use sequent_core::{
    Epoch, ErrorKind, InstanceId, Key, SlotIndex, SourceError,
    ledger::{
        Answer, Counter, LayoutRecord, Ledger, Opened, Opening, Over, Pass, Presence, Raise, Raised, Row,
        ServerId,
    },
};

use super::{super::Checked, LedgerFixture};

/// The generation of the layout that every check founds.
pub(super) const GENERATION: u64 = 1;

/// So far a first ceiling lies above its base.
pub(super) const AHEAD: u64 = 100;

/// A server with its handle.
#[derive(Clone)]
pub(super) struct Desk {
    pub(super) ledger: Arc<dyn Ledger>,
    pub(super) under: InstanceId,
    pub(super) record: Option<InstanceId>,
    pub(super) server: ServerId,
    pub(super) nonces: Vec<u64>,
    pub(super) generation: u64,
    pub(super) drawn: u64,
}

impl Desk {
    /// Founds the layout if need be, and enlists.
    pub(super) async fn of(fixture: &dyn LedgerFixture, server: u64) -> Result<Self, SourceError> {
        let ledger = fixture.open().await;
        let under = ledger.inspect().await?.instance;
        ledger.found(&layout()).await?;
        let server = ServerId(server);
        ledger.enlist(&under, server, server.0 * 1_000_000).await?;
        let (record, nonces) = (ledger.known().await?.ledger, vec![server.0 * 1_000_000]);
        Ok(Self { ledger, under, record, server, nonces, generation: GENERATION, drawn: 0 })
    }

    /// Puts the run that speaks on record.
    pub(super) async fn put_on_record(&mut self) -> Checked {
        self.ledger.record(&self.under, None, &self.under).await?;
        self.record = Some(self.under.clone());
        Ok(())
    }

    /// A nonce that this server has not used.
    pub(super) fn draw(&mut self) -> u64 {
        self.drawn += 1;
        self.server.0 * 1_000_000 + self.drawn
    }

    pub(super) fn pass(&self, next: u64) -> Pass<'_> {
        let Self { under, server, nonces, generation, .. } = self;
        Pass { under, record: self.record.as_ref(), server: *server, nonces, next, generation: *generation }
    }

    pub(super) async fn open(&mut self, openings: &[Opening]) -> Result<Answer<Vec<Opened>>, SourceError> {
        let next = self.draw();
        let answer = self.ledger.open(self.pass(next), openings).await?;
        self.nonces = vec![next];
        Ok(answer)
    }

    pub(super) async fn raise(&mut self, raises: &[Raise]) -> Result<Answer<Vec<Raised>>, SourceError> {
        let next = self.draw();
        let answer = self.ledger.raise(self.pass(next), raises).await?;
        self.nonces = vec![next];
        Ok(answer)
    }

    pub(super) async fn heartbeat(&mut self, raises: &[Raise]) -> Result<Answer<Presence>, SourceError> {
        let next = self.draw();
        let answer = self.ledger.heartbeat(self.pass(next), raises).await?;
        self.nonces = vec![next];
        Ok(answer)
    }

    /// Opens one epoch, which must not jump.
    pub(super) async fn open_one(&mut self, opening: Opening) -> Result<Row, SourceError> {
        let answer = self.open(&[opening]).await?;
        match answer.value.as_slice() {
            [Opened::Row(row)] => Ok(row.clone()),
            found => panic!("expected a row, found {found:?}"),
        }
    }

    /// Raises one ceiling, which must be held.
    pub(super) async fn raise_one(&mut self, raise: Raise) -> Result<(u64, u64), SourceError> {
        let answer = self.raise(&[raise]).await?;
        match answer.value.as_slice() {
            [Raised::Held { ceiling, seen }] => Ok((*ceiling, *seen)),
            found => panic!("expected a ceiling, found {found:?}"),
        }
    }

    pub(super) async fn row(&self, counter: &Counter) -> Result<Option<Row>, SourceError> {
        let mut reading = self.ledger.read(&self.under, std::slice::from_ref(counter)).await?;
        assert_eq!(reading.rows.len(), 1, "one answer to one ask");
        Ok(reading.rows.remove(0))
    }

    pub(super) async fn version(&self) -> Result<u64, SourceError> {
        Ok(self.ledger.inspect().await?.version)
    }

    /// Asserts that the row is there and as it was.
    pub(super) async fn unchanged(&self, counter: &Counter, row: &Row) -> Checked {
        assert_eq!(self.row(counter).await?.as_ref(), Some(row), "the row of {counter:?} was changed");
        Ok(())
    }
}

/// The layout that every check founds.
pub(super) fn layout() -> LayoutRecord {
    let layout = sequent_core::Layout::new(2, 6);
    match (layout, "shop-eu".parse()) {
        (Ok(layout), Ok(cluster)) => LayoutRecord { cluster, layout, generation: GENERATION },
        faults => panic!("the layout of the checks is wrong: {faults:?}"),
    }
}

pub(super) fn counter(slot: SlotIndex, key: &str) -> Counter {
    Counter { slot, key: Key::from_stored(key) }
}

pub(super) fn epoch(bits: i64) -> Epoch {
    Epoch::from_stored(bits)
}

/// An opening under a store's first instance, whose jump bound is no matter.
pub(super) fn opening(counter: &Counter, bits: i64, value: u64) -> Opening {
    let store = InstanceId::new("store 1");
    let (counter, epoch) = (counter.clone(), epoch(bits));
    Opening { counter, epoch, over: Over::Any, store, value, beside: 0, ahead: AHEAD, jump_max: 1 << 40 }
}

/// A raise that reports nothing taken.
pub(super) fn raise(counter: &Counter, bits: i64, ceiling: u64) -> Raise {
    Raise { counter: counter.clone(), epoch: epoch(bits), ceiling, seen: 0, jump_max: 0 }
}

/// Asserts that a call was refused for this reason.
#[track_caller]
pub(super) fn refused<T: std::fmt::Debug>(answer: Result<T, SourceError>, kind: ErrorKind, what: &str) {
    match answer {
        Err(error) => assert_eq!(error.kind(), kind, "{what}: {error}"),
        Ok(value) => panic!("{what}: expected {kind}, found {value:?}"),
    }
}
