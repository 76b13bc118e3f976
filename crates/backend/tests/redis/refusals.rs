//! What is refused, with what to do about it, and without a secret; and the permissions, to the letter of the documentation.

use std::time::Duration;

use sequent_backend::{
    net::{Owner, ServerOptions},
    redis::RedisStore,
};
use sequent_core::{DurabilityClass, ErrorKind, Layout, SlotIndex, Stamp, Store};
use sequent_testkit::servers::{Port, Redis};

use crate::support::{
    Counting, DURABLE, PASSWORD, Site, USER, documented_user, epoch, failed, options, owner,
};

fn to(url: &str) -> RedisStore {
    RedisStore::new(options(url), owner())
}

#[tokio::test]
async fn a_login_that_is_refused_is_said_so_without_the_secret() {
    let site = Site::new().await;
    let error = to(&site.server.url_as(USER, "wrong-word")).inspect().await.unwrap_err();
    assert!(!error.to_string().contains("wrong-word"), "{error}");
    failed::<()>(Err(error), ErrorKind::Refused, &["inspect redis://sequent@127.0.0.1"]);
    failed(to(&site.server.url_as("nobody", PASSWORD)).inspect().await, ErrorKind::Refused, &["nobody"]);
    let locked = Redis::start_with(&[("requirepass", PASSWORD)]).await;
    failed(to(&locked.url()).inspect().await, ErrorKind::Refused, &["it asks for a login"]);
    Counting::begin(to(&format!("redis://:{PASSWORD}@{}", locked.address())), 0).await;
    site.server.stop().await;
    failed(site.store().inspect().await, ErrorKind::Unavailable, &["inspect redis://sequent@127.0.0.1"]);
}

#[tokio::test]
async fn a_password_comes_from_a_file() {
    let site = Site::new().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("word");
    std::fs::write(&file, format!("{PASSWORD}\n")).unwrap();
    let with = |path| {
        let from_url = options(&format!("redis://{USER}@{}", site.server.address()));
        RedisStore::new(ServerOptions { password_file: Some(path), ..from_url }, owner())
    };
    let counting = Counting::begin(with(file.clone()), 0).await;
    std::fs::write(&file, "another-word").unwrap();
    counting.store.disconnect().await;
    failed(counting.store.inspect().await, ErrorKind::Unavailable, &["login refused"]);
    failed(with(file.clone()).inspect().await, ErrorKind::Refused, &["login refused"]);
    std::fs::write(&file, PASSWORD).unwrap();
    counting.store.inspect().await.expect("it was let in before, and is again");
    failed(
        with("/no/such/file".into()).inspect().await,
        ErrorKind::Refused,
        &["password_file", "/no/such/file"],
    );
}

/// Every verb with the documented permissions; and each of those is needed.
#[tokio::test]
async fn the_documented_permissions_are_enough_and_each_is_needed() {
    let site = Site::new().await;
    every_verb(&site).await.unwrap();
    let statement = documented_user();
    let all: Vec<&str> = statement.split(' ').filter(|word| word.starts_with('+')).collect();
    assert!(all.len() > 10, "{statement}");
    for left_out in all {
        let words: Vec<&str> = statement.split(' ').filter(|word| *word != left_out).collect();
        site.server.ask(&["FLUSHALL"]).await;
        site.server.ask(&["SCRIPT", "FLUSH"]).await;
        site.server.ask(&words).await;
        match left_out {
            // Used of an idle connection, of another database, where cells were deleted, where one was written over, and
            // by who examines.
            "+ping" | "+select" | "+scan" | "+del" | "+pttl" => {}
            "+config|get" => every_verb(&site).await.unwrap(),
            _ => failed(every_verb(&site).await, ErrorKind::Refused, &["the user lacks a permission"]),
        }
    }
}

async fn every_verb(site: &Site) -> Result<(), sequent_core::SourceError> {
    let store = site.store();
    let under = store.inspect().await?.instance;
    let counting = Counting { store, under, order: crate::support::key("order") };
    counting.reopen(1, 5).await?;
    counting.take(2).await?;
    counting.store.lift(counting.cell(), epoch(1), 50).await?;
    counting.store.mark(&counting.under, 7).await.map(drop)
}

