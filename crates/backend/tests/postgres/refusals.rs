//! What is refused, with what to do about it; and the privileges, to the letter of the documentation.

use std::{io::Write, time::Duration};

use sequent_backend::{
    net::{ServerOptions, Tls},
    postgres::{PostgresLedger, PostgresStore},
};
use sequent_core::{
    DurabilityClass, ErrorKind, Layout, Store,
    ledger::{Identity, LayoutBook, LayoutPage, LayoutRecord},
};

use crate::support::{Counting, MAKER, PASSWORD, RUNNER, Site, documented_grants, failed, options};

#[tokio::test]
async fn a_login_that_is_refused_is_said_so_without_the_secret() {
    let site = Site::new().await;
    let wrong = site.server.url_as(MAKER, "wrong-word").parse().unwrap();
    let error = PostgresStore::new(options(wrong)).inspect().await.unwrap_err();
    assert!(!error.to_string().contains("wrong-word"));
    failed::<()>(Err(error), ErrorKind::Refused, &["28P01", MAKER]);
    let nobody = site.server.url_as("nobody", PASSWORD).parse().unwrap();
    failed(PostgresStore::new(options(nobody)).inspect().await, ErrorKind::Refused, &["nobody"]);
    site.server.stop().await;
    failed(site.store().inspect().await, ErrorKind::Unavailable, &["inspect store postgres://seq@127.0.0.1"]);
}

#[tokio::test]
async fn a_password_comes_from_a_file_and_goes_before_the_url() {
    let site = Site::new().await;
    let mut file = tempfile::NamedTempFile::new().unwrap();
    writeln!(file, "{PASSWORD}").unwrap();
    let url = site.server.url_as(MAKER, "wrong-word").parse().unwrap();
    let with = |path, url| ServerOptions { password_file: Some(path), ..options(url) };
    let wrong_word = with(file.path().to_owned(), url);
    assert!(!format!("{wrong_word:?}").contains("wrong-word"));
    PostgresStore::new(wrong_word).inspect().await.unwrap();
    let missing = PostgresStore::new(with("/no/such/file".into(), site.url(MAKER)));
    failed(missing.inspect().await, ErrorKind::Refused, &["password_file /no/such/file"]);
}

#[tokio::test]
async fn a_login_refused_for_a_moment_is_no_refusal_of_one_that_was_let_in() {
    let site = Site::new().await;
    let store = site.store();
    let under = store.inspect().await.unwrap().instance;
    let set = async |word: &str| site.server.sql(&format!("ALTER ROLE {MAKER} PASSWORD '{word}'")).await;
    set("another-word").await;
    store.disconnect().await;
    failed(store.inspect().await, ErrorKind::Unavailable, &["login refused: 28P01"]);
    failed(site.store().inspect().await, ErrorKind::Refused, &["login refused: 28P01"]);
    site.server.sql(&format!("ALTER ROLE {MAKER} NOLOGIN")).await;
    set(PASSWORD).await;
    failed(store.inspect().await, ErrorKind::Unavailable, &["login refused: 28000"]);
    site.server.sql(&format!("ALTER ROLE {MAKER} LOGIN")).await;
    assert_eq!(store.inspect().await.unwrap().instance, under);
}

#[tokio::test]
async fn tables_are_made_where_they_may_be_and_never_again() {
    let site = Site::new().await;
    let no = ServerOptions { create: false, ..options(site.url(MAKER)) };
    let store = PostgresStore::new(no.clone());
    failed(store.inspect().await, ErrorKind::Refused, &["none may be made"]);
    let may_not = PostgresStore::new(options(site.url(RUNNER)));
    failed(may_not.inspect().await, ErrorKind::Refused, &["42501", "privilege"]);
    let counting = Counting::begin(site.store(), 0).await;
    counting.take(1).await.unwrap();
    store.inspect().await.unwrap();
    let quoted: ServerOptions =
        ServerOptions { schema: Some("O'dd \"name\"; --".parse().unwrap()), ..options(site.url(MAKER)) };
    let other = Counting::begin(PostgresStore::new(quoted), 500).await;
    assert_eq!(other.take(1).await.unwrap().first(), 501);
    site.server.sql("DROP SCHEMA sequent_store CASCADE").await;
    failed(counting.take(1).await, ErrorKind::Refused, &[]);
    failed(counting.store.inspect().await, ErrorKind::Refused, &["restore them"]);
    assert_eq!(
        site.server.sql("SELECT count(*) FROM pg_namespace WHERE nspname = 'sequent_store'").await,
        "0\n"
    );
}

#[tokio::test]
async fn a_ledgers_schema_is_no_stores() {
    let site = Site::new().await;
    site.ledger().inspect().await.unwrap();
    let mixed = ServerOptions { schema: Some("sequent_ledger".parse().unwrap()), ..options(site.url(MAKER)) };
    let store = PostgresStore::new(mixed);
    failed(store.inspect().await, ErrorKind::Refused, &["is a ledger's", "expected a store's"]);
}

#[tokio::test]
async fn the_documented_grants_are_enough_for_a_role_that_makes_nothing() {
    let site = Site::new().await;
    let made = Counting::begin(site.store(), 0).await;
    site.ledger().inspect().await.unwrap();
    let run = ServerOptions { create: false, ..options(site.url(RUNNER)) };
    let store = PostgresStore::new(run.clone());
    failed(store.inspect().await, ErrorKind::Refused, &[]);
    site.server.sql(&documented_grants("sequent_store")).await;
    let counting = Counting::begin(store, 10).await;
    assert_eq!(counting.under, made.under);
    assert_eq!(counting.take(1).await.unwrap().first(), 11);
    counting.store.mark(&counting.under, 7).await.unwrap();
    counting.store.lift(counting.cell(), crate::support::epoch(1), 50).await.unwrap();
    site.server.sql(&documented_grants("sequent_ledger")).await;
    let ledger = PostgresLedger::new(run);
    crate::ledger::every_call(&ledger).await;
}

