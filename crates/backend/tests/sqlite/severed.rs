//! Connections whose log was taken away: none of their ways out may write.

use std::{
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::Poll,
    time::{Instant, SystemTime},
};

use sequent_backend::sqlite::{SqliteOptions, SqliteStore};
use sequent_core::{Cell, Clock, Env, ErrorKind, Store, SystemClock};

use crate::{
    support::{Site, copy, epoch, failed, remove},
    used::Used,
};

/// A store that has counted since its copy was made.
async fn counted() -> (Used, std::path::PathBuf) {
    let used = Used::new().await;
    used.store.disconnect().await;
    let backup = used.site.folder.path().join("backup");
    used.site.backup(&backup);
    assert_eq!(used.taken().await, 11);
    (used, backup)
}

/// Takes the log away and puts the copy over the file, as somebody would who restores with `rm` and `cp`.
fn put_over(backup: &std::path::Path, site: &std::path::Path) {
    for suffix in ["-wal", "-shm"] {
        remove(&crate::support::beside(site, suffix));
    }
    copy(backup, site);
}

/// The file is the copy, to the byte, and no handle of this process may use it.
async fn left_alone(site: &Site, backup: &std::path::Path) {
    failed(
        site.store().inspect().await,
        ErrorKind::Unavailable,
        &["-wal", "restart this process", "move a whole copy"],
    );
    // By another process, so that no descriptor of the file is closed in this one.
    let same = Command::new("cmp").args([backup, &site.path]).status().unwrap().success();
    assert!(same, "the log of the file before was written into the copy");
}

#[tokio::test]
async fn a_verb_neither_writes_nor_reads() {
    let (used, backup) = counted().await;
    put_over(&backup, &used.site.path);
    failed(used.take().await, ErrorKind::Unavailable, &["-wal", "restart this process"]);
    left_alone(&used.site, &backup).await;
    used.store.disconnect().await;
    left_alone(&used.site, &backup).await;
    // Another file in the place is taken up at once.
    used.site.restore(&backup);
    let now = used.store.inspect().await.unwrap().instance;
    let cell = Cell { under: &now, ..used.cell() };
    assert_eq!(used.store.close(cell, epoch(2)).await.unwrap(), 10, "the copy is what counts now");
}

#[tokio::test]
async fn a_close_writes_nothing() {
    let (used, backup) = counted().await;
    put_over(&backup, &used.site.path);
    used.store.disconnect().await;
    left_alone(&used.site, &backup).await;
}

#[tokio::test]
async fn a_store_dropped_without_a_close_writes_nothing() {
    let (used, backup) = counted().await;
    put_over(&backup, &used.site.path);
    let Used { site, store, .. } = used;
    drop(store);
    left_alone(&site, &backup).await;
}

#[tokio::test]
async fn a_store_dropped_outside_of_a_runtime_writes_nothing() {
    let (used, backup) = counted().await;
    put_over(&backup, &used.site.path);
    let Used { site, store, .. } = used;
    std::thread::spawn(move || drop(store)).join().unwrap();
    left_alone(&site, &backup).await;
}

/// The time is read in the middle of an inspection: that is when this one's files are taken.
#[derive(Debug)]
struct Thief {
    site: std::path::PathBuf,
    backup: std::path::PathBuf,
    lurks: AtomicBool,
}

impl Clock for Thief {
    fn now(&self) -> Instant {
        SystemClock.now()
    }

    fn wall(&self) -> SystemTime {
        if self.lurks.swap(false, Ordering::Relaxed) {
            put_over(&self.backup, &self.site);
        }
        SystemClock.wall()
    }
}

/// So often is it tried to drop a verb midway: on a busy machine the store may answer within the poll in which the files were taken.
const DROPS_MAX: usize = 50;

#[tokio::test]
async fn a_verb_dropped_midway_writes_nothing() {
    for _ in 0..DROPS_MAX {
        if is_dropped_midway().await {
            return;
        }
    }
    panic!("it came to its end {DROPS_MAX} times");
}

/// Whether the verb was dropped after its files were taken and before it came to its end.
async fn is_dropped_midway() -> bool {
    let (used, backup) = counted().await;
    used.store.disconnect().await;
    let (path, copy) = (used.site.path.clone(), backup.clone());
    let thief = Arc::new(Thief { site: path, backup: copy, lurks: AtomicBool::new(false) });
    let store = SqliteStore::new(
        &used.site.path,
        SqliteOptions { env: Env { clock: thief.clone(), ..Env::default() }, ..SqliteOptions::default() },
    );
    assert_eq!(store.take(used.cell(), used.epoch, 1).await.unwrap().first(), 12);
    thief.lurks.store(true, Ordering::Relaxed);
    let mut inspection = store.inspect();
    let is_midway = std::future::poll_fn(|context| {
        let has_ended = inspection.as_mut().poll(context).is_ready();
        if has_ended {
            return Poll::Ready(false);
        }
        if thief.lurks.load(Ordering::Relaxed) { Poll::Pending } else { Poll::Ready(true) }
    })
    .await;
    assert!(!thief.lurks.load(Ordering::Relaxed), "its files were not taken");
    drop(inspection);
    // Whatever becomes of the connection has come to its end once this is done.
    store.disconnect().await;
    left_alone(&used.site, &backup).await;
    is_midway
}