#[tokio::test]
async fn settings_that_forget_are_classed() {
    let site = Site::with(DURABLE).await;
    let class = || async { site.store().inspect().await.unwrap().durability };
    let durability = class().await;
    assert_eq!(durability.class, DurabilityClass::Durable, "{durability:?}");
    assert!(durability.settings.contains(&("appendfsync".to_owned(), "always".to_owned())));
    for (name, value, expected) in [
        ("appendfsync", "everysec", DurabilityClass::Lossy),
        ("appendfsync", "no", DurabilityClass::Volatile),
        ("appendfsync", "always", DurabilityClass::Durable),
        ("maxmemory-policy", "allkeys-lru", DurabilityClass::Durable),
        ("maxmemory", "100000000", DurabilityClass::Volatile),
        ("maxmemory-policy", "volatile-lru", DurabilityClass::Durable),
        ("appendonly", "no", DurabilityClass::Volatile),
    ] {
        site.server.ask(&["CONFIG", "SET", name, value]).await;
        let durability = class().await;
        assert_eq!(durability.class, expected, "{name} {value}: {durability:?}");
    }
}

#[tokio::test]
async fn a_node_of_a_cluster_is_refused() {
    // Nodes speak with each other on a port of their own, by default 10000 above: that one may be anybody's.
    let bus = Port::reserve();
    let settings = [("cluster-enabled", "yes"), ("cluster-port", &bus.address().port().to_string())];
    let node = Redis::start_with(&settings).await;
    failed(
        to(&node.url()).inspect().await,
        ErrorKind::Refused,
        &["node of a cluster", "a server of its own"],
    );
}

#[tokio::test]
async fn nobody_there_is_unavailable_within_the_limit() {
    // Accepts, and never says a word.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let limit = Duration::from_millis(50);
    let from_url = options(&format!("redis://{USER}:{PASSWORD}@{}", silent.local_addr().unwrap()));
    let store = RedisStore::new(ServerOptions { connect_timeout: limit, ..from_url }, owner());
    failed(store.inspect().await, ErrorKind::Unavailable, &["50 ms"]);
}

#[tokio::test]
async fn owners_and_databases_share_nothing() {
    let site = Site::new().await;
    let here = Counting::begin(site.store(), 0).await;
    let elsewhere = to(&format!("{}1", site.server.url_as(USER, PASSWORD).trim_end_matches('0')));
    let there = Counting::begin(elsewhere, 500).await;
    assert_eq!(here.take(1).await.unwrap().first(), 1);
    assert_eq!(there.take(1).await.unwrap().first(), 501);
    let mut other = owner();
    other.slot = 11;
    let slot = Counting::begin(RedisStore::new(options(&site.url()), other), 900).await;
    assert_eq!((slot.take(1).await.unwrap().first(), here.take(1).await.unwrap().first()), (901, 2));
}

/// A stamp of the owner's cluster.
fn stamp(slot: SlotIndex) -> Stamp {
    let (ledger, layout) = ("ab".parse().unwrap(), Layout::new(2, 0).unwrap());
    Stamp { ledger, cluster: owner().cluster, layout, slot, generation: 1 }
}

#[tokio::test]
async fn the_stamps_of_other_slots_in_its_place_are_seen() {
    let site = Site::new().await;
    let of = |cluster: &str, slot| {
        RedisStore::new(options(&site.url()), Owner { cluster: cluster.parse().unwrap(), slot })
    };
    for (cluster, slot) in [("shop-eu", 3), ("shop-eu", 0)] {
        let store = of(cluster, slot);
        let under = store.inspect().await.unwrap().instance;
        store.stamp(&under, None, &stamp(slot)).await.unwrap();
    }
    let here = of("shop-eu", 1);
    assert_eq!(here.beside(4).await.unwrap(), [stamp(0), stamp(3)]);
    assert_eq!(here.beside(2).await.unwrap(), [stamp(0)], "no slots beyond the ring");
    assert_eq!(of("shop-eu", 0).beside(4).await.unwrap(), [stamp(3)], "its own is its own");
}
