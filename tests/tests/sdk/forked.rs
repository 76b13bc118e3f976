//! A process that becomes two with numbers in memory: what the parent holds is the parent's.

use std::{collections::BTreeMap, process::Command};

use crate::{
    place::{Place, Running, eventually},
    server::dev,
};

const COUNT: usize = 600;

/// What each process prints of the futures that were made before: two of what was held, one of a lease, of a handle's, five
/// of many, one fresh, five of a batch.
const OF_FUTURES: usize = 2 + 1 + 1 + 5 + 1 + 5;

/// Runs the forker until both processes have printed so many numbers (and said that they are done, where they do): every
/// number of a sequence was given once.
fn forked(what: &str, count: usize, done: usize) {
    let place = Place::new();
    let (_server, address) = dev(&place);
    let mut command = Command::new(env!("CARGO_BIN_EXE_forker"));
    command.args([&address, "order", what]);
    let forker = Running::start(command);
    let out = eventually("both have taken theirs", || {
        let out = forker.out();
        let printed = |who: &str| out.lines().filter(|line| line.starts_with(who)).count();
        assert!(!forker.err().contains("rror") && !forker.err().contains("panicked"), "{}", forker.err());
        (printed("parent") == count + done && printed("child") == count + done).then(|| out.clone())
    });
    let mut takers: BTreeMap<(&str, u64), &str> = BTreeMap::new();
    for line in out.lines().filter(|line| !line.ends_with("done")) {
        let (who, given) = line.split_once(' ').unwrap();
        let (name, number) = given.split_once(' ').unwrap();
        if let Some(first) = takers.insert((name, number.parse().unwrap()), who) {
            panic!("{number} of {name} was given to {first} and to {who}");
        }
    }
}

#[test]
fn parent_and_child_never_give_the_same_number() {
    forked(&COUNT.to_string(), COUNT, 0);
}

#[test]
fn what_was_begun_before_is_not_answered_in_both() {
    forked("futures", OF_FUTURES, 1);
}
