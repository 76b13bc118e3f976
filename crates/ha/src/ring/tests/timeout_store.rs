//! The store decorator alone.

use sequent_testkit::cut_short;

use super::*;

fn cell_of<'a>(key: &'a Key, under: &'a InstanceId) -> Cell<'a> {
    Cell { key, under }
}

struct Handle {
    store: Arc<dyn Store>,
    key: Key,
    under: InstanceId,
}

impl Handle {
    fn of(fixture: &Fixture) -> Self {
        let store = fixture.ring.store(0).unwrap();
        Self { store, key: Key::of(&"k".parse().unwrap()), under: InstanceId::new("one") }
    }

    async fn take(&self) -> Result<Block, SourceError> {
        self.store.take(cell_of(&self.key, &self.under), Epoch::from_stored(1), 1).await
    }
}

#[tokio::test(start_paused = true)]
async fn an_operation_ends_at_the_attempt_limit_and_counts() {
    let fixture = Fixture::new(0);
    let handle = Handle::of(&fixture);
    fixture.script(0).always(Act::Hang);
    for attempt in 1..=3 {
        let error = handle.take().await.unwrap_err();
        assert_eq!(error.to_string(), "timeout: take: no answer within 1000 ms");
        assert_eq!(fixture.ring.status()[0].counts.timeouts, attempt);
    }
    assert_eq!(fixture.state(0), SlotState::Evicted);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_caller_leaves_the_operation_to_finish_and_does_not_count() {
    let fixture = Fixture::new(0);
    let handle = Handle::of(&fixture);
    for _ in 0..9 {
        fixture.script(0).then(Act::late(100 * MS));
        assert!(cut_short(1, handle.take()).await.is_none());
    }
    sleep_ms(200).await;
    assert_eq!(fixture.script(0).position(), Some(9), "all nine were finished");
    assert_eq!(
        (fixture.state(0), fixture.ring.status()[0].counts),
        (SlotState::Live, crate::status::SlotCounts::default())
    );
}

#[tokio::test(start_paused = true)]
async fn a_failure_from_before_a_rescue_does_not_count_after_it() {
    let fixture = Fixture::new(1);
    let handle = Handle::of(&fixture);
    fixture.script(0).then(Act::Late(900 * MS, Box::new(fails(ErrorKind::Unavailable))));
    assert!(cut_short(1, handle.take()).await.is_none());
    sleep_ms(1).await;
    fixture.script(0).then(fails(ErrorKind::Unavailable));
    fixture.take(2).await.unwrap();
    assert_eq!(fixture.state(0), SlotState::Evicted);
    sleep_ms(500).await;
    fixture.take(2).await.unwrap();
    assert_eq!(fixture.state(0), SlotState::Live);
    sleep_ms(900).await;
    assert_eq!((fixture.state(0), fixture.ring.status()[0].counts.unavailable), (SlotState::Live, 2));
}

#[tokio::test(start_paused = true)]
async fn losing_the_race_for_a_stamp_is_no_fault_of_the_store() {
    let fixture = Fixture::new(0);
    let handle = Handle::of(&fixture);
    let stamp: Stamp = "sequent/1 ledger=ab cluster=shop n=0 m=0 slot=0 generation=1".parse().unwrap();
    let error = handle.store.stamp(&handle.under, None, &stamp).await.unwrap_err();
    assert_eq!((error.kind(), fixture.state(0)), (ErrorKind::Refused, SlotState::Live));
}

#[tokio::test(start_paused = true)]
async fn each_operation_reaches_the_store() {
    let fixture = Fixture::new(0);
    let Handle { store, key, under } = Handle::of(&fixture);
    let (cell, epoch) = (cell_of(&key, &under), Epoch::from_stored(1));
    assert_eq!(store.inspect().await.unwrap().version, "scripted");
    assert_eq!(store.mark(&under, 9).await.unwrap(), 9);
    assert_eq!(store.close(cell, epoch).await.unwrap(), 0);
    store.install(cell, epoch, 5).await.unwrap();
    store.lift(cell, epoch, 7).await.unwrap();
    assert_eq!(store.take(cell, epoch, 2).await.unwrap(), Block::new(8, 1, 2).unwrap());
}
