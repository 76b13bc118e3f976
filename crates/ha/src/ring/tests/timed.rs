//! The store decorator, by itself.

use sequent_testkit::cut_short;

use super::*;

fn cell_of<'a>(key: &'a Key, under: &'a Incarnation) -> Cell<'a> {
    Cell { key, under }
}

struct Handle {
    store: Arc<dyn Store>,
    key: Key,
    under: Incarnation,
}

impl Handle {
    fn of(scene: &Scene) -> Self {
        let store = scene.ring.store(0).unwrap();
        Self { store, key: Key::of(&"k".parse().unwrap()), under: Incarnation::new("one") }
    }

    async fn take(&self) -> Result<Block, SourceError> {
        self.store.take(cell_of(&self.key, &self.under), Life::from_stored(1), 1).await
    }
}

#[tokio::test(start_paused = true)]
async fn a_verb_ends_at_the_attempt_limit_and_counts() {
    let scene = Scene::new(0);
    let handle = Handle::of(&scene);
    scene.script(0).always(Act::Hang);
    for attempt in 1..=3 {
        let error = handle.take().await.unwrap_err();
        assert_eq!(error.to_string(), "timeout: take: no answer within 1000 ms");
        assert_eq!(scene.ring.status()[0].counts.timeouts, attempt);
    }
    assert_eq!(scene.state(0), SlotState::Evicted);
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_goes_away_leaves_the_verb_to_finish_and_is_never_held_against_the_slot() {
    let scene = Scene::new(0);
    let handle = Handle::of(&scene);
    for _ in 0..9 {
        scene.script(0).then(Act::late(100 * MS));
        assert!(cut_short(1, handle.take()).await.is_none());
    }
    sleep_ms(200).await;
    assert_eq!(scene.script(0).position(), Some(9), "all nine were finished");
    assert_eq!(
        (scene.state(0), scene.ring.status()[0].counts),
        (SlotState::Live, crate::SlotCounts::default())
    );
}

#[tokio::test(start_paused = true)]
async fn a_verb_from_before_a_rescue_is_not_held_against_what_came_back() {
    let scene = Scene::new(1);
    let handle = Handle::of(&scene);
    scene.script(0).then(Act::Late(900 * MS, Box::new(fails(ErrorKind::Unavailable))));
    assert!(cut_short(1, handle.take()).await.is_none());
    sleep_ms(1).await;
    scene.script(0).then(fails(ErrorKind::Unavailable));
    scene.take(2).await.unwrap();
    assert_eq!(scene.state(0), SlotState::Evicted);
    sleep_ms(500).await;
    scene.take(2).await.unwrap();
    assert_eq!(scene.state(0), SlotState::Live);
    sleep_ms(900).await;
    assert_eq!((scene.state(0), scene.ring.status()[0].counts.unavailable), (SlotState::Live, 2));
}

#[tokio::test(start_paused = true)]
async fn losing_the_race_for_a_stamp_is_no_fault_of_the_store() {
    let scene = Scene::new(0);
    let handle = Handle::of(&scene);
    let stamp: Stamp = "sequent/1 ledger=ab cluster=shop n=0 m=0 slot=0 epoch=1".parse().unwrap();
    let error = handle.store.stamp(&handle.under, None, &stamp).await.unwrap_err();
    assert_eq!((error.kind(), scene.state(0)), (ErrorKind::Refused, SlotState::Live));
}

#[tokio::test(start_paused = true)]
async fn each_verb_reaches_the_store() {
    let scene = Scene::new(0);
    let Handle { store, key, under } = Handle::of(&scene);
    let (cell, life) = (cell_of(&key, &under), Life::from_stored(1));
    assert_eq!(store.inspect().await.unwrap().version, "scripted");
    assert_eq!(store.mark(&under, 9).await.unwrap(), 9);
    assert_eq!(store.close(cell, life).await.unwrap(), 0);
    store.install(cell, life, 5).await.unwrap();
    store.lift(cell, life, 7).await.unwrap();
    assert_eq!(store.take(cell, life, 2).await.unwrap(), Block::new(8, 1, 2).unwrap());
}
