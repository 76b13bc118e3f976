//! Files that are there, and can't be written: locked, read-only, on a full disk.

use std::{
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use sequent_core::{Cell, ErrorKind, SourceError, Store, ledger::Identity};
use sqlx::{Connection, SqliteConnection};

use crate::{
    support::{Site, epoch, failed, key, names, remove},
    used::Used,
};

#[tokio::test]
async fn a_locked_file_is_contended_within_a_bound() {
    let used = Used::new().await;
    let mut stranger = used.site.stranger().await;
    sqlx::query("BEGIN EXCLUSIVE").execute(&mut stranger).await.unwrap();
    failed(used.take().await, ErrorKind::Contended, &["SQLITE_BUSY (5)", "locked"]);
    failed(used.store.inspect().await, ErrorKind::Contended, &["SQLITE_BUSY (5)"]);
    sqlx::query("ROLLBACK").execute(&mut stranger).await.unwrap();
    assert_eq!(used.taken().await, 11, "the refused take left a trace");
}

#[tokio::test]
async fn verbs_that_wait_for_a_locked_file_together_each_say_so_within_one_bound() {
    let used = Used::new().await;
    let mut stranger = used.site.stranger().await;
    sqlx::query("BEGIN EXCLUSIVE").execute(&mut stranger).await.unwrap();
    // One after the other they would wait 0.8 s each, and all but the first be cut off in silence.
    let together = async { tokio::join!(used.take(), used.take(), used.take()) };
    let (a, b, c) = tokio::time::timeout(Duration::from_millis(1500), together).await.expect("one bound");
    for said in [a, b, c] {
        failed(said, ErrorKind::Contended, &["SQLITE_BUSY (5)", "locked"]);
    }
}

#[tokio::test]
async fn a_file_that_another_locks_for_itself_alone_is_contended_at_the_opening() {
    let used = Used::new().await;
    used.store.disconnect().await;
    let options = sqlx::sqlite::SqliteConnectOptions::new()
        .filename(&used.site.path)
        .locking_mode(sqlx::sqlite::SqliteLockingMode::Exclusive);
    let mut stranger = SqliteConnection::connect_with(&options).await.unwrap();
    sqlx::query("UPDATE identity SET mark = 9").execute(&mut stranger).await.unwrap();
    failed(used.take().await, ErrorKind::Contended, &["SQLITE_BUSY"]);
    stranger.close().await.unwrap();
    assert_eq!((used.taken().await, used.store.mark(&used.under, 0).await.unwrap()), (11, 9));
}

#[tokio::test]
async fn a_read_only_file_is_unavailable_to_who_merely_looks() {
    let used = Used::new().await;
    used.store.disconnect().await;
    let Some(held) = ReadOnly::new(std::slice::from_ref(&used.site.path)) else { return };
    let (looked, took) = (used.store.inspect().await, used.take().await);
    drop(held);
    failed(looked, ErrorKind::Unavailable, &["the file.db is read-only", "chattr +i"]);
    failed(took, ErrorKind::Unavailable, &["the file.db is read-only"]);
    assert_eq!(used.taken().await, 11);
}

/// A write to the wal-index would end this process, and so would a close, which writes there too.
#[tokio::test]
async fn files_made_read_only_under_a_connection_are_left_alone_until_they_may_be_written() {
    let used = Used::new().await;
    let files = ["", "-wal", "-shm"].map(|end| PathBuf::from(format!("{}{end}", used.site.path.display())));
    let Some(held) = ReadOnly::new(&files) else { return };
    let (looked, took) = (used.store.inspect().await, used.take().await);
    drop(held);
    failed(looked, ErrorKind::Unavailable, &["is read-only"]);
    failed(took, ErrorKind::Unavailable, &["is read-only"]);
    assert_eq!(used.taken().await, 11);
    let Some(held) = ReadOnly::new(&files) else { return };
    used.store.disconnect().await;
    drop(held);
    assert_eq!(used.taken().await, 12);
}

/// Files with the attribute immutable, until this is dropped.
struct ReadOnly(Vec<PathBuf>);

impl ReadOnly {
    /// `None`, and said so, where that does not work.
    fn new(files: &[PathBuf]) -> Option<Self> {
        let held = Self(files.to_vec());
        if held.chattr("+i") {
            return Some(held);
        }
        println!("skipped: chattr +i does not work here");
        None
    }

    fn chattr(&self, flag: &str) -> bool {
        Command::new("chattr").arg(flag).args(&self.0).status().is_ok_and(|status| status.success())
    }
}

impl Drop for ReadOnly {
    fn drop(&mut self) {
        self.chattr("-i");
    }
}

#[tokio::test]
async fn a_full_disk_is_unavailable_to_who_merely_looks() {
    let mount = tempfile::tempdir().unwrap();
    let run = |program: &str, arguments: &[&str]| {
        let done = Command::new(program).args(arguments).arg(mount.path()).output();
        done.is_ok_and(|output| output.status.success())
    };
    if !run("mount", &["-t", "tmpfs", "-o", "size=256k", "tmpfs"]) {
        println!("skipped: no tmpfs can be mounted here");
        return;
    }
    let outcome = fill_and_look(mount.path()).await;
    assert!(run("umount", &[]));
    let (highest, took, looked, after) = outcome;
    failed(took, ErrorKind::Unavailable, &["SQLITE_FULL (13)"]);
    // A fresh connection fails earlier: where its wal-index is mapped.
    failed(looked, ErrorKind::Unavailable, &["SQLITE_", "disk"]);
    assert_eq!(after.unwrap(), highest + 1, "the refused take left a trace");
}

type Looked = Result<sequent_core::Inspection, SourceError>;
type Took = Result<u64, SourceError>;

/// Takes until the disk is full, looks with a fresh connection, and takes again once there is room.
async fn fill_and_look(folder: &Path) -> (u64, Took, Looked, Took) {
    let mut site = Site::new();
    site.path = folder.join("the file.db");
    let store = site.store();
    let under = store.inspect().await.unwrap().instance;
    let (order, first) = (key("order"), epoch(1));
    let cell = Cell { key: &order, under: &under };
    store.close(cell, first).await.unwrap();
    store.install(cell, first, 0).await.unwrap();
    let filler = folder.join("filler");
    let _ = std::fs::write(&filler, vec![0; 1 << 20]);
    let mut highest = 0;
    let took = loop {
        match store.take(cell, first, 1).await {
            Ok(block) if highest < 1000 => {
                assert_eq!(block.first(), highest + 1, "a row was believed whose commit had failed");
                highest = block.last();
            }
            other => break other.map(|block| block.first()),
        }
    };
    // The connection that failed takes its log with it, which leaves some room.
    store.disconnect().await;
    let second = folder.join("second filler");
    let _ = std::fs::write(&second, vec![0; 1 << 20]);
    let looked = store.inspect().await;
    remove(&filler);
    remove(&second);
    let after = store.take(cell, first, 1).await.map(|block| block.first());
    store.disconnect().await;
    assert_eq!(names(folder), ["the file.db"]);
    (highest, took, looked, after)
}

#[tokio::test]
async fn a_file_made_on_a_nearly_full_disk_is_complete_or_not_there() {
    let mount = tempfile::tempdir().unwrap();
    let run = |program: &str, arguments: &[&str]| {
        let done = Command::new(program).args(arguments).arg(mount.path()).output();
        done.is_ok_and(|output| output.status.success())
    };
    let mut failures = 0;
    for kib in (8..=240).step_by(4) {
        if !run("mount", &["-t", "tmpfs", "-o", &format!("size={kib}k"), "tmpfs"]) {
            println!("skipped: no tmpfs can be mounted here");
            return;
        }
        let mut site = Site::new();
        site.path = mount.path().join("the file.db");
        let ledger = site.ledger();
        let first = ledger.inspect().await;
        assert!(run("mount", &["-o", "remount,size=4m"]));
        let second = ledger.inspect().await;
        ledger.disconnect().await;
        assert!(run("umount", &[]));
        if let Err(error) = first {
            failures += 1;
            assert_eq!(error.kind(), ErrorKind::Unavailable, "{kib} KiB: {error}");
            let text = error.to_string().to_lowercase();
            assert!(text.contains("full") || text.contains("space"), "{kib} KiB: {error}");
        }
        assert!(second.is_ok(), "{kib} KiB, then with space: {second:?}");
    }
    assert!(failures > 0, "no disk was too small");
}
