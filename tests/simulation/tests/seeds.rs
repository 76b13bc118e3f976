//! Seeds of the simulation: some hundreds here, 10^5 in the long command, one to replay.

use sequent_simulation::{Outcome, run_seed};

/// Seeds of the test command, unless `SEQUENT_SEEDS` says how many.
const SEEDS: u64 = 400;

/// Parallel parts, so that both cores work.
const PARTS: u64 = 4;

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

fn demand_good(seed: u64, outcome: &Outcome) {
    let Outcome { scenario, repeats, stuck, report, .. } = outcome;
    assert!(
        outcome.is_good(),
        "seed {seed} ({scenario}): repeats {repeats:?}, silent servers {stuck:?}\n{report}\n\
         replay: SEQUENT_SEED={seed} cargo nextest run -p sequent-simulation one_seed"
    );
}

fn part(part: u64) {
    let (seeds, first) =
        (number("SEQUENT_SEEDS").unwrap_or(SEEDS), number("SEQUENT_FIRST_SEED").unwrap_or(1));
    println!("seeds {first}..{} part {part} of {PARTS}", first + seeds);
    let mut given = 0;
    for seed in (first..first + seeds).filter(|seed| seed % PARTS == part) {
        let outcome = run_seed(seed);
        demand_good(seed, &outcome);
        given += outcome.given;
    }
    println!("{given} numbers, none twice");
    assert!(given > 0, "a simulation that gives nothing proves nothing");
}

#[test]
fn seeds_part_0() {
    part(0);
}

#[test]
fn seeds_part_1() {
    part(1);
}

#[test]
fn seeds_part_2() {
    part(2);
}

#[test]
fn seeds_part_3() {
    part(3);
}

#[test]
fn one_seed() {
    let seed = number("SEQUENT_SEED").unwrap_or(1);
    let outcome = run_seed(seed);
    println!("seed {seed} ({}): {} numbers\n{}", outcome.scenario, outcome.given, outcome.report);
    demand_good(seed, &outcome);
}
