//! What happens to a file while it is used.

use std::{sync::Arc, time::Duration};

use sequent_core::{Cell, ErrorKind, Store, ledger::Identity};
use sequent_testkit::cut_short;

use crate::{
    support::{Site, epoch, failed},
    used::Used,
};

#[tokio::test]
async fn a_copy_moved_into_place_is_noticed_at_the_next_verb() {
    let used = Used::new().await;
    let backup = used.site.folder.path().join("backup");
    used.site.backup(&backup);
    assert_eq!(used.taken().await, 11);
    used.site.restore(&backup);
    failed(used.take().await, ErrorKind::InstanceChanged, &["expected", "found"]);
    let now = used.store.inspect().await.unwrap().instance;
    assert_ne!(now, used.under);
    let cell = Cell { under: &now, ..used.cell() };
    assert_eq!(used.store.close(cell, epoch(2)).await.unwrap(), 10, "the copy is what counts now");
}

#[tokio::test]
async fn a_copy_moved_over_the_file_alone_never_serves_the_old_permit() {
    let used = Used::new().await;
    let backup = used.site.folder.path().join("backup");
    used.site.backup(&backup);
    assert_eq!(used.taken().await, 11);
    // The log of the file before stays: SQLite will read it into the copy.
    std::fs::rename(&backup, &used.site.path).unwrap();
    failed(used.take().await, ErrorKind::InstanceChanged, &[]);
    let now = used.store.inspect().await.unwrap().instance;
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
    failed(taker.await.unwrap(), ErrorKind::InstanceChanged, &[]);
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
    for (content, says) in [(empty, "empty (0 bytes)"), (rubbish, "SQLITE_NOTADB (26)")] {
        std::fs::write(&used.site.path, content).unwrap();
        failed(used.take().await, ErrorKind::Unavailable, &[says]);
        assert_eq!(std::fs::read(&used.site.path).unwrap(), content, "it was touched");
    }
    std::fs::rename(&aside, &used.site.path).unwrap();
    assert_eq!(used.taken().await, 11);
}

#[tokio::test]
async fn a_call_dropped_in_its_transaction_leaves_no_lock() {
    let site = Site::new();
    let (one, two) = (site.ledger(), site.ledger());
    let under = two.inspect().await.unwrap().instance;
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
    assert_eq!(one.inspect().await.unwrap().instance, under);
}
