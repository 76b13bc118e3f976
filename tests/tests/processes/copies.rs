//! Files replaced by older copies, deleted, swapped, overwritten: none twice, or a refusal that says what to do.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use crate::{
    place::{Place, Ran, copy, copy_dir, eventually},
    seen::Seen,
};

/// A cluster that gave some numbers, was copied, and gave more: what is restored is always behind.
struct Aged {
    place: Place,
    seen: Seen,
    old: PathBuf,
}

impl Aged {
    fn new() -> Self {
        let place = Place::new();
        let mut seen = Seen::default();
        seen.add("before the copy", place.numbers(&["next", "order", "-n", "30"]));
        let old = place.path("old");
        copy_dir(&place.data(), &old);
        seen.add("after the copy", place.numbers(&["next", "order", "-n", "50"]));
        Self { place, seen, old }
    }

    /// The old copies of `files`.
    fn old(&self, files: &[PathBuf]) -> Vec<PathBuf> {
        files.iter().map(|file| self.old.join(file.file_name().unwrap())).collect()
    }

    /// What is there goes; the old copies, if given, come as new files, each moved into place.
    fn replace(&self, files: &[PathBuf]) {
        let moving = self.place.path("moving");
        copy(&self.old(files), &moving);
        remove(files);
        for file in files {
            let copied = moving.join(file.file_name().unwrap());
            if copied.exists() {
                fs::rename(copied, file).unwrap();
            }
        }
    }

    /// The old content is written over the files that are there; `-wal` and `-shm` that the old copy lacks go.
    fn overwrite(&self, files: &[PathBuf]) {
        for (file, old) in files.iter().zip(self.old(files)) {
            if old.exists() {
                fs::copy(&old, file).unwrap();
            } else if file.exists() {
                fs::remove_file(file).unwrap();
            }
        }
    }

    /// Takes in several processes one after another; each must succeed.
    fn goes_on(&mut self, after: &str) {
        for round in 0..3 {
            self.seen.add(
                &format!("{after}, process {round}"),
                self.place.numbers(&["next", "order", "-n", "40"]),
            );
        }
    }

    /// The number of the highest id of the slot that the ledger knows to be taken.
    fn reported(&self, slot: u64) -> Option<u64> {
        let shown = self.place.run(&["show", "order", "--json"]).succeeded().json();
        let counters = shown["counters"].as_array().unwrap();
        let counter = counters.iter().find(|counter| counter["slot"] == slot)?;
        counter["number_max"].as_str()?.parse().ok()
    }

    /// Epoch and ceiling of each counter.
    fn rows(&self) -> Vec<(String, String)> {
        let shown = self.place.run(&["show", "order", "--json"]).succeeded().json();
        let field = |counter: &serde_json::Value, name: &str| counter[name].as_str().unwrap().to_owned();
        let counters = shown["counters"].as_array().unwrap().iter();
        counters.map(|counter| (field(counter, "epoch"), field(counter, "ceiling"))).collect()
    }

    /// The ledger went back, or everything did: refused with what to do, and nothing is given before it was done.
    fn asks_for_recovery(&mut self, words: &[&str]) {
        for _ in 0..2 {
            refusal(self.place.run(&["next", "order", "-n", "5"]), words);
        }
        // More than a process at work takes meanwhile: less than its cells prove is refused.
        self.place.run(&["recover", "--bump", "10000000", "--yes"]).succeeded();
        self.goes_on("recovered");
    }
}

/// The slot that a number of the default layout of four came from.
fn slot(number: u64) -> u64 {
    (number - 1) % 4
}

fn refusal(ran: Ran, words: &[&str]) {
    let words: Vec<&str> = ["RECOVERY_REQUIRED", "sequent recover"].iter().chain(words).copied().collect();
    ran.refused(3, &words);
}

fn remove(files: &[PathBuf]) {
    for file in files.iter().filter(|file| file.exists()) {
        fs::remove_file(file).unwrap();
    }
}

fn swap(one: &[PathBuf], other: &[PathBuf], aside: &Path) {
    fs::create_dir_all(aside).unwrap();
    let there = |from: &PathBuf, to: &PathBuf| {
        if from.exists() {
            fs::rename(from, to).unwrap();
        }
    };
    for (one, other) in one.iter().zip(other) {
        let between = aside.join(one.file_name().unwrap());
        there(one, &between);
        there(other, one);
        there(&between, other);
    }
}

