//! Processes killed with -9 at any moment, others running: no number is given twice.

use std::{thread, time::Duration};

use crate::{
    place::{Place, Running, eventually},
    seen::Seen,
};

/// Draws that a printed seed replays.
struct Dice(u64);

impl Dice {
    /// From `SEQUENT_KILL_SEED`, or the clock.
    fn thrown() -> Self {
        let given = std::env::var("SEQUENT_KILL_SEED")
            .ok()
            .map(|seed| seed.parse().expect("SEQUENT_KILL_SEED is a number"));
        let since = || std::time::UNIX_EPOCH.elapsed().unwrap().as_nanos();
        let seed = given.unwrap_or_else(|| u64::try_from(since() & u128::from(u32::MAX)).unwrap());
        println!("seed: SEQUENT_KILL_SEED={seed}");
        Self(seed)
    }

    /// Below `bound` (splitmix64).
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (bits ^ (bits >> 31)) % bound
    }
}

/// How often: ten times, a hundred in the long command.
fn kills() -> usize {
    std::env::var("SEQUENT_KILLS").map_or(10, |kills| kills.parse().expect("SEQUENT_KILLS is a number"))
}

/// Each victim is one of three kinds: long-lived, taking once, taking very much at once.
fn victim(place: &Place, kind: u64) -> Running {
    match kind {
        0 => place.start_taker("order", 7, 0),
        1 => place.start(&["next", "order", "-n", "100"]),
        _ => place.start(&["next", "order", "-n", "10000"]),
    }
}

#[test]
fn killed_at_any_moment_with_others_running_nobody_repeats() {
    let place = Place::new();
    let mut seen = Seen::default();
    seen.add("first", place.numbers(&["next", "order", "-n", "5"]));
    let mut dice = Dice::thrown();
    let bystanders = [place.start_taker("order", 10, 20), place.start_taker("order", 1, 5)];
    eventually("the bystanders take", || {
        bystanders.iter().all(|taker| !taker.out().is_empty()).then_some(())
    });

    let mut given_by_killed = 0;
    for kill in 0..kills() {
        let kind = dice.below(3);
        let victim = victim(&place, kind);
        // From before its first statement to well into its work.
        thread::sleep(Duration::from_millis(dice.below(400)));
        let numbers = victim.kill().numbers();
        given_by_killed += numbers.len();
        seen.add(&format!("victim {kill} of kind {kind}"), numbers);
        seen.add(&format!("after kill {kill}"), place.numbers(&["next", "order", "-n", "3"]));
    }
    for (index, taker) in bystanders.into_iter().enumerate() {
        let ran = taker.kill();
        assert!(!ran.err.contains("error: "), "a bystander was disturbed: {}", ran.err);
        seen.add(&format!("bystander {index}"), ran.numbers());
    }
    seen.add("last", place.numbers(&["next", "order", "-n", "1000"]));
    assert!(given_by_killed > 0, "every victim died before it had given a number: the test shows nothing");
    println!("{} numbers, {given_by_killed} of them by processes that were killed", seen.count());
}

#[test]
fn killed_while_the_cluster_is_made_it_is_whole_or_not_there() {
    let mut dice = Dice::thrown();
    for round in 0..kills() {
        let place = Place::new();
        let mut seen = Seen::default();
        let maker = place.start(&["next", "order", "-n", "5"]);
        thread::sleep(Duration::from_millis(dice.below(60)));
        seen.add("maker", maker.kill().numbers());
        let next = place.run(&["next", "order", "-n", "5"]);
        assert_eq!(next.code, Some(0), "round {round}: {next:?}");
        seen.add("next", next.numbers());
    }
}
