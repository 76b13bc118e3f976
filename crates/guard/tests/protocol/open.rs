//! Opening a cluster beside many others who open it, too: what they keep locked is asked for again, not for ever.

use sequent_core::{ErrorKind, Stamp, Store};

use crate::harness::{Server, Setup, World};

/// How often an opening makes a call that finds the ledger locked.
const TRIES: usize = 4;

/// Every call to the ledger that an opening makes, of a cluster that is new.
const CALLS: [&str; 6] = ["inspect", "layout", "known", "found", "enlist", "record"];

#[tokio::test(start_paused = true)]
async fn a_ledger_that_others_keep_busy_is_asked_again() {
    for verb in CALLS {
        let world = World::new(2);
        let wires = world.wires();
        wires.ledger.busy_for(verb, TRIES - 1);
        let server = Server::open(&world, "server", Setup::default(), wires).await;
        let server = server.unwrap_or_else(|error| panic!("{verb}: {error}"));
        assert!(server.wires.ledger.calls(verb) >= TRIES, "{verb}");
        assert_eq!(server.take(0, 1).await.unwrap(), [1], "{verb}");
        assert_eq!(server.count(|event| matches!(event, sequent_core::Event::LedgerLost { .. })), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_ledger_that_stays_busy_ends_the_opening() {
    for verb in CALLS {
        let world = World::new(2);
        let wires = world.wires();
        wires.ledger.busy_for(verb, TRIES);
        let error = Server::open(&world, "server", Setup::default(), wires.clone()).await.err();
        assert_eq!(error.map(|error| error.kind()), Some(ErrorKind::NoWitness), "{verb}");
        assert_eq!(wires.ledger.calls(verb), TRIES, "{verb}: as often, and no oftener");
    }
}

#[tokio::test(start_paused = true)]
async fn a_store_that_was_put_into_another_slots_place_is_not_taken_for_a_new_one() {
    let world = World::new(2);
    world.open("before").await.take(0, 5).await.unwrap();
    let stamp = world.stores[0].inspect().await.unwrap().stamp.unwrap();
    for (beside, refused) in [
        (stamp.clone(), true),
        // What a layout before left there, and another ledger's: nothing that counts.
        (Stamp { generation: 0, ..stamp.clone() }, false),
        (Stamp { ledger: "ab".parse().unwrap(), ..stamp }, false),
    ] {
        world.stores[1].empty();
        let wires = world.wires();
        wires.stores[1].puts_beside(beside);
        let server = Server::open(&world, "server", Setup::default(), wires).await.unwrap();
        let Some((slot, error)) = server.outside.first().filter(|_| refused) else {
            assert!(!refused && server.outside.is_empty(), "{:?}", server.outside);
            continue;
        };
        assert_eq!((*slot, error.kind()), (1, ErrorKind::Refused));
        let text = error.to_string();
        assert!(text.contains("holds the store of slot 0, and nothing of slot 1"), "{text}");
        assert!(text.contains("sequent resize --leaving"), "{text}");
        assert_eq!(world.stores[1].inspect().await.unwrap().stamp, None, "nothing was written");
    }
}

#[tokio::test(start_paused = true)]
async fn nor_while_servers_run() {
    let world = World::new(2);
    let server = world.open("server").await;
    server.take(1, 5).await.unwrap();
    let stamp = world.stores[0].inspect().await.unwrap().stamp.unwrap();
    server.wires.stores[1].puts_beside(stamp);
    world.stores[1].empty();
    let error = server.take(1, 5).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused, "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_cluster_begins_only_where_every_store_was_seen() {
    let world = World::new(2);
    let wires = world.wires();
    wires.stores[0].cut();
    let error = Server::open(&world, "server", Setup::default(), wires.clone()).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    let text = error.to_string();
    assert!(text.contains("needs every store to be reachable") && text.contains("slot 0: "), "{text}");
    wires.stores[0].mend();
    Server::open(&world, "server", Setup::default(), wires.clone()).await.unwrap().stop().await;
    // One that has begun opens while a slot is up.
    wires.stores[0].cut();
    let server = Server::open(&world, "again", Setup::default(), wires).await.unwrap();
    assert_eq!(server.outside.len(), 1);
}
