//! Rules of the guard switched off in the simulation: random histories must find the repeat by themselves.
//!
//! Every rule has a scenario written for it in `crates/guard/tests/protocol/mutations` (and those that store or ledger
//! keep, in `crates/backend/tests/mutations.rs`). Here are the rules whose absence chance finds often; `explore`
//! prints what it finds for all of them.

use sequent_core::{Rule, Rules};
use sequent_simulation::{SCENARIOS, run_named, run_resizing};

/// A rule, the scenario in which its absence shows, and seeds after which it must have: about ten times the mean.
const FOUND: [(Rule, &str, u64); 6] = [
    (Rule::SameConnection, "one-store-forgets", 60),
    (Rule::RowNamesStore, "one-store-forgets", 80),
    (Rule::WitnessFirst, "partition", 200),
    (Rule::Marks, "both-at-once", 30),
    (Rule::Order, "same-instance", 10),
    (Rule::LiftNeverCreates, "lossy-wires", 400),
];

fn repeats(rule: Rule, scenario: &str, seed: u64) -> bool {
    run_named(seed, scenario, Rules::ALL.without(rule)).is_some_and(|outcome| !outcome.repeats.is_empty())
}

#[test]
fn chance_finds_what_a_missing_rule_repeats() {
    for (rule, scenario, most) in FOUND {
        let found = (1..=most).find(|&seed| repeats(rule, scenario, seed));
        println!("{rule:?} off, {scenario}: a repeat at seed {found:?} ({})", rule.as_str());
        assert!(found.is_some(), "{rule:?} off: {most} seeds of {scenario} repeat nothing");
    }
}

/// The rules of a resize, and seeds after which the absence of each must have shown. The others are needed where a ledger went back,
/// which no ring does here.
const OF_RESIZE: [(Rule, u64); 2] = [(Rule::ResizeNumbers, 40), (Rule::ResizeCut, 100)];

#[test]
fn chance_finds_what_a_resize_repeats_without_a_rule() {
    for (rule, most) in OF_RESIZE {
        let repeats = |seed| !run_resizing(seed, Rules::ALL.without(rule)).repeats.is_empty();
        let found = (1..=most).find(|&seed| repeats(seed));
        println!("{rule:?} off: a repeat at seed {found:?} ({})", rule.as_str());
        assert!(found.is_some(), "{rule:?} off: {most} seeds repeat nothing");
    }
}

#[test]
#[ignore = "prints, for each rule, how many seeds of each scenario repeat without it; minutes"]
fn explore() {
    let seeds: u64 = std::env::var("SEQUENT_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(60);
    for rule in Rule::ALL {
        for scenario in SCENARIOS {
            let found = (1..=seeds).filter(|&seed| repeats(rule, scenario.name, seed)).count();
            if found > 0 {
                println!("{rule:?} off, {}: {found} of {seeds} seeds repeat", scenario.name);
            }
        }
    }
}
