//! Each rule of the guard switched off once: the simulation, or a named test, must turn red.

use sequent_core::{Rule, Rules};
use sequent_simulation::{SCENARIOS, run_named};

#[test]
#[ignore = "explores which scenario shows which rule"]
fn explore() {
    let seeds: u64 = std::env::var("SEQUENT_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(60);
    for rule in Rule::ALL {
        let mut line = format!("{rule:?}:");
        for scenario in SCENARIOS {
            let found = (1..=seeds).filter(|&seed| {
                run_named(seed, scenario.name, Rules::ALL.without(rule))
                    .is_some_and(|o| !o.repeats.is_empty())
            });
            let found: Vec<u64> = found.collect();
            if !found.is_empty() {
                line += &format!(" {} {}/{seeds} (first {})", scenario.name, found.len(), found[0]);
            }
        }
        println!("{line}");
    }
}
