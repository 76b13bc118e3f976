//! Files that are made, left, and not ours.

use sequent_backend::sqlite::{SqliteOptions, SqliteStore};
use sequent_core::{Cell, DurabilityClass, ErrorKind, Store, ledger::Identity};
use sqlx::{Connection, SqliteConnection};

use crate::support::{Site, epoch, failed, key, names};

#[tokio::test]
async fn a_new_file_appears_complete_and_alone() {
    let site = Site::new();
    let store = site.store();
    let inspection = store.inspect().await.unwrap();
    assert_eq!(inspection.durability.class, DurabilityClass::Durable, "{:?}", inspection.durability);
    let settings = [("journal_mode", "wal"), ("synchronous", "full")];
    assert_eq!(inspection.durability.settings, settings.map(|(name, value)| (name.into(), value.into())));
    assert_eq!(names(site.folder.path()), ["the file.db", "the file.db-shm", "the file.db-wal"]);
    store.disconnect().await;
    assert_eq!(names(site.folder.path()), ["the file.db"], "a clean close leaves one file");
    assert_eq!(store.inspect().await.unwrap().instance, inspection.instance);
}

#[tokio::test]
async fn the_first_of_two_to_leave_takes_nothing_with_it() {
    let site = Site::new();
    let (one, two) = (site.store(), site.store());
    let under = one.inspect().await.unwrap().instance;
    let (order, first) = (key("order"), epoch(1));
    let cell = Cell { key: &order, under: &under };
    two.close(cell, first).await.unwrap();
    one.disconnect().await;
    assert_eq!(names(site.folder.path()).len(), 3);
    two.install(cell, first, 0).await.unwrap();
    assert_eq!(two.take(cell, first, 1).await.unwrap().first(), 1);
    two.disconnect().await;
    assert_eq!(names(site.folder.path()), ["the file.db"]);
    assert_eq!(one.take(cell, first, 1).await.unwrap().first(), 2);
}

#[tokio::test]
async fn a_missing_file_is_made_only_where_that_is_allowed() {
    let site = Site::new();
    let store = SqliteStore::new(&site.path, SqliteOptions::default());
    failed(store.inspect().await, ErrorKind::Unavailable, &["no file is there, and none may be made"]);
    assert!(names(site.folder.path()).is_empty());
}

#[tokio::test]
async fn a_missing_directory_is_said() {
    let mut site = Site::new();
    site.path = site.folder.path().join("nowhere").join("the file.db");
    failed(site.store().inspect().await, ErrorKind::Unavailable, &["directory", "nowhere can't be opened"]);
    assert!(names(site.folder.path()).is_empty());
}

#[tokio::test]
async fn what_a_deleted_file_left_behind_is_not_taken_over() {
    let site = Site::new();
    let store = site.store();
    let under = store.inspect().await.unwrap().instance;
    let order = key("order");
    store.close(Cell { key: &order, under: &under }, epoch(1)).await.unwrap();
    std::fs::remove_file(&site.path).unwrap();
    let other = site.store();
    let inspection = other.inspect().await.unwrap();
    assert_ne!(inspection.instance, under);
    assert!(!inspection.has_cells, "the log of the deleted file was read");
}

#[tokio::test]
async fn a_reserved_read_of_the_mark_creates_and_writes_nothing() {
    let site = Site::new();
    let store = site.store();
    let under = store.inspect().await.unwrap().instance;
    let log = || std::fs::metadata(site.beside("-wal")).unwrap().len();
    let before = log();
    assert_eq!(store.mark(&under, 0).await.unwrap(), 0);
    assert_eq!(log(), before);
    assert_eq!((store.mark(&under, 5).await.unwrap(), store.mark(&under, 3).await.unwrap()), (5, 5));
}

#[tokio::test]
async fn a_foreign_database_is_refused_untouched() {
    let site = Site::new();
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(&site.path).create_if_missing(true);
    let mut foreign = SqliteConnection::connect_with(&options).await.unwrap();
    sqlx::query("CREATE TABLE cells (k)").execute(&mut foreign).await.unwrap();
    foreign.close().await.unwrap();
    let before = std::fs::read(&site.path).unwrap();
    failed(site.store().inspect().await, ErrorKind::Refused, &["application_id 0x0", "0x73716e73", "store"]);
    failed(
        site.ledger().inspect().await,
        ErrorKind::Refused,
        &["application_id 0x0", "0x73716e6c", "ledger"],
    );
    assert!(std::fs::read(&site.path).unwrap() == before, "the foreign file was changed");
    assert_eq!(names(site.folder.path()), ["the file.db"]);
}

#[tokio::test]
async fn a_ledger_is_no_store_and_a_store_no_ledger() {
    let site = Site::new();
    site.ledger().inspect().await.unwrap();
    failed(site.store().inspect().await, ErrorKind::Refused, &["0x73716e6c", "0x73716e73"]);
}

