//! Networks that fail between us and the server: replies cut at every byte, and silence.

use std::time::Duration;

use sequent_backend::{memcached::MemcachedStore, net::ServerOptions};
use sequent_core::ErrorKind;
use sequent_testkit::{
    Oracle,
    proxy::{Direction, Mode, Proxy},
    servers::Memcached,
};
use tokio::time::timeout;

use crate::support::{Counting, options, owner};

/// More than the replies to a take have.
const BYTES: u64 = 120;

/// A store behind a proxy, with so many connections.
async fn behind(server: &Memcached, connections_max: usize) -> (Proxy, Counting) {
    let proxy = Proxy::to(server.address()).await;
    let options = options(&format!("memcached://{}", proxy.address()));
    let store = MemcachedStore::new(ServerOptions { connections_max, ..options }, owner());
    let counting = Counting::begin(store, 0).await;
    (proxy, counting)
}

#[tokio::test]
async fn a_reply_cut_at_any_byte_gives_nothing_twice() {
    let server = Memcached::start().await;
    let (proxy, counting) = behind(&server, 1).await;
    let (oracle, mut lost) = (Oracle::new(), 0);
    for after_bytes in 0..BYTES {
        proxy.set(Mode::Cut { direction: Direction::Back, after_bytes }).await;
        match counting.take(3).await {
            Ok(block) => oracle.add_block(block, "a take that was to be cut").unwrap(),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
                lost += 1;
            }
        }
        proxy.set(Mode::Pass).await;
        // Whatever was left of a connection that is about to be cut is used up; the next is whole.
        for _ in 0..2 {
            let Ok(block) = counting.take(2).await else { continue };
            assert_eq!(block.count(), 2);
            oracle.add_block(block, "a take after it").unwrap();
        }
    }
    assert!((30..BYTES).contains(&lost), "{lost} replies were cut: they have some sixty bytes");
    assert!(oracle.count() > BYTES * 2);
}

#[tokio::test]
async fn after_a_silence_the_first_verb_is_served() {
    let server = Memcached::start().await;
    for silence in [Mode::BlackHole, Mode::HalfOpen] {
        let (proxy, counting) = behind(&server, 4).await;
        let before = counting.take(1).await.unwrap().last();
        proxy.set(silence).await;
        assert!(timeout(Duration::from_millis(200), counting.take(1)).await.is_err(), "{silence:?}");
        proxy.set(Mode::Pass).await;
        let after = counting.take(1).await.unwrap();
        assert!(after.first() > before, "{after} after {before}");
        drop(proxy);
    }
}
