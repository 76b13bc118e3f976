//! What is refused, with what to do about it.

use std::{io::Write, time::Duration};

use sequent_backend::{
    mongodb::MongodbStore,
    net::{ServerOptions, Tls},
};
use sequent_core::{DurabilityClass, ErrorKind, Sight, Store, Why};
use sequent_testkit::mongo::{MongoDouble, Role, Setting};

use crate::support::{CELLS, Counting, SHARD, epoch, failed, options, store};

#[tokio::test]
async fn a_login_that_is_refused_is_said_so_without_the_secret() {
    let server = MongoDouble::start();
    let wrong = MongodbStore::new(options(&server.url_with("wrong-word")));
    let error = wrong.inspect().await.unwrap_err();
    assert!(!error.to_string().contains("wrong-word"));
    assert_eq!(error.why(), Some(Why::LoginRefused));
    failed::<()>(Err(error), ErrorKind::Refused, &["inspect store mongodb://seq@127.0.0.1"]);
    let elsewhere = format!("{}?authSource=admin", server.url());
    let elsewhere = MongodbStore::new(options(&elsewhere));
    failed(elsewhere.inspect().await, ErrorKind::Refused, &[]);
    server.kill();
    let error = store(&server).inspect().await.unwrap_err();
    assert_eq!(error.why(), Some(Why::ConnectionRefused));
    failed::<()>(Err(error), ErrorKind::Unavailable, &["refused"]);
}

#[tokio::test]
async fn a_look_makes_nothing_and_says_what_it_leaves_out() {
    let server = MongoDouble::start();
    let looked_at = store(&server);
    let examiner = looked_at.examiner().unwrap();
    failed(examiner.examine(&[]).await, ErrorKind::Refused, &["no collections are there"]);
    assert!(server.collections().is_empty(), "{:?}", server.collections());
    let counting = Counting::begin(store(&server), 7).await;
    let found = examiner.examine(std::slice::from_ref(&counting.order)).await.unwrap();
    let cell = Sight::Held { epoch: epoch(1), open: true, value: 7, expires_ms: None };
    assert_eq!((found.inspection.instance, found.cells), (counting.under, vec![cell]));
    let page = examiner.cells(None).await.unwrap();
    assert!(page.is_partial && page.cells.is_empty() && page.next.is_none(), "{page:?}");
}

#[tokio::test]
async fn a_password_comes_from_a_file_and_goes_before_the_url() {
    let server = MongoDouble::start();
    let mut file = tempfile::NamedTempFile::new().unwrap();
    writeln!(file, "{}", MongoDouble::PASSWORD).unwrap();
    let with = |path, url: &str| ServerOptions { password_file: Some(path), ..options(url) };
    let given = with(file.path().to_owned(), &server.url_with("wrong-word"));
    assert!(!format!("{given:?}").contains("wrong-word"));
    let store = MongodbStore::new(given);
    store.inspect().await.unwrap();
    assert!(!format!("{store:?}").contains("wrong-word"));
    let missing = MongodbStore::new(with("/no/such/file".into(), &server.url()));
    failed(missing.inspect().await, ErrorKind::Refused, &["password_file /no/such/file"]);
    let write = |word: &str| std::fs::write(file.path(), word).unwrap();
    write("another-word");
    store.disconnect().await;
    failed(store.inspect().await, ErrorKind::Unavailable, &["login refused"]);
    let begun = MongodbStore::new(with(file.path().to_owned(), &server.url()));
    failed(begun.inspect().await, ErrorKind::Refused, &["login refused"]);
    write(MongoDouble::PASSWORD);
    store.inspect().await.expect("it was let in before, and is again");
}

#[tokio::test]
async fn a_server_without_a_journal_is_refused() {
    let server = MongoDouble::start();
    let counting = Counting::begin(store(&server), 0).await;
    assert_eq!(counting.store.inspect().await.unwrap().durability.class, DurabilityClass::Durable);
    server.set(Setting::Journals(false));
    failed(counting.take(1).await, ErrorKind::Refused, &["journal"]);
    failed(counting.store.inspect().await, ErrorKind::Refused, &["may be lost"]);
    server.drop_database();
    failed(store(&server).inspect().await, ErrorKind::Refused, &["journal"]);
}

#[tokio::test]
async fn a_router_is_refused() {
    let server = MongoDouble::start();
    server.set(Setting::Role(Role::Router));
    failed(store(&server).inspect().await, ErrorKind::Refused, &["mongos", "primary"]);
}

#[tokio::test]
async fn a_user_who_may_only_read_is_refused() {
    let server = MongoDouble::start();
    Counting::begin(store(&server), 0).await;
    server.set(Setting::ReadsOnly(true));
    failed(store(&server).inspect().await, ErrorKind::Refused, &["13", "readWrite"]);
}

#[tokio::test]
async fn what_somebody_wrote_by_hand_is_not_counted_on() {
    let server = MongoDouble::start();
    let counting = Counting::begin(store(&server), 0).await;
    server.overwrite(CELLS, "v", &bson::Bson::Double(9e15));
    failed(counting.take(1).await, ErrorKind::Refused, &["64-bit integer"]);
    failed(counting.store.close(counting.cell(), epoch(2)).await, ErrorKind::Refused, &["64-bit integer"]);
    server.overwrite(SHARD, "stamp", &bson::Bson::String("sequent/0 what".to_owned()));
    failed(counting.store.inspect().await, ErrorKind::Refused, &["stamp"]);
    server.overwrite(SHARD, "schema_version", &bson::Bson::Int32(9));
    failed(store(&server).inspect().await, ErrorKind::Refused, &["version 9"]);
}

#[tokio::test]
async fn tls_is_demanded_where_it_is_configured() {
    let server = MongoDouble::start();
    let with =
        |tls, tls_ca_file| MongodbStore::new(ServerOptions { tls, tls_ca_file, ..options(&server.url()) });
    let ca_file = Some("/no/such/file".into());
    failed(with(Tls::Verify, ca_file).inspect().await, ErrorKind::Refused, &["/no/such/file"]);
    failed(with(Tls::Require, None).inspect().await, ErrorKind::Unavailable, &[]);
}

#[tokio::test]
async fn nobody_there_is_unavailable_within_the_limit() {
    // Accepts, and never says a word.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("mongodb://seq:word@{}/seq", silent.local_addr().unwrap());
    let connect_timeout = Duration::from_millis(50);
    let store = MongodbStore::new(ServerOptions { connect_timeout, ..options(&url) });
    failed(store.inspect().await, ErrorKind::Unavailable, &[]);
}
