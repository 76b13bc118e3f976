//! Seeds of the simulation: some hundreds here, 10^5 in the long command, one to replay.

use sequent_core::Rules;
use sequent_simulation::{Outcome, run_resizing, run_seed};

/// Seeds of the test command, unless `SEQUENT_SEEDS` says how many.
const SEEDS: u64 = 400;

/// Parallel parts, so that both cores work.
const PARTS: u64 = 4;

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Bad seeds that are reported with all their events; of further ones only the numbers.
const REPORTS_MAX: usize = 3;

/// What was wrong with a seed, and how to see it again.
fn complaint(seed: u64, outcome: &Outcome) -> Option<String> {
    let Outcome { scenario, repeats, stuck, report, .. } = outcome;
    (!outcome.is_good()).then(|| {
        format!(
            "seed {seed} ({scenario}): repeats {repeats:?}, silent servers {stuck:?}\n{report}\n\
             replay: SEQUENT_SEED={seed} cargo nextest run -p sequent-simulation one_seed\n"
        )
    })
}

fn part(part: u64) {
    let (seeds, first) =
        (number("SEQUENT_SEEDS").unwrap_or(SEEDS), number("SEQUENT_FIRST_SEED").unwrap_or(1));
    println!("seeds {first}..{} part {part} of {PARTS}", first + seeds);
    let mut given = 0;
    let mut bad = Vec::new();
    for seed in (first..first + seeds).filter(|seed| seed % PARTS == part) {
        let outcome = run_seed(seed);
        if let Some(complaint) = complaint(seed, &outcome) {
            if bad.len() < REPORTS_MAX {
                println!("{complaint}");
            }
            bad.push(seed);
        }
        given += outcome.given;
    }
    assert!(bad.is_empty(), "{} bad seeds: {bad:?}", bad.len());
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

/// Seeds of rings that change in the test command, unless `SEQUENT_SEEDS` says how many.
const RESIZING_SEEDS: u64 = 200;

fn resizing_part(part: u64) {
    let (seeds, first) =
        (number("SEQUENT_SEEDS").unwrap_or(RESIZING_SEEDS), number("SEQUENT_FIRST_SEED").unwrap_or(1));
    println!("seeds {first}..{} part {part} of 2", first + seeds);
    let mut given = 0;
    for seed in (first..first + seeds).filter(|seed| seed % 2 == part) {
        let outcome = run_resizing(seed, Rules::ALL);
        let Outcome { repeats, stuck, report, .. } = &outcome;
        assert!(
            outcome.is_good(),
            "seed {seed}: repeats {repeats:?}, silent {stuck:?}\n{report}\n\
             replay: SEQUENT_SEEDS=1 SEQUENT_FIRST_SEED={seed} cargo nextest run -p sequent-simulation resizing"
        );
        given += outcome.given;
    }
    println!("{given} numbers, none twice");
    assert!(given > 0 || seeds < 2, "a simulation that gives nothing proves nothing");
}

#[test]
fn resizing_part_0() {
    resizing_part(0);
}

#[test]
fn resizing_part_1() {
    resizing_part(1);
}

#[test]
fn one_seed() {
    let seed = number("SEQUENT_SEED").unwrap_or(1);
    let outcome = run_seed(seed);
    println!("seed {seed} ({}): {} numbers\n{}", outcome.scenario, outcome.given, outcome.report);
    assert!(outcome.is_good(), "{}", complaint(seed, &outcome).unwrap_or_default());
}