#[test]
fn an_old_shard_moved_into_place() {
    let mut aged = Aged::new();
    aged.replace(&aged.place.shard(1));
    aged.goes_on("old shard");
}

#[test]
fn every_shard_but_one_old() {
    let mut aged = Aged::new();
    for slot in 0..3 {
        aged.replace(&aged.place.shard(slot));
    }
    aged.goes_on("old shards");
}

#[test]
fn an_old_shard_moved_into_place_under_running_processes() {
    let mut aged = Aged::new();
    let takers = [aged.place.start_taker("order", 3, 5), aged.place.start_taker("order", 10, 20)];
    let all_past = |given: usize| takers.iter().all(|taker| taker.numbers().len() > given).then_some(());
    eventually("the takers take", || all_past(50));
    aged.replace(&aged.place.shard(1));
    let now = takers.iter().map(|taker| taker.numbers().len()).max().unwrap();
    eventually("the takers go on", || all_past(now + 3000));
    aged.goes_on("old shard, takers running");
    for (index, taker) in takers.into_iter().enumerate() {
        let ran = taker.kill();
        assert!(!ran.err.contains("error: "), "a request failed: {}", ran.err);
        assert!(ran.err.contains("InstanceChanged"), "nothing said of the new instance: {}", ran.err);
        aged.seen.add(&format!("taker {index}"), ran.numbers());
    }
    aged.goes_on("takers gone");
}

#[test]
fn an_old_shard_copied_over_after_a_clean_stop() {
    let mut aged = Aged::new();
    aged.overwrite(&aged.place.shard(2));
    aged.goes_on("overwritten shard");
}

#[test]
fn an_old_shard_copied_over_while_processes_use_it_is_noticed() {
    let mut aged = Aged::new();
    let takers = [aged.place.start_taker("order", 5, 5), aged.place.start_taker("order", 5, 5)];
    let all_past = |given: usize| takers.iter().all(|taker| taker.numbers().len() > given).then_some(());
    eventually("the takers take", || all_past(200));
    let live = aged.place.path("live copy");
    copy(&aged.place.shard(1), &live);
    eventually("the takers go on", || all_past(3000));
    for file in aged.place.shard(1) {
        write_over(&live.join(file.file_name().unwrap()), &file);
    }
    let words = ["Regressed { slot: 1", "Quarantined { slot: 1"];
    let noticed =
        || takers.iter().any(|taker| words.iter().any(|word| taker.err().contains(word))).then_some(());
    eventually("a taker notices", noticed);
    let now = takers.iter().map(|taker| taker.numbers().len()).max().unwrap();
    eventually("the takers go on", || all_past(now + 2000));
    for (index, taker) in takers.into_iter().enumerate() {
        let ran = taker.kill();
        assert!(!ran.err.contains("error: "), "a request failed: {}", ran.err);
        aged.seen.add(&format!("taker {index}"), ran.numbers());
    }
    aged.goes_on("overwritten under processes");
}

#[test]
fn an_old_shard_copied_over_under_a_process_is_noticed_before_it_takes_again() {
    let mut aged = Aged::new();
    // Far longer than it may take to notice.
    let taker = aged.place.start_taker("order", 2000, 10_000);
    let given = |count| eventually("the taker takes", || (taker.numbers().len() == count).then_some(()));
    given(2000);
    let live = aged.place.path("live copy");
    copy(&aged.place.shard(1), &live);
    given(4000);
    for file in aged.place.shard(1) {
        write_over(&live.join(file.file_name().unwrap()), &file);
    }
    eventually("the taker notices", || taker.err().contains("Regressed { slot: 1").then_some(()));
    let told = taker.err();
    assert!(!told.contains("detail: \"took"), "it was a take that noticed: {told}");
    given(6000);
    aged.seen.add("taker", taker.kill().numbers());
    aged.goes_on("overwritten under a process");
}

