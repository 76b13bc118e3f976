//! `recover` as a drill after a backup was put back: what could give a number twice is told with the number that would come, and is
//! not done unasked.

use std::{collections::BTreeSet, fs};

use serde_json::Value;

use crate::place::{PATIENT, Place, Ran, copy};

/// A cluster, and what it gave.
struct Drill {
    place: Place,
    given: BTreeSet<u64>,
}

impl Drill {
    /// Five numbers, a copy of the whole directory, and many more numbers.
    fn new() -> Self {
        let place = Place::with_cluster();
        copy(&place.path("sequent-data"), &place.path("backup"));
        let mut drill = Self { place, given: (1..=5).collect() };
        for _ in 0..4 {
            drill.goes_on("10000");
        }
        drill
    }

    fn goes_on(&mut self, count: &str) {
        for number in self.place.numbers_patiently(&["next", "order", "-n", count]) {
            assert!(self.given.insert(number), "{number} twice");
        }
    }

    fn put_the_ledger_back(&self) {
        for name in ["ledger.db", "ledger.db-wal", "ledger.db-shm"] {
            let (from, to) = (
                self.place.path(&format!("backup/{name}")),
                self.place.path(&format!("sequent-data/{name}")),
            );
            drop(fs::remove_file(&to));
            if from.exists() {
                fs::copy(from, to).unwrap();
            }
        }
    }

    fn put_everything_back(&self, from: &str) {
        fs::remove_dir_all(self.place.path("sequent-data")).unwrap();
        copy(&self.place.path(from), &self.place.path("sequent-data"));
    }

    /// What is in the data directory, without the logs that SQLite keeps beside its files.
    fn files(&self) -> std::collections::BTreeMap<std::path::PathBuf, Vec<u8>> {
        let mut files = self.place.content("sequent-data");
        files.retain(|path, _| {
            !path.to_str().is_some_and(|path| path.ends_with("-wal") || path.ends_with("-shm"))
        });
        files
    }

    /// A run that did nothing for want of a word: no number is given after it either.
    fn nothing_done(&self, args: &[&str], words: &[&str]) -> Ran {
        // The first look into a copied file brings the log beside it into it; from then on no file but a log changes.
        self.place.run(args);
        let before = self.files();
        let ran = self.place.run(args);
        assert_eq!(ran.code, Some(3), "{ran:?}");
        assert!(self.files() == before, "something was changed");
        for word in [&["CONFIRMATION_REQUIRED", "nothing was done"], words].concat() {
            assert!(ran.err.contains(word), "{word}: {ran:?}");
        }
        self.place.run(&["next", "order"]).refused(3, &["RECOVERY_REQUIRED"]);
        ran
    }

    /// What each answer would do, the safe one first.
    fn answers(&self, args: &[&str]) -> [Value; 2] {
        let said = self.nothing_done(&[args, &["--json"]].concat(), &[]).as_json();
        assert!(said["done"].is_null(), "{said}");
        let answers = said["answers"]["answers"].as_array().unwrap();
        let order: Vec<_> = answers.iter().map(|answer| answer["answer"].as_str().unwrap()).collect();
        assert_eq!(order, ["bump", "since", "moved"]);
        [answers[0].clone(), answers[2].clone()]
    }

    /// Types what an answer says.
    fn types(&self, answer: &Value) {
        let line = answer["command"].as_str().unwrap().strip_prefix("sequent ").unwrap();
        self.place.text(&line.split(' ').collect::<Vec<_>>());
    }
}

#[test]
fn a_ledger_that_was_put_back_is_taken_for_the_newest_by_nobody_and_goes_on_by_the_advice() {
    let mut drill = Drill::new();
    drill.put_the_ledger_back();
    let ran = drill.nothing_done(&["recover", "--moved"], &["it went back", "`sequent recover --bump "]);
    for words in [
        "  it is not so: the ledger is at version ",
        "which was given, as a cell at hand shows",
        "numbers given since that backup are given again",
    ] {
        assert!(ran.out.contains(words), "{words}: {ran:?}");
    }
    let [bump, moved] = drill.answers(&["recover", "--moved"]);
    let again = moved["keys"][0]["given_before"].as_u64().unwrap();
    assert!(drill.given.contains(&again), "{moved}");
    drill.place.run(&["recover", "--moved", "--yes"]).refused(3, &["it went back", "nothing was done"]);
    let line = bump["command"].as_str().unwrap();
    assert!(!line.ends_with("--yes"), "cells prove it: {bump}");
    let least: u64 = line.rsplit(' ').next().unwrap().parse().unwrap();
    drill.place.run(&["recover", "--bump", &(least - 1).to_string(), "--yes"]).refused(3, &["at least"]);
    drill.types(&bump);
    drill.goes_on("10000");
}

#[test]
fn a_directory_that_was_put_back_says_which_number_would_come_again() {
    let mut drill = Drill::new();
    drill.put_everything_back("backup");
    for args in [&["recover"][..], &["recover", "--moved"], &["recover", "--bump", "5"]] {
        let ran = drill.nothing_done(args, &["sequent recover --bump "]);
        let at = |words: &str| ran.out.find(words).unwrap_or_else(|| panic!("{words}: {ran:?}"));
        assert!(at("\nsequent recover --bump") < at("\nsequent recover --moved --yes\n"), "{ran:?}");
        at(
            "  at stake: if the ledger was restored from a backup, numbers given since that backup are given again\n",
        );
    }
    let [_, moved] = drill.answers(&["recover", "--moved"]);
    let next = moved["keys"][0]["first_after"].as_u64().unwrap();
    assert!(drill.given.contains(&next), "{moved}");
    let said = format!("next {next} or higher");
    assert!(drill.nothing_done(&["recover", "--moved"], &["--moved --yes"]).out.contains(&said));

    // What the gate keeps from happening.
    drill.types(&moved);
    let again = drill.place.numbers(&[&["next", "order", "-n", "40"], &PATIENT[..]].concat());
    assert!(
        again.iter().all(|number| *number >= next) && again.iter().any(|number| drill.given.contains(number)),
        "{again:?}"
    );

    drill.put_everything_back("backup");
    let highest = *drill.given.iter().max().unwrap();
    let enough = (highest - next + 1).to_string();
    drill.nothing_done(&["recover", "--bump", &enough], &["only the operator vouches for N"]);
    drill.place.text(&["recover", "--bump", &enough, "--yes"]);
    drill.goes_on("10000");
}

#[test]
fn a_bump_that_no_cell_proves_of_a_dense_sequence_is_not_done_unasked() {
    let mut drill = Drill::new();
    drill.place.text(&["define", "invoice", "--placement", "dense"]);
    fs::remove_dir_all(drill.place.path("backup")).unwrap();
    copy(&drill.place.path("sequent-data"), &drill.place.path("backup"));
    drill.place.numbers(&["next", "invoice", "-n", "40"]);
    for _ in 0..4 {
        drill.goes_on("10000");
    }
    drill.put_the_ledger_back();
    let [bump, _] = drill.answers(&["recover"]);
    assert!(bump["command"].as_str().unwrap().ends_with(" --yes"), "{bump}");
    drill.nothing_done(
        &["recover", "--bump", "1000000"],
        &["dense sequences are counted in the ledger only", "invoice"],
    );
    drill.place.text(&["recover", "--bump", "1000000", "--yes"]);
    assert!(drill.place.numbers(&["next", "invoice"])[0] > 40);
    drill.goes_on("10000");
}
