//! What is refused, with what to do about it, and without a secret.

use std::time::Duration;

use sequent_backend::{
    memcached::MemcachedStore,
    net::{Owner, ServerOptions},
};
use sequent_core::{DurabilityClass, ErrorKind, Layout, SlotIndex, Stamp, Store};
use sequent_testkit::servers::{Memcached, Redis};

use crate::support::{Counting, PASSWORD, failed, options, owner, store};

#[tokio::test]
async fn a_login_is_demanded_where_the_server_wants_one() {
    let words = tempfile::tempdir().unwrap();
    let file = words.path().join("words");
    std::fs::write(&file, format!("seq:{PASSWORD}\n")).unwrap();
    // The server reads it as its own user.
    std::fs::set_permissions(words.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let server = Memcached::start_with(&[("auth-file", file.to_str().unwrap())]).await;
    let to = |user: &str, word: &str| {
        let url = format!("memcached://{user}:{word}@{}", server.address());
        MemcachedStore::new(options(&url), owner())
    };
    let counting = Counting::begin(to("seq", PASSWORD), 0).await;
    counting.take(1).await.unwrap();
    failed(
        to("seq", "wrong").inspect().await,
        ErrorKind::Refused,
        &["login of seq", "authentication failure"],
    );
    failed(store(&server).inspect().await, ErrorKind::Refused, &["it asks for a login"]);
}

#[tokio::test]
async fn what_is_no_memcached_is_said_so() {
    let redis = Redis::start().await;
    let url = format!("memcached://{}", redis.address());
    let error = MemcachedStore::new(options(&url), owner()).inspect().await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Refused | ErrorKind::Unavailable), "{error}");
    assert!(error.to_string().contains("inspect memcached://127.0.0.1"), "{error}");
}

#[tokio::test]
async fn it_is_volatile_whatever_its_settings() {
    let server = Memcached::start().await;
    let found = store(&server).inspect().await.unwrap();
    assert_eq!(found.durability.class, DurabilityClass::Volatile);
    assert!(found.version.starts_with("memcached 1."), "{found:?}");
    let told = |name: &str| found.durability.settings.iter().any(|(own, _)| own == name);
    assert!(told("maxbytes") && told("evictions"), "{found:?}");
}

#[tokio::test]
async fn nobody_there_is_unavailable_within_the_limit() {
    // Accepts, and never says a word.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("memcached://{}", silent.local_addr().unwrap());
    let limit = Duration::from_millis(50);
    let store = MemcachedStore::new(ServerOptions { connect_timeout: limit, ..options(&url) }, owner());
    failed(store.inspect().await, ErrorKind::Unavailable, &["50 ms"]);
    drop(silent);
    failed(store.inspect().await, ErrorKind::Unavailable, &["refused"]);
}

/// A stamp of the owner's cluster.
fn stamp(slot: SlotIndex) -> Stamp {
    let (ledger, layout) = ("ab".parse().unwrap(), Layout::new(2, 0).unwrap());
    Stamp { ledger, cluster: owner().cluster, layout, slot, generation: 1 }
}

#[tokio::test]
async fn the_stamps_of_other_slots_in_its_place_are_seen() {
    let server = Memcached::start().await;
    let of = |cluster: &str, slot| {
        MemcachedStore::new(options(&server.url()), Owner { cluster: cluster.parse().unwrap(), slot })
    };
    for (cluster, slot) in [("shop-eu", 3), ("shop-eu", 0), ("other", 2)] {
        let store = of(cluster, slot);
        let under = store.inspect().await.unwrap().instance;
        store.stamp(&under, None, &stamp(slot)).await.unwrap();
    }
    let here = of("shop-eu", 1);
    assert_eq!(here.beside(4).await.unwrap(), [stamp(0), stamp(3)]);
    assert_eq!(here.beside(2).await.unwrap(), [stamp(0)], "no slots beyond the ring");
    assert_eq!(of("shop-eu", 0).beside(4).await.unwrap(), [stamp(3)], "its own is its own");
}
