//! Rules of dense counters.

use std::collections::BTreeMap;

use sequent_core::{BoxFuture, Rules, ledger::Identity};

use crate::{
    dense::count,
    harness::{Kind, Server, World},
    twins::beside,
};

/// Takes one by one, whatever comes of it, and notes what was given.
async fn tries(server: &Server, given: &mut BTreeMap<u64, usize>) {
    for _ in 0..3 {
        if let Ok(last) = count(server, 1).await {
            *given.entry(last).or_default() += 1;
        }
    }
}

fn repeats(given: BTreeMap<u64, usize>) -> Vec<String> {
    given.into_iter().filter(|(_, times)| *times > 1).map(|(last, _)| format!("invoice {last}")).collect()
}

/// The record of a server at another master comes by replication; neither reaches the other's shard.
pub(super) fn two_writable_masters(rules: Rules) -> BoxFuture<'static, Vec<String>> {
    Box::pin(async move {
        let world = World::of(Kind { rules, ..Kind::default() });
        let (a, mut given) = (world.open("a").await, BTreeMap::new());
        count(&a, 3).await.unwrap();
        let other = beside(&world);
        a.wires.stores[1].cut();
        let wires = other.wires();
        wires.stores[0].cut();
        let b = other.open_over("b", wires).await;
        let run = other.ledger.instance();
        world.ledger.record(&world.ledger.instance(), None, &run).await.unwrap();
        tries(&a, &mut given).await;
        tries(&b, &mut given).await;
        repeats(given)
    })
}

/// A ledger that is restored to before the numbers of a server that is gone.
pub(super) fn an_older_ledger(rules: Rules) -> BoxFuture<'static, Vec<String>> {
    Box::pin(async move {
        let world = World::of(Kind { rules, ..Kind::default() });
        let (a, mut given) = (world.open("a").await, BTreeMap::new());
        count(&a, 3).await.unwrap();
        let copy = world.ledger.snapshot();
        tries(&a, &mut given).await;
        a.kill();
        world.ledger.restore(copy);
        tries(&*world.open("b").await, &mut given).await;
        repeats(given)
    })
}
