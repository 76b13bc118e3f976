//! Tests of a hanging disk, simulated by holding the file's disk gate: errors of callers, and threads left behind.

use std::{
    future::Future,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    task::{Context, Poll, Waker},
    time::Duration,
};

use sequent_core::{Clock, SystemClock};
use tokio::time::timeout;

use super::*;
use crate::net::{Connection as _, TxMode};
use crate::sqlite::{connect::Coming, disk_gate::DiskPass};

static TABLES: Tables = Tables {
    kind: "test",
    application_id: 7,
    version: 1,
    statements: &[
        "CREATE TABLE identity (uuid TEXT) STRICT",
        "PRAGMA user_version = 1",
        "PRAGMA application_id = 7",
    ],
    first_row: "INSERT INTO identity (uuid) VALUES (?1)",
    token: "SELECT uuid FROM identity",
};

struct Scene {
    folder: tempfile::TempDir,
    database: Database,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = SqliteOptions { create: true, ..SqliteOptions::default() };
        let database = Database::new(folder.path().join("it.db"), &TABLES, options);
        Self { folder, database }
    }

    /// A call on the connection, which returns its instance.
    async fn call(&self) -> Result<String, SourceError> {
        self.call_with(|| ()).await
    }

    /// The same, with this step in the middle.
    async fn call_with(&self, step: impl Fn() + Send + Sync) -> Result<String, SourceError> {
        let terms = Terms { mode: TxMode::Write, ..Terms::named("try") };
        self.database
            .perform(terms, &|lent| {
                step();
                Box::pin(std::future::ready(Ok(lent.0.instance().to_string())))
            })
            .await
    }

    /// Until the result is dropped, all accesses to the file wait.
    fn hang(&self) -> DiskPass {
        let turns = self.database.place.turns.clone();
        let mut next = Box::pin(turns.next());
        let polled = next.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        match polled {
            Poll::Ready(Some(turn)) => turn,
            _ => panic!("somebody has the turn"),
        }
    }

    fn names(&self) -> usize {
        std::fs::read_dir(self.folder.path()).unwrap().count()
    }
}

#[track_caller]
fn mute<T>(done: Result<T, SourceError>) {
    let Err(error) = done else { panic!("the disk hangs, and it was answered") };
    assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
    for part in ["it.db", "the disk under it does not answer", "within 900 ms"] {
        assert!(error.to_string().contains(part), "{part:?} is not in {error}");
    }
}

/// Fails if the future takes a noticeable time.
async fn at_once<T>(work: impl Future<Output = T>) -> T {
    timeout(Duration::from_millis(300), work).await.unwrap_or_else(|_| panic!("it was waited for"))
}

#[tokio::test]
async fn who_gives_up_leaves_no_thread_but_the_first() {
    let place = Place::new("/nowhere".into(), Arc::new(SystemClock));
    let (hang, until) = mpsc::channel::<()>();
    let (until, steps) = (Arc::new(Mutex::new(until)), Arc::new(AtomicUsize::new(0)));
    for _ in 0..100 {
        let (until, steps) = (Arc::clone(&until), Arc::clone(&steps));
        let step = place.on_thread(move |_| {
            steps.fetch_add(1, Ordering::Relaxed);
            until.lock().unwrap_or_else(PoisonError::into_inner).recv().unwrap_err();
            Ok(())
        });
        assert!(timeout(Duration::from_millis(2), step).await.is_err());
    }
    drop(hang);
    // All earlier waiters have had their pass once this one has.
    place.on_thread(|_| Ok(())).await.unwrap();
    assert_eq!(steps.load(Ordering::Relaxed), 1, "calls to a disk that hangs");
}

#[tokio::test]
async fn it_is_said_soon_then_at_once_and_the_connection_outlives_it() {
    let scene = Scene::new();
    let before = scene.call().await.unwrap();
    let hang = scene.hang();
    let began = SystemClock.now();
    mute(scene.call().await);
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    for _ in 0..3 {
        mute(at_once(scene.call()).await);
    }
    assert!(scene.database.slot.lock().await.connection.is_some(), "the connection was given up");
    drop(hang);
    assert_eq!(scene.call().await.unwrap(), before);
}

#[tokio::test]
async fn a_verb_that_it_overtakes_counts_nothing_and_its_connection_is_kept() {
    let scene = Scene::new();
    let before = scene.call().await.unwrap();
    let held = Mutex::new(None);
    mute(scene.call_with(|| *held.lock().unwrap() = Some(scene.hang())).await);
    let slot = scene.database.slot.lock().await;
    assert!(slot.connection.is_none(), "a connection whose verb has no known end was used again");
    drop(slot);
    assert_eq!(scene.names(), 3, "a connection was closed, and nobody could know over what");
    drop(held.into_inner().unwrap());
    assert_eq!(scene.call().await.unwrap(), before);
}

#[tokio::test]
async fn a_close_ends_when_the_disk_is_back() {
    let scene = Scene::new();
    scene.call().await.unwrap();
    let hang = scene.hang();
    let mut close = Box::pin(scene.database.close());
    assert!(timeout(Duration::from_secs(2), close.as_mut()).await.is_err(), "over what was it closed?");
    assert_eq!(scene.names(), 3);
    drop(hang);
    close.await;
    assert_eq!(scene.names(), 1, "a clean close leaves one file");
}

#[tokio::test]
async fn who_lets_go_of_it_neither_waits_nor_closes() {
    let scene = Scene::new();
    scene.call().await.unwrap();
    let hang = scene.hang();
    mute(scene.call().await);
    let Scene { folder, database } = scene;
    at_once(tokio::task::spawn_blocking(move || drop(database))).await.unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
    drop(hang);
}

#[tokio::test]
async fn an_opening_that_hangs_is_not_begun_again() {
    let scene = Scene::new();
    let since = SystemClock.now().checked_sub(Duration::from_secs(1)).unwrap();
    let task = tokio::spawn(std::future::pending());
    let id = task.id();
    scene.database.slot.lock().await.coming = Some(Coming { since, task });
    for _ in 0..3 {
        mute(at_once(scene.call()).await);
    }
    let slot = scene.database.slot.lock().await;
    assert_eq!(slot.coming.as_ref().map(|coming| coming.task.id()), Some(id));
    assert_eq!(scene.names(), 0, "another one was begun");
}

#[tokio::test]
async fn an_opening_that_was_left_is_the_next_ones() {
    let scene = Scene::new();
    let mut verb = Box::pin(scene.call());
    std::future::poll_fn(|context| {
        assert!(verb.as_mut().poll(context).is_pending());
        context.waker().wake_by_ref();
        if scene.names() == 0 { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    drop(verb);
    let slot = scene.database.slot.lock().await;
    assert!(slot.coming.is_some(), "what was begun went with who began it");
    drop(slot);
    scene.call().await.unwrap();
    let slot = scene.database.slot.lock().await;
    assert!(slot.used && slot.coming.is_none() && slot.connection.is_some());
}