/// Writes into the file that is there. Not truncated first: processes have it mapped.
fn write_over(old: &Path, file: &Path) {
    let content = fs::read(old).unwrap();
    let mut target = fs::OpenOptions::new().write(true).open(file).unwrap();
    target.write_all(&content).unwrap();
    target.set_len(content.len() as u64).unwrap();
}

#[test]
fn an_old_shard_copied_over_without_its_log_under_a_process_repeats_nothing_once_noticed() {
    let mut aged = Aged::new();
    let taker = aged.place.start_taker("order", 5, 5);
    eventually("the taker takes", || (taker.numbers().len() > 200).then_some(()));
    // The old copy was made after a clean stop, so there is no `-wal`: the process goes on in a log without a name.
    aged.overwrite(&aged.place.shard(1));
    eventually("the taker notices", || taker.err().contains("removed or replaced").then_some(()));
    // It takes nothing there from now on. What it took before is known to all once it has sent a heartbeat.
    eventually("all that it took is reported", || {
        let numbers = taker.numbers();
        let late = numbers.rchunks(1000).next().unwrap_or_default();
        let is_spent = late.len() == 1000 && !late.iter().any(|number| slot(*number) == 1);
        let highest = numbers.iter().filter(|number| slot(**number) == 1).max();
        (is_spent && aged.reported(1) >= highest.copied()).then_some(())
    });
    for round in 0..5 {
        let now = taker.numbers().len();
        eventually("the taker goes on", || (taker.numbers().len() > now + 300).then_some(()));
        aged.seen.add(&format!("process {round}"), aged.place.numbers(&["next", "order", "-n", "40"]));
    }
    let ran = taker.kill();
    assert!(!ran.err.contains("error: "), "a request failed: {}", ran.err);
    aged.seen.add("taker", ran.numbers());
    aged.goes_on("overwritten under a process");
}

#[test]
fn a_deleted_shard() {
    let mut aged = Aged::new();
    remove(&aged.place.shard(0));
    aged.goes_on("deleted shard");
}

#[test]
fn a_shard_deleted_under_running_processes() {
    let mut aged = Aged::new();
    let taker = aged.place.start_taker("order", 5, 5);
    eventually("the taker takes", || (taker.numbers().len() > 200).then_some(()));
    remove(&aged.place.shard(0));
    let now = taker.numbers().len();
    eventually("the taker goes on", || (taker.numbers().len() > now + 3000).then_some(()));
    aged.goes_on("deleted shard, taker running");
    let ran = taker.kill();
    assert!(!ran.err.contains("error: "), "a request failed: {}", ran.err);
    aged.seen.add("taker", ran.numbers());
    aged.goes_on("taker gone");
}

#[test]
fn two_shards_swapped_are_refused_and_named() {
    let mut aged = Aged::new();
    let swapped = || swap(&aged.place.shard(0), &aged.place.shard(3), &aged.place.path("aside"));
    swapped();
    let shown = aged.place.run(&["shards"]).out;
    assert!(shown.contains("slot=3") || shown.contains("slot=0"), "what was found is not named: {shown}");
    let ran = aged.place.run(&["next", "order", "-n", "20"]);
    match ran.code {
        Some(0) => aged.seen.add("swapped", ran.numbers()),
        _ => drop(ran.refused(3, &["slot 0", "slot 3", "bears stamp", "expected"])),
    }
    swapped();
    aged.goes_on("swapped back");
}

#[test]
fn two_shards_swapped_under_a_running_process() {
    let mut aged = Aged::new();
    let taker = aged.place.start_taker("order", 5, 5);
    eventually("the taker takes", || (taker.numbers().len() > 200).then_some(()));
    swap(&aged.place.shard(0), &aged.place.shard(3), &aged.place.path("aside"));
    let now = taker.numbers().len();
    eventually("the taker goes on", || (taker.numbers().len() > now + 3000).then_some(()));
    let ran = taker.kill();
    assert!(ran.err.contains("Quarantined"), "no quarantine: {}", ran.err);
    aged.seen.add("taker", ran.numbers());
    swap(&aged.place.shard(0), &aged.place.shard(3), &aged.place.path("aside"));
    aged.goes_on("swapped back");
}

