//! What happens to a file while it is used.

use std::{io::Write, path::Path, process::Command, sync::Arc, time::Duration};

use sequent_backend::sqlite::SqliteStore;
use sequent_core::{Block, Cell, ErrorKind, Incarnation, Key, Life, SourceError, Store, ledger::Identity};
use sqlx::{Connection, SqliteConnection};

use crate::support::{Site, failed, key, life, names, remove};

/// A store in use: one cell, open at 10.
struct Used {
    site: Site,
    store: SqliteStore,
    under: Incarnation,
    order: Key,
    life: Life,
}

impl Used {
    async fn new() -> Self {
        let site = Site::new();
        let store = site.store();
        let under = store.inspect().await.unwrap().incarnation;
        let used = Self { site, store, under, order: key("order"), life: life(1) };
        used.store.close(used.cell(), used.life).await.unwrap();
        used.store.install(used.cell(), used.life, 10).await.unwrap();
        used
    }

    fn cell(&self) -> Cell<'_> {
        Cell { key: &self.order, under: &self.under }
    }

    async fn take(&self) -> Result<Block, SourceError> {
        self.store.take(self.cell(), self.life, 1).await
    }

    async fn taken(&self) -> u64 {
        self.take().await.unwrap().first()
    }
}

#[tokio::test]
async fn a_copy_moved_into_place_is_noticed_at_the_next_verb() {
    let used = Used::new().await;
    let backup = used.site.folder.path().join("backup");
    used.site.backup(&backup);
    assert_eq!(used.taken().await, 11);
    used.site.restore(&backup);
    failed(used.take().await, ErrorKind::Reborn, &["expected", "found"]);
    let now = used.store.inspect().await.unwrap().incarnation;
    assert_ne!(now, used.under);
    let cell = Cell { under: &now, ..used.cell() };
    assert_eq!(used.store.close(cell, life(2)).await.unwrap(), 10, "the copy is what counts now");
}

#[tokio::test]
async fn a_copy_moved_over_the_file_alone_never_serves_the_old_permit() {
    let used = Used::new().await;
    let backup = used.site.folder.path().join("backup");
    used.site.backup(&backup);
    assert_eq!(used.taken().await, 11);
    // The log of the file before stays: SQLite will read it into the copy.
    std::fs::rename(&backup, &used.site.path).unwrap();
    failed(used.take().await, ErrorKind::Reborn, &[]);
    let now = used.store.inspect().await.unwrap().incarnation;
    assert_ne!(now, used.under);
}

#[tokio::test]
async fn a_copy_moved_into_place_during_a_verb_burns_what_it_counted() {
    let used = Arc::new(Used::new().await);
    let backup = used.site.folder.path().join("backup");
    used.site.backup(&backup);
    let mut stranger = used.site.stranger().await;
    sqlx::query("BEGIN EXCLUSIVE").execute(&mut stranger).await.unwrap();
    let taker = tokio::spawn({
        let used = Arc::clone(&used);
        async move { used.take().await }
    });
    // The taker has connected before, so from here it waits for the stranger alone.
    tokio::time::sleep(Duration::from_millis(50)).await;
    used.site.restore(&backup);
    sqlx::query("ROLLBACK").execute(&mut stranger).await.unwrap();
    failed(taker.await.unwrap(), ErrorKind::Reborn, &[]);
}

#[tokio::test]
async fn a_deleted_file_is_unavailable_and_then_made_anew() {
    let used = Used::new().await;
    remove(&used.site.path);
    failed(used.take().await, ErrorKind::Unavailable, &["the file is gone", "3s"]);
    used.site.clock.step(Duration::from_secs(2));
    failed(used.take().await, ErrorKind::Unavailable, &["the file is gone"]);
    assert!(!used.site.path.exists(), "who restores by rm and cp must not find a new file in between");
    used.site.clock.step(Duration::from_secs(2));
    failed(used.take().await, ErrorKind::Reborn, &[]);
    let inspection = used.store.inspect().await.unwrap();
    assert_eq!((inspection.stamp, inspection.has_cells), (None, false));
}

#[tokio::test]
async fn a_file_put_back_within_the_grace_is_taken_up_again() {
    let used = Used::new().await;
    let aside = used.site.folder.path().join("aside");
    std::fs::rename(&used.site.path, &aside).unwrap();
    failed(used.take().await, ErrorKind::Unavailable, &["the file is gone"]);
    std::fs::rename(&aside, &used.site.path).unwrap();
    assert_eq!(used.taken().await, 11, "it is the same file");
}

