//! Files that are deleted, or make no sense, while they are used.

use std::{io::Write, process::Command, time::Duration};

use sequent_core::{BoxFuture, Cell, ErrorKind, SourceError, Store, ledger::Identity};

use crate::{
    support::{Site, epoch, failed, remove},
    used::Used,
};

#[tokio::test]
async fn a_deleted_file_is_not_made_anew_by_who_used_it() {
    let used = Used::new().await;
    let says = ["deleted or moved away", "no new one is made", "put it back", "restart this process"];
    for _ in 0..3 {
        remove(&used.site.path);
        failed(used.take().await, ErrorKind::Unavailable, &says);
        used.store.disconnect().await;
        used.site.clock.step(Duration::from_hours(1));
        failed(used.take().await, ErrorKind::Unavailable, &says);
        failed(used.store.inspect().await, ErrorKind::Unavailable, &says);
        assert!(!used.site.path.exists(), "a file was made");
        // Another process may, if it is told so: its file is another instance.
        let other = used.site.store();
        other.inspect().await.unwrap();
        failed(used.take().await, ErrorKind::InstanceChanged, &[]);
        let inspection = used.store.inspect().await.unwrap();
        assert_eq!((inspection.stamp, inspection.has_cells), (None, false));
        other.disconnect().await;
    }
}

#[tokio::test]
async fn a_deleted_ledger_is_not_made_anew_by_who_made_it() {
    let site = Site::new();
    let ledger = site.ledger();
    ledger.inspect().await.unwrap();
    for suffix in ["", "-wal", "-shm"] {
        remove(&site.beside(suffix));
    }
    site.clock.step(Duration::from_hours(1));
    failed(ledger.known().await, ErrorKind::Unavailable, &["ledger", "deleted", "put it back"]);
    failed(ledger.inspect().await, ErrorKind::Unavailable, &["no new one is made"]);
    assert!(!site.path.exists(), "a ledger was made");
}

/// The caller goes away the moment that the file is there; whether it had connected it never learns.
#[tokio::test]
async fn a_file_deleted_before_its_maker_connected_is_not_made_again() {
    let site = Site::new();
    let store = site.store();
    until(&mut store.inspect(), || site.path.exists()).await;
    remove(&site.path);
    failed(store.inspect().await, ErrorKind::Unavailable, &["no new one is made"]);
    assert!(!site.path.exists(), "a second file was made");
}

/// Polls a verb until something is so, which must come before its end.
async fn until<T>(verb: &mut BoxFuture<'_, Result<T, SourceError>>, mut so: impl FnMut() -> bool) {
    std::future::poll_fn(|context| {
        assert!(verb.as_mut().poll(context).is_pending(), "the verb came to its end");
        // Polled again at once: it is not the verb alone that it waits for.
        context.waker().wake_by_ref();
        if so() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
}

#[tokio::test]
async fn a_file_moved_away_and_put_back_is_taken_up_again() {
    let used = Used::new().await;
    let aside = used.site.folder.path().join("aside");
    std::fs::rename(&used.site.path, &aside).unwrap();
    failed(used.take().await, ErrorKind::Unavailable, &["moved away"]);
    std::fs::rename(&aside, &used.site.path).unwrap();
    assert_eq!(used.taken().await, 11, "it is the same file");
}

#[tokio::test]
async fn a_file_that_makes_no_sense_for_a_moment_comes_back_by_itself() {
    let used = Used::new().await;
    used.store.disconnect().await;
    let backup = used.site.folder.path().join("backup");
    used.site.backup(&backup);
    let whole = std::fs::read(&backup).unwrap();
    assert_eq!(used.taken().await, 11);
    for second in 0..3 {
        // By another process, in place, while a connection is open; the log is emptied so that the file itself is read.
        let truncate = "PRAGMA wal_checkpoint(TRUNCATE)";
        sqlx::query(truncate).execute(&mut used.site.stranger().await).await.unwrap();
        // So far the copy has come: one page and a half.
        write_over(&used.site, &whole[..6000]);
        let says = ["SQLITE_", "the file is damaged", "restore it from a copy; if it is a shard's"];
        failed(used.take().await, ErrorKind::Unavailable, &says);
        used.site.clock.step(Duration::from_secs(9));
        failed(used.store.inspect().await, ErrorKind::Unavailable, &says);
        write_over(&used.site, &whole);
        let inspection = used.store.inspect().await.unwrap();
        assert_eq!(inspection.instance, used.under, "the file is the same, and so is what it says of itself");
        assert_eq!(
            used.taken().await,
            11,
            "it went back, second {second}: the guard compares with what was seen"
        );
    }
}

#[tokio::test]
async fn a_file_that_stays_damaged_is_refused_until_it_is_mended() {
    let used = Used::new().await;
    used.store.disconnect().await;
    let backup = used.site.folder.path().join("backup");
    used.site.backup(&backup);
    write_over(&used.site, &[b'x'; 16384]);
    failed(
        used.take().await,
        ErrorKind::Unavailable,
        &["SQLITE_NOTADB", "restore it from a copy; if it is a shard's"],
    );
    used.site.clock.step(Duration::from_secs(11));
    failed(
        used.take().await,
        ErrorKind::Refused,
        &["SQLITE_NOTADB", "restore it from a copy; if it is a shard's"],
    );
    let other = used.site.store();
    failed(other.inspect().await, ErrorKind::Refused, &["SQLITE_NOTADB", "restart this process"]);
    write_over(&used.site, &std::fs::read(&backup).unwrap());
    let cell = Cell { under: &used.store.inspect().await.unwrap().instance, ..used.cell() };
    assert_eq!(used.store.close(cell, epoch(2)).await.unwrap(), 10);
}

fn write_over(site: &Site, content: &[u8]) {
    let mut cat = Command::new("sh");
    cat.args(["-c", "cat > \"$0\""]).arg(&site.path).stdin(std::process::Stdio::piped());
    let mut cat = cat.spawn().unwrap();
    cat.stdin.take().unwrap().write_all(content).unwrap();
    assert!(cat.wait().unwrap().success());
}
