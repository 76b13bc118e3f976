//! A process that becomes two with numbers in memory: what the parent holds is the parent's.

use std::{collections::BTreeMap, process::Command};

use crate::{
    place::{Place, Running, eventually},
    server::dev,
};

const COUNT: usize = 600;

#[test]
fn parent_and_child_never_give_the_same_number() {
    let place = Place::new();
    let (_server, address) = dev(&place);
    let mut command = Command::new(env!("CARGO_BIN_EXE_forker"));
    command.args([&address, "order", &COUNT.to_string()]);
    let forker = Running::start(command);
    let out = eventually("both have taken theirs", || {
        let out = forker.out();
        let count = |who: &str| out.lines().filter(|line| line.starts_with(who)).count();
        assert!(!forker.err().contains("rror"), "{}", forker.err());
        (count("parent") == COUNT && count("child") == COUNT).then(|| out.clone())
    });
    let mut takers: BTreeMap<u64, &str> = BTreeMap::new();
    for line in out.lines() {
        let (who, number) = line.split_once(' ').unwrap();
        if let Some(first) = takers.insert(number.parse().unwrap(), who) {
            panic!("{number} was given to {first} and to {who}");
        }
    }
}