#[test]
fn an_old_ledger_moved_into_place() {
    let mut aged = Aged::new();
    aged.replace(&aged.place.ledger());
    aged.asks_for_recovery(&[]);
}

#[test]
fn an_old_ledger_copied_over_after_a_clean_stop() {
    let mut aged = Aged::new();
    aged.overwrite(&aged.place.ledger());
    aged.asks_for_recovery(&[]);
}

#[test]
fn an_old_ledger_under_a_running_process_repeats_nothing() {
    let mut aged = Aged::new();
    let taker = aged.place.start_taker("order", 5, 5);
    eventually("the taker takes", || (taker.numbers().len() > 200).then_some(()));
    aged.replace(&aged.place.ledger());
    let words = ["LedgerInstanceChanged", "LedgerBehind", "LedgerLost"];
    eventually("the taker notices", || words.iter().any(|word| taker.err().contains(word)).then_some(()));
    aged.seen.add("taker", taker.kill().numbers());
    aged.asks_for_recovery(&[]);
}

#[test]
fn an_old_ledger_copied_over_while_a_process_uses_it_is_noticed() {
    let mut aged = Aged::new();
    let taker = aged.place.start_taker("order", 5, 5);
    eventually("the taker takes", || (taker.numbers().len() > 200).then_some(()));
    let live = aged.place.path("live copy");
    copy(&aged.place.ledger(), &live);
    eventually("the taker goes on", || (taker.numbers().len() > 5000).then_some(()));
    for file in aged.place.ledger() {
        write_over(&live.join(file.file_name().unwrap()), &file);
    }
    let words = ["LedgerInstanceChanged", "LedgerBehind", "LedgerLost"];
    eventually("the taker notices", || words.iter().any(|word| taker.err().contains(word)).then_some(()));
    aged.seen.add("taker", taker.kill().numbers());
    aged.asks_for_recovery(&[]);
}

/// Ceilings lie far ahead, a copy is made, and a run stays below them; then the old copies of `files` are put over them, and
/// the data directory's marker stays.
fn set_back_while_nothing_was_raised(files: impl Fn(&Place) -> Vec<PathBuf>) {
    let place = Place::new();
    place.run(&["bench", "order", "--count", "20000", "--in-process"]).succeeded();
    let old = place.path("old");
    copy_dir(&place.data(), &old);
    let mut aged = Aged { place, seen: Seen::default(), old };
    let rows = aged.rows();
    aged.seen.add("after the copy", aged.place.numbers(&["next", "order", "-n", "40"]));
    assert_eq!(aged.rows(), rows, "the run was to open and raise nothing");
    aged.overwrite(&files(&aged.place));
    aged.asks_for_recovery(&["a mark says"]);
}

#[test]
fn an_old_ledger_and_a_shard_copied_over_where_nothing_was_raised() {
    set_back_while_nothing_was_raised(|place| [place.ledger(), place.shard(0)].concat());
}

#[test]
fn all_databases_copied_over_where_nothing_was_raised() {
    let shards = |place: &Place| (0..4).flat_map(|slot| place.shard(slot)).collect();
    set_back_while_nothing_was_raised(|place| [place.ledger(), shards(place)].concat());
}

#[test]
fn a_directory_copied_by_hard_links_is_refused_until_one_of_the_two_is_gone() {
    let mut aged = Aged::new();
    let linked = aged.place.path("linked");
    fs::create_dir(&linked).unwrap();
    for entry in fs::read_dir(aged.place.data()).unwrap() {
        let file = entry.unwrap().path();
        fs::hard_link(&file, linked.join(file.file_name().unwrap())).unwrap();
    }
    for data in ["linked", "sequent-data"] {
        let ran = aged.place.run(&["next", "order", "-n", "5", "--data", data]);
        ran.refused(3, &["2 names", "hard links", "remove the other names", "real copy"]);
    }
    fs::remove_dir_all(&linked).unwrap();
    aged.goes_on("the links are gone");
}

