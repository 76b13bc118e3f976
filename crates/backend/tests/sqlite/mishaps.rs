//! What happens to a file while it is used.

use std::{io::Write, process::Command, sync::Arc, time::Duration};

use sequent_core::{Cell, ErrorKind, Store, ledger::Identity};
use sequent_testkit::cut_short;

use crate::{
    support::{Site, copy, failed, life, remove},
    used::Used,
};

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
    remove(&used.site.path);
    failed(used.take().await, ErrorKind::Unavailable, &["the file is gone"]);
    assert!(!used.site.path.exists(), "the grace of the first time was used again");
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
async fn something_else_in_its_place_is_left_alone() {
    let used = Used::new().await;
    let aside = used.site.folder.path().join("aside");
    used.store.disconnect().await;
    std::fs::rename(&used.site.path, &aside).unwrap();
    let (empty, rubbish) = (&b""[..], &[b'x'; 8192][..]);
    let expected = [
        (empty, ErrorKind::Unavailable, "empty (0 bytes)"),
        (rubbish, ErrorKind::Refused, "SQLITE_NOTADB (26)"),
    ];
    for (content, kind, says) in expected {
        std::fs::write(&used.site.path, content).unwrap();
        failed(used.take().await, kind, &[says]);
        assert_eq!(std::fs::read(&used.site.path).unwrap(), content, "it was touched");
    }
    std::fs::rename(&aside, &used.site.path).unwrap();
    assert_eq!(used.taken().await, 11);
}

#[tokio::test]
async fn a_file_written_over_with_rubbish_is_refused_until_it_is_mended() {
    let used = Used::new().await;
    used.store.disconnect().await;
    let backup = used.site.folder.path().join("backup");
    used.site.backup(&backup);
    assert_eq!(used.taken().await, 11);
    // By another process, in place, while a connection is open; the log is emptied so that the file itself is read.
    sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(&mut used.site.stranger().await).await.unwrap();
    write_over(&used.site, &[b'x'; 16384]);
    failed(used.take().await, ErrorKind::Refused, &["SQLITE_", "restore it from a copy, or remove it"]);
    failed(used.store.inspect().await, ErrorKind::Refused, &["SQLITE_", "restore it"]);
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
async fn a_call_dropped_in_its_transaction_leaves_no_lock() {
    let site = Site::new();
    let (one, two) = (site.ledger(), site.ledger());
    let under = two.inspect().await.unwrap().incarnation;
    for polls in 1.. {
        let done = cut_short(polls, one.inspect()).await;
        two.record(&under, Some(0), &under).await.unwrap();
        if done.is_some() {
            println!("{} places to drop it", polls - 1);
            break;
        }
        // Each round opens its connection anew, and so visits the same places.
        one.disconnect().await;
    }
    assert_eq!(one.inspect().await.unwrap().incarnation, under);
}

#[tokio::test]
async fn a_copy_written_over_a_file_whose_log_was_removed_is_never_written_to() {
    let used = Used::new().await;
    used.store.disconnect().await;
    let backup = used.site.folder.path().join("backup");
    used.site.backup(&backup);
    assert_eq!(used.taken().await, 11);
    for suffix in ["-wal", "-shm"] {
        remove(&used.site.beside(suffix));
    }
    copy(&backup, &used.site.path);
    failed(used.take().await, ErrorKind::Unavailable, &["-wal", "restart this process"]);
    // Nor may another handle of this process: it would share the index of the log that is gone.
    failed(used.site.store().inspect().await, ErrorKind::Unavailable, &["restart this process"]);
    used.store.disconnect().await;
    assert!(same(&backup, &used.site.path), "the log of the file before was written into the copy");
    // Another file in the place is taken up at once.
    used.site.restore(&backup);
    let now = used.store.inspect().await.unwrap().incarnation;
    let cell = Cell { under: &now, ..used.cell() };
    assert_eq!(used.store.close(cell, life(2)).await.unwrap(), 10, "the copy is what counts now");
}

#[tokio::test]
async fn a_close_writes_nothing_into_a_copy_put_over_the_file() {
    let used = Used::new().await;
    used.store.disconnect().await;
    let backup = used.site.folder.path().join("backup");
    used.site.backup(&backup);
    assert_eq!(used.taken().await, 11);
    for suffix in ["-wal", "-shm"] {
        remove(&used.site.beside(suffix));
    }
    copy(&backup, &used.site.path);
    used.store.disconnect().await;
    assert!(same(&backup, &used.site.path), "the log of the file before was written into the copy");
}

/// By another process, so that no descriptor of the file is closed in this one.
fn same(one: &std::path::Path, two: &std::path::Path) -> bool {
    Command::new("cmp").args([one, two]).status().unwrap().success()
}