/// A ring that was fenced, and can't be changed further, would give nothing: a plan shows that all the rest may be done.
#[tokio::test]
async fn a_ledger_that_may_delete_nothing_plans_no_resize() {
    let site = Site::new().await;
    let (layout, cluster) = (|n| Layout::new(n, 0).unwrap(), "shop".parse().unwrap());
    let first = LayoutRecord { cluster, layout: layout(1), generation: 1 };
    let page = LayoutPage::of(&site.ledger().found(&first).await.unwrap());
    let planned = page.planned(layout(2));
    for table in ["counters", "documents"] {
        site.server.sql(&format!("REVOKE DELETE ON sequent_ledger.{table} FROM {MAKER}")).await;
        failed(site.ledger().turn(&page, &planned).await, ErrorKind::Refused, &["42501", table]);
        assert_eq!(site.ledger().page().await.unwrap(), Some(page.clone()));
        site.server.sql(&format!("GRANT DELETE ON sequent_ledger.{table} TO {MAKER}")).await;
    }
    site.ledger().turn(&page, &planned).await.unwrap();
}

#[tokio::test]
async fn settings_that_lose_commits_are_classed() {
    let site = Site::with(&[("fsync", "off"), ("full_page_writes", "off")]).await;
    let durability = site.store().inspect().await.unwrap().durability;
    assert_eq!(durability.class, DurabilityClass::Volatile, "{durability:?}");
    site.server.set("fsync", "on").await;
    site.server.restart().await;
    let durability = site.store().inspect().await.unwrap().durability;
    assert_eq!(durability.class, DurabilityClass::Lossy, "{durability:?}");
    assert!(durability.settings.contains(&("full_page_writes".to_owned(), "off".to_owned())));
    site.server.sql("ALTER TABLE sequent_store.cells SET UNLOGGED").await;
    assert_eq!(site.store().inspect().await.unwrap().durability.class, DurabilityClass::Volatile);
}

#[tokio::test]
async fn a_standby_is_away_until_it_is_promoted() {
    let site = Site::new().await;
    let before = Counting::begin(site.store(), 0).await;
    before.take(5).await.unwrap();
    site.server.stop().await;
    site.server.keep_file("data/standby.signal", b"").await;
    site.server.restart().await;
    let says = ["standby", "promote it", "primary"];
    failed(site.store().inspect().await, ErrorKind::Unavailable, &says);
    failed(site.ledger().inspect().await, ErrorKind::Unavailable, &says);
    for _ in 0..2 {
        failed(before.take(1).await, ErrorKind::Unavailable, &[]);
        failed(before.store.inspect().await, ErrorKind::Unavailable, &[]);
    }
    assert_eq!(site.server.sql("SELECT pg_promote()").await, "t\n");
    let under = before.store.inspect().await.unwrap().instance;
    assert_ne!(under, before.under, "another timeline");
    let promoted = Counting { under, ..before };
    assert_eq!(promoted.take(1).await.unwrap().first(), 6);
}

#[tokio::test]
async fn a_server_that_takes_no_writes_is_away_until_it_takes_them() {
    let site = Site::new().await;
    let counting = Counting::begin(site.store(), 0).await;
    let set = |word: &str| {
        format!("ALTER SYSTEM SET default_transaction_read_only = {word}; SELECT pg_reload_conf()")
    };
    site.server.sql(&set("on")).await;
    site.until("SHOW default_transaction_read_only", |found| found == "on").await;
    for _ in 0..2 {
        failed(counting.take(1).await, ErrorKind::Unavailable, &["no writes"]);
        failed(site.store().inspect().await, ErrorKind::Unavailable, &["default_transaction_read_only"]);
    }
    failed(counting.store.inspect().await, ErrorKind::Unavailable, &["default_transaction_read_only"]);
    site.server.sql(&format!("SET default_transaction_read_only = off; {}", set("off"))).await;
    site.until("SHOW default_transaction_read_only", |found| found == "off").await;
    assert_eq!(counting.take(1).await.unwrap().first(), 1);
}

#[tokio::test]
async fn tls_is_demanded_where_it_is_configured() {
    let site = Site::new().await;
    let tls = Tls::Require;
    let store = PostgresStore::new(ServerOptions { tls, ..options(site.url(MAKER)) });
    failed(store.inspect().await, ErrorKind::Refused, &["TLS"]);
    let (tls, tls_ca_file) = (Tls::Verify, Some(std::path::PathBuf::from("/no/such/file")));
    let store = PostgresStore::new(ServerOptions { tls, tls_ca_file, ..options(site.url(MAKER)) });
    failed(store.inspect().await, ErrorKind::Refused, &["tls_ca_file /no/such/file"]);
}

#[tokio::test]
async fn nobody_there_is_unavailable_within_the_limit() {
    // Accepts, and never says a word.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("postgres://seq:{PASSWORD}@{}/postgres", silent.local_addr().unwrap()).parse().unwrap();
    let limit = Duration::from_millis(50);
    let store = PostgresStore::new(ServerOptions { connect_timeout: limit, ..options(url) });
    failed(store.inspect().await, ErrorKind::Unavailable, &["50 ms"]);
}