#[tokio::test]
async fn a_directory_in_its_place_is_unavailable() {
    let used = Used::new().await;
    let aside = used.site.folder.path().join("aside");
    std::fs::rename(&used.site.path, &aside).unwrap();
    std::fs::create_dir(&used.site.path).unwrap();
    failed(used.take().await, ErrorKind::Unavailable, &["directory"]);
    failed(used.store.inspect().await, ErrorKind::Unavailable, &["directory"]);
    std::fs::remove_dir(&used.site.path).unwrap();
    std::fs::rename(&aside, &used.site.path).unwrap();
    assert_eq!(used.taken().await, 11);
}

#[tokio::test]
async fn something_else_in_its_place_is_unavailable() {
    let used = Used::new().await;
    let aside = used.site.folder.path().join("aside");
    used.store.disconnect().await;
    std::fs::rename(&used.site.path, &aside).unwrap();
    for (content, says) in [(&b""[..], "empty (0 bytes)"), (&[b'x'; 8192], "SQLITE_NOTADB (26)")] {
        std::fs::write(&used.site.path, content).unwrap();
        failed(used.take().await, ErrorKind::Unavailable, &[says]);
        assert_eq!(std::fs::read(&used.site.path).unwrap(), content, "it was touched");
    }
    std::fs::rename(&aside, &used.site.path).unwrap();
    assert_eq!(used.taken().await, 11);
}

#[tokio::test]
async fn a_file_written_over_with_rubbish_is_unavailable_until_it_is_mended() {
    let used = Used::new().await;
    used.store.disconnect().await;
    let backup = used.site.folder.path().join("backup");
    used.site.backup(&backup);
    assert_eq!(used.taken().await, 11);
    // By another process, in place, while a connection is open; the log is emptied so that the file itself is read.
    sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(&mut used.site.stranger().await).await.unwrap();
    write_over(&used.site, &[b'x'; 16384]);
    failed(used.take().await, ErrorKind::Unavailable, &["SQLITE_"]);
    failed(used.store.inspect().await, ErrorKind::Unavailable, &["SQLITE_"]);
    write_over(&used.site, &std::fs::read(&backup).unwrap());
    let inspection = used.store.inspect().await.unwrap();
    assert_eq!(inspection.incarnation, used.under, "the file is the same, and so is what it says of itself");
}

fn write_over(site: &Site, content: &[u8]) {
    let mut cat = Command::new("sh");
    cat.args(["-c", "cat > \"$0\""]).arg(&site.path).stdin(std::process::Stdio::piped());
    let mut cat = cat.spawn().unwrap();
    cat.stdin.take().unwrap().write_all(content).unwrap();
    assert!(cat.wait().unwrap().success());
}

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
    assert_eq!((used.taken().await, used.store.mark(0).await.unwrap()), (11, 9));
}

#[tokio::test]
async fn a_call_dropped_in_its_transaction_leaves_no_lock() {
    let site = Site::new();
    let (one, two) = (site.ledger(), site.ledger());
    let under = two.inspect().await.unwrap().incarnation;
    for polls in 0..40 {
        let mut call = Box::pin(one.inspect());
        for _ in 0..polls {
            let waker = std::task::Waker::noop();
            if call.as_mut().poll(&mut std::task::Context::from_waker(waker)).is_ready() {
                break;
            }
            tokio::time::sleep(Duration::from_micros(200)).await;
        }
        drop(call);
        two.record(&under, Some(0), &under).await.unwrap();
    }
    assert_eq!(one.inspect().await.unwrap().incarnation, under);
}

#[tokio::test]
async fn a_read_only_file_is_unavailable_to_who_merely_looks() {
    let used = Used::new().await;
    used.store.disconnect().await;
    let chattr = |flag: &str| {
        Command::new("chattr").arg(flag).arg(&used.site.path).status().is_ok_and(|status| status.success())
    };
    if !chattr("+i") {
        println!("skipped: chattr +i does not work here");
        return;
    }
    let (looked, took) = (used.store.inspect().await, used.take().await);
    assert!(chattr("-i"));
    failed(looked, ErrorKind::Unavailable, &["SQLITE_READONLY"]);
    failed(took, ErrorKind::Unavailable, &["SQLITE_READONLY"]);
    assert_eq!(used.taken().await, 11);
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
    let under = store.inspect().await.unwrap().incarnation;
    let (order, first) = (key("order"), life(1));
    let cell = Cell { key: &order, under: &under };
    store.close(cell, first).await.unwrap();
    store.install(cell, first, 0).await.unwrap();
    let filler = folder.join("filler");
    let _ = std::fs::write(&filler, vec![0; 1 << 20]);
    let mut highest = 0;
    let took = loop {
        match store.take(cell, first, 1).await {
            Ok(block) if highest < 1000 => highest = block.last(),
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
