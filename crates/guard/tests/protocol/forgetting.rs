//! A ledger that says of itself, after a restart, that it forgets; over shards that all forget.

use sequent_core::{DurabilityClass, ErrorKind};
use sequent_guard::{GuardConfig, LedgerFault};

use crate::harness::{Kind, Setup, World};

async fn trouble_after_a_restart(shards: DurabilityClass, volatile_alone: bool) -> Option<LedgerFault> {
    let world = World::of(Kind { class: shards, ..Kind::default() });
    let config = GuardConfig { volatile_alone, ..GuardConfig::default() };
    let server = world.open_as("server", Setup { config, ..Setup::default() }).await;
    server.take(0, 5).await.unwrap();
    server.take(1, 5).await.unwrap();
    world.ledger.pose_as(DurabilityClass::Volatile);
    server.heartbeat().await;
    server.take(0, 5).await.unwrap();
    world.ledger.restart();
    server.heartbeat().await;
    let (trouble, given) = (server.guard.trouble(), server.take(0, 5).await);
    if trouble.is_none() {
        assert!(given.is_ok(), "{given:?}");
    } else {
        let error = given.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LedgerBehind);
        assert!(error.to_string().contains("ring.allow_volatile"), "{error}");
        world.ledger.pose_as(DurabilityClass::Durable);
        world.ledger.restart();
        server.heartbeat().await;
        assert_eq!(server.guard.trouble(), None, "it was mended");
        server.take(0, 5).await.unwrap();
    }
    trouble
}

#[tokio::test(start_paused = true)]
async fn a_ledger_that_forgets_since_its_restart_is_refused_where_all_shards_do_and_nobody_allowed_it() {
    let (volatile, durable) = (DurabilityClass::Volatile, DurabilityClass::Durable);
    let refused = trouble_after_a_restart(volatile, false).await;
    assert!(matches!(refused, Some(LedgerFault::Forgets { .. })), "{refused:?}");
    assert_eq!(trouble_after_a_restart(volatile, true).await, None, "allowed by name");
    assert_eq!(trouble_after_a_restart(durable, false).await, None, "a shard remembers");
}
