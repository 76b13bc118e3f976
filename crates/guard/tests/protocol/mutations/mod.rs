//! Each rule of `guard.md`, switched off alone, in a scenario that repeats a number without it and none with it.
//!
//! The scenarios follow the shortest counterexamples of `model/guard.py`. Where another rule would catch the repeat
//! first, a second server, which has seen less, is the one that repeats.

mod dense;
mod epochs;
mod history;
mod monotonicity;

use std::sync::Arc;

use sequent_core::{BoxFuture, Rule, Rules};

use crate::harness::{Kind, Server, When, World};

type Scenario = fn(Rules) -> BoxFuture<'static, Vec<String>>;

/// A scenario that runs over one world: the repeats found in it.
macro_rules! scenario {
    ($story:path) => {
        |rules| {
            Box::pin(async move {
                let world = World::of(Kind { rules, ..Kind::default() }).tolerant();
                $story(&world).await;
                world.numbers.repeats()
            })
        }
    };
}

const TABLE: [(Rule, Scenario); 26] = [
    (Rule::SameConnection, scenario!(epochs::a_permit_from_before_the_restore)),
    (Rule::RowNamesStore, scenario!(epochs::a_row_from_before_the_restore)),
    (Rule::RowNamesLedger, scenario!(history::an_old_window_is_joined)),
    (Rule::SameLedger, scenario!(history::a_raise_from_before_the_restore)),
    (Rule::EpochInTake, scenario!(epochs::a_cell_closed_for_another_epoch)),
    (Rule::TakeNeverCreates, scenario!(epochs::a_take_finds_no_cell)),
    (Rule::LiftNeverCreates, scenario!(epochs::a_lift_finds_no_cell)),
    (Rule::InstallOnOwnClose, scenario!(epochs::an_install_comes_late)),
    (Rule::OpenCountsValue, scenario!(history::the_store_knows_more_than_the_ledger)),
    (Rule::OpenAtomic, epochs::a_raise_in_the_middle_of_an_open),
    (Rule::RaiseNeedsEpoch, scenario!(epochs::a_raise_after_the_epoch_ended)),
    (Rule::BlockKeepsEpoch, scenario!(epochs::a_block_outlives_its_epoch)),
    (Rule::WitnessFirst, scenario!(epochs::an_id_above_the_ceiling)),
    (Rule::LedgerForward, scenario!(history::a_slow_server_raises_less)),
    (Rule::Marks, scenario!(history::ledger_and_cell_go_back_together)),
    (Rule::MarkRaises, scenario!(history::ledger_and_cell_go_back_together)),
    (Rule::Order, scenario!(monotonicity::set_back_in_use)),
    (Rule::OrderAtFirstTouch, scenario!(monotonicity::set_back_across_a_restart)),
    (Rule::OrderDisjoint, scenario!(monotonicity::set_back_between_two_takes)),
    (Rule::ResizeFence, a_ring_that_grows),
    (Rule::ResizeValues, a_ring_that_grows),
    (Rule::ResizeNumbers, a_ring_that_grows),
    (Rule::ResizeCut, a_ring_that_grows_in_pieces),
    (Rule::OverStaysOver, scenario!(crate::expiry::whoever_comes_late)),
    (Rule::RecordCompared, dense::two_writable_masters),
    (Rule::DenseWitnessed, dense::an_older_ledger),
];

/// A ring grows while a server of the layout before is cut off from the ledger, and goes on.
fn a_ring_that_grows(rules: Rules) -> BoxFuture<'static, Vec<String>> {
    Box::pin(async move {
        let growth = crate::resize::Growth::of(rules);
        growth.story().await;
        let repeats = growth.repeats.lock().unwrap();
        repeats.clone()
    })
}

/// The same, where a resize before this one was cut off amid a key.
fn a_ring_that_grows_in_pieces(rules: Rules) -> BoxFuture<'static, Vec<String>> {
    Box::pin(async move {
        let growth = crate::resize::Growth::of(rules);
        growth.in_pieces().await;
        let repeats = growth.repeats.lock().unwrap();
        repeats.clone()
    })
}

#[tokio::test(start_paused = true)]
async fn every_rule_is_needed() {
    assert_eq!(TABLE.map(|(rule, _)| rule), Rule::ALL, "a scenario for each rule");
    let mut faults = Vec::new();
    for (rule, scenario) in TABLE {
        let with = scenario(Rules::ALL).await;
        let without = scenario(Rules::ALL.without(rule)).await;
        println!(
            "{rule:?}: {}\n    without it: {}",
            rule.as_str(),
            without.first().map_or("nothing", |text| text)
        );
        if !with.is_empty() {
            faults.push(format!("{rule:?}: repeats with all rules: {with:?}"));
        }
        if without.is_empty() {
            faults.push(format!("{rule:?}: no repeat without it"));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// A take that reaches the store, and whose answer nobody hears.
async fn burn(server: &Arc<Server>) {
    let gate = server.wires.stores[0].hold("take", When::After);
    let taker = Arc::clone(server);
    let take = tokio::spawn(async move { taker.take(0, 1).await });
    gate.reached().await;
    take.abort();
    assert!(take.await.unwrap_err().is_cancelled());
}

/// Takes so often, one id each, whatever comes of it.
async fn try_takes(server: &Arc<Server>, times: usize) {
    for _ in 0..times {
        // What is refused leaves nothing behind; what leaves is noted.
        drop(server.take(0, 1).await);
    }
}
