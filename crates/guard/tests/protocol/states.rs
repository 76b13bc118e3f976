//! The states of a counter: `guard.md` lists the transitions of the code, and each of them happens.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use sequent_guard::{COUNTER_TRANSITIONS, GuardConfig};

use crate::harness::{Server, Setup, When, World, key};

const PAGE: &str = include_str!("../../guard.md");

/// Ids of a take.
const WANT: u64 = 10;

/// The words in backquotes.
fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

#[test]
fn the_page_lists_the_transitions_of_the_code() {
    let rows = PAGE.lines().skip_while(|line| !line.starts_with("| state |")).skip(2);
    let mut listed = BTreeSet::new();
    for row in rows.take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = row.split('|').collect();
        let from = quoted(cells[1]).next().unwrap();
        listed.extend(quoted(cells[cells.len() - 2]).map(|to| (from, to)));
    }
    assert_eq!(listed, COUNTER_TRANSITIONS.legal().iter().copied().collect());
}

#[tokio::test(start_paused = true)]
#[cfg_attr(not(debug_assertions), ignore = "transitions are seen where debug assertions are on")]
async fn each_transition_is_seen() {
    a_failed_raise_is_repeated().await;
    a_store_restarts_after_a_failed_raise().await;
    a_counter_goes_back_after_a_failed_raise().await;
    a_store_restarts_and_a_counter_goes_back().await;
    an_install_comes_too_late().await;
    assert_eq!(COUNTER_TRANSITIONS.unseen(), []);
}

/// A server whose last raise failed, with nothing left under the ceiling.
async fn barred(world: &World) -> Arc<Server> {
    let setup = Setup::default();
    let config = GuardConfig { outage: Duration::ZERO, ..setup.config };
    let server = world.open_as("server", Setup { config, ..setup }).await;
    server.take(0, WANT).await.unwrap();
    server.wires.ledger.cut();
    server.take(0, WANT).await.unwrap_err();
    server
}

async fn goes_on(server: &Server) {
    server.wires.ledger.mend();
    server.heartbeat().await;
    server.take(0, WANT).await.unwrap();
}

async fn a_failed_raise_is_repeated() {
    let world = World::new(2);
    goes_on(&*barred(&world).await).await;
}

async fn a_store_restarts_after_a_failed_raise() {
    let world = World::new(2);
    let server = barred(&world).await;
    world.stores[0].restart();
    looked_back().await;
    goes_on(&server).await;
}

async fn a_counter_goes_back_after_a_failed_raise() {
    let world = World::new(2);
    let server = barred(&world).await;
    assert!(world.stores[0].set_value(&key(), 1));
    looked_back().await;
    goes_on(&server).await;
}

/// Long enough for one look at the counters that moved last.
async fn looked_back() {
    tokio::time::sleep(Duration::from_millis(1100)).await;
}

async fn a_store_restarts_and_a_counter_goes_back() {
    let world = World::new(2);
    let server = world.open("server").await;
    server.take_to(0, 5).await;
    world.stores[0].restart();
    server.take(0, WANT).await.unwrap();
    assert!(world.stores[0].set_value(&key(), 1));
    server.take(0, WANT).await.unwrap();
}

/// Another server closes the cell for the next epoch meanwhile, and the late one joins that.
async fn an_install_comes_too_late() {
    let world = World::new(2);
    let (late, other) = (world.open("late").await, world.open("other").await);
    let gate = late.wires.stores[0].hold("install", When::Before);
    let opener = Arc::clone(&late);
    let taken = tokio::spawn(async move { opener.take(0, 1).await });
    gate.reached().await;
    other.take(0, 1).await.unwrap();
    gate.open();
    taken.await.unwrap().unwrap();
}