#[test]
fn a_ledger_deleted_under_a_running_process_is_not_made_anew() {
    let mut aged = Aged::new();
    let taker = aged.place.start_taker("order", 5, 5);
    eventually("the taker takes", || (taker.numbers().len() > 200).then_some(()));
    let aside = aged.place.path("aside");
    fs::create_dir(&aside).unwrap();
    let moves: Vec<(PathBuf, PathBuf)> =
        aged.place.ledger().into_iter().map(|file| (aside.join(file.file_name().unwrap()), file)).collect();
    for (aside, file) in moves.iter().filter(|(_, file)| file.exists()) {
        fs::rename(file, aside).unwrap();
    }
    eventually("the taker notices", || taker.err().contains("LedgerLost").then_some(()));
    let now = taker.numbers().len();
    eventually("the taker goes on with its permits", || (taker.numbers().len() > now + 500).then_some(()));
    let ran = aged.place.run(&["next", "order"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(3), ""), "{ran:?}");
    assert!(!moves[0].1.exists(), "a ledger was made");
    for (aside, file) in moves.iter().filter(|(aside, _)| aside.exists()) {
        fs::rename(aside, file).unwrap();
    }
    eventually("the taker has it back", || taker.err().contains("LedgerBack").then_some(()));
    let ran = taker.kill();
    assert!(!ran.err.contains("error: "), "a request failed: {}", ran.err);
    aged.seen.add("taker", ran.numbers());
    aged.goes_on("ledger put back");
}

#[test]
fn a_deleted_ledger_is_no_new_cluster() {
    let mut aged = Aged::new();
    let files = aged.place.ledger();
    let aside = aged.place.path("aside");
    copy(&files, &aside);
    remove(&files);
    let ran = aged.place.run(&["next", "order"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(3), ""), "{ran:?}");
    assert!(ran.err.contains("ledger"), "{ran:?}");
    // Put back, it is a file moved into place: no older than its marks, so the same history goes on.
    remove(&files);
    for file in files
        .iter()
        .map(|file| (aside.join(file.file_name().unwrap()), file))
        .filter(|(from, _)| from.exists())
    {
        fs::rename(file.0, file.1).unwrap();
    }
    aged.goes_on("ledger put back");
}

#[test]
fn a_shard_for_the_ledger_is_refused() {
    let mut aged = Aged::new();
    let swapped = || swap(&aged.place.ledger(), &aged.place.shard(2), &aged.place.path("aside"));
    swapped();
    let ran = aged.place.run(&["next", "order"]);
    ran.refused(3, &["expected", "found"]);
    swapped();
    aged.goes_on("swapped back");
}

#[test]
fn a_copied_directory_is_refused_until_recover() {
    let mut aged = Aged::new();
    copy_dir(&aged.place.data(), &aged.place.path("elsewhere"));
    let there = |args: &[&str]| aged.place.run(&[args, &["--data", "elsewhere"]].concat());
    for _ in 0..2 {
        refusal(there(&["next", "order", "-n", "5"]), &["--moved", "--bump"]);
    }
    assert_eq!(there(&["recover", "--moved"]).code, Some(3), "nothing is done that can repeat");
    there(&["recover", "--moved", "--yes"]).succeeded();
    let numbers = there(&["next", "order", "-n", "40"]).succeeded().numbers();
    aged.seen.add("the copy, as the newest state", numbers);
}

#[test]
fn a_directory_put_back_is_refused_until_recover() {
    let mut aged = Aged::new();
    fs::remove_dir_all(aged.place.data()).unwrap();
    copy_dir(&aged.old.clone(), &aged.place.data());
    aged.asks_for_recovery(&["--moved", "--bump"]);
}

#[test]
fn copies_made_while_processes_run_repeat_nothing() {
    let mut aged = Aged::new();
    let taker = aged.place.start_taker("order", 5, 2);
    eventually("the taker takes", || (taker.numbers().len() > 200).then_some(()));
    // As a careless backup would: file after file, under a process that writes, with what SQLite keeps beside them.
    let backup = aged.place.path("backup");
    copy(&aged.place.shard(1), &backup);
    let now = taker.numbers().len();
    // Past what it held in memory when the copy was made.
    eventually("the taker goes on", || (taker.numbers().len() > now + 10_000).then_some(()));
    aged.seen.add("taker", taker.kill().numbers());
    aged.old = backup;
    aged.replace(&aged.place.shard(1));
    aged.goes_on("backup of a running shard put back");
}
