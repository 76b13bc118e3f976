//! Opening a cluster beside many others who open it, too: what they keep locked is asked for again, not for ever.

use sequent_core::ErrorKind;

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