#[tokio::test]
async fn a_schema_of_the_future_is_refused() {
    let site = Site::new();
    let store = site.store();
    store.inspect().await.unwrap();
    store.disconnect().await;
    sqlx::query("PRAGMA user_version = 2").execute(&mut site.stranger().await).await.unwrap();
    failed(store.inspect().await, ErrorKind::Refused, &["schema version: found 2, expected 1"]);
}

#[tokio::test]
async fn a_table_that_is_gone_is_refused() {
    let site = Site::new();
    let store = site.store();
    let under = store.inspect().await.unwrap().instance;
    sqlx::query("DROP TABLE cells").execute(&mut site.stranger().await).await.unwrap();
    let order = key("order");
    let take = store.take(Cell { key: &order, under: &under }, epoch(1), 1).await;
    failed(take, ErrorKind::Refused, &["no such table: cells"]);
}

#[tokio::test]
async fn weaker_settings_of_the_file_are_mended() {
    let site = Site::new();
    let store = site.store();
    store.inspect().await.unwrap();
    store.disconnect().await;
    let mut stranger = site.stranger().await;
    sqlx::query("PRAGMA journal_mode = DELETE").execute(&mut stranger).await.unwrap();
    stranger.close().await.unwrap();
    let durability = store.inspect().await.unwrap().durability;
    assert_eq!(durability.settings[0], ("journal_mode".to_owned(), "wal".to_owned()));
}

#[tokio::test]
async fn a_path_with_odd_characters_is_a_path() {
    let mut site = Site::new();
    site.path = site.folder.path().join("file:x?mode=memory & 100%");
    let store = site.store();
    store.inspect().await.unwrap();
    store.disconnect().await;
    assert_eq!(names(site.folder.path()), ["file:x?mode=memory & 100%"]);
}

#[tokio::test]
async fn what_killed_makers_left_goes_when_the_file_is_made() {
    let site = Site::new();
    let ours =
        ["", "-wal", "-shm", "-journal"].map(|beside| format!("the file.db.0123456789abcdef.new{beside}"));
    let others = [
        "another.db.0123456789abcdef.new",
        "the file.db.0123456789abcdeg.new",
        "the file.db.0123456789abcdef.new.bak",
        "the file.db.2026.new",
        "the file.db.new",
    ];
    for name in ours.iter().map(String::as_str).chain(others) {
        std::fs::write(site.folder.path().join(name), "left").unwrap();
    }
    let store = site.store();
    store.inspect().await.unwrap();
    store.disconnect().await;
    let mut expected: Vec<&str> = others.into_iter().chain(["the file.db"]).collect();
    expected.sort_unstable();
    assert_eq!(names(site.folder.path()), expected);
}

#[tokio::test]
async fn a_file_with_two_names_is_refused_under_both() {
    let site = Site::new();
    let store = site.store();
    let under = store.inspect().await.unwrap().instance;
    store.disconnect().await;
    let other = site.folder.path().join("another name of the file.db");
    std::fs::hard_link(&site.path, &other).unwrap();
    let before = std::fs::read(&site.path).unwrap();
    let words = ["2 names", "hard links", "expected 1", "remove the other names", "real copy"];
    for path in [&site.path, &other] {
        let store = SqliteStore::new(path, site.options());
        failed(store.inspect().await, ErrorKind::Refused, &words);
    }
    failed(store.inspect().await, ErrorKind::Refused, &words);
    assert!(std::fs::read(&site.path).unwrap() == before, "a file that was refused was changed");
    assert_eq!(names(site.folder.path()).len(), 2, "something was left beside it");
    std::fs::remove_file(&other).unwrap();
    assert_eq!(store.inspect().await.unwrap().instance, under, "the file is the same as before");
}

#[tokio::test]
async fn a_name_given_to_a_file_in_use_is_refused_and_its_user_goes_on() {
    let site = Site::new();
    let store = site.store();
    let under = store.inspect().await.unwrap().instance;
    let (order, first) = (key("order"), epoch(1));
    let cell = Cell { key: &order, under: &under };
    store.close(cell, first).await.unwrap();
    store.install(cell, first, 0).await.unwrap();
    let other = site.folder.path().join("another name of the file.db");
    std::fs::hard_link(&site.path, &other).unwrap();
    let second = SqliteStore::new(&other, site.options());
    failed(second.inspect().await, ErrorKind::Refused, &["2 names"]);
    assert_eq!(store.take(cell, first, 1).await.unwrap().first(), 1);
}

#[tokio::test]
async fn makers_of_files_in_one_directory_wait_for_each_other() {
    let site = Site::new();
    let directory = std::fs::File::open(site.folder.path()).unwrap();
    directory.lock().unwrap();
    let store = site.store();
    failed(store.inspect().await, ErrorKind::Contended, &["another process makes a file here"]);
    assert!(names(site.folder.path()).is_empty());
    directory.unlock().unwrap();
    store.inspect().await.unwrap();
}
