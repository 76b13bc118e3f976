//! Configurations that would repeat numbers, on data that exists: exit code 3, what was found and expected, nothing touched.
//!
//! Bounds, unknown keys and several faults at once are tested beside the command line, in `crates/cli/tests`.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use crate::place::Place;

/// A cluster with a configuration of its own that gave 1 to 5.
fn founded() -> Place {
    let place = Place::new();
    write(&place, 2, 0, &[0, 1, 2, 3]);
    assert_eq!(place.numbers(&["next", "order", "-n", "5", "--config", "sequent.toml"]), [1, 2, 3, 4, 5]);
    place
}

/// Writes the configuration: slot i on the file `shard-<files[i]>.db`.
fn write(place: &Place, shard_bits: u8, memory_bits: u8, files: &[u16]) {
    let shard =
        |(slot, file)| format!("[[shard]]\nslot = {slot}\nstore = \"sqlite\"\npath = \"shard-{file}.db\"\n");
    let shards = files.iter().enumerate().map(shard).collect::<Vec<_>>().concat();
    let ring = format!("[ring]\nshard_bits = {shard_bits}\nmemory_bits = {memory_bits}\n");
    let ledger = "[ledger]\nstore = \"sqlite\"\npath = \"ledger.db\"\n";
    fs::write(place.path("sequent.toml"), format!("auto_create = [\"*\"]\n{ring}{shards}{ledger}")).unwrap();
}

/// Every database file with its content. Not `-wal` and `-shm`: a reader may make and remove them.
fn content(place: &Place) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = fs::read_dir(place.data()).unwrap().map(|entry| entry.unwrap().path());
    let databases = entries.filter(|path| path.extension().is_some_and(|extension| extension == "db"));
    databases.map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

/// Refused with these words, and nothing was touched: the old configuration goes on where it was.
fn refused(place: &Place, words: &[&str]) {
    let before = content(place);
    place.run(&["next", "order", "--config", "sequent.toml"]).refused(3, words);
    assert!(before == content(place), "a file was touched");
    write(place, 2, 0, &[0, 1, 2, 3]);
    assert_eq!(place.numbers(&["next", "order", "--config", "sequent.toml"]), [6]);
}

#[test]
fn more_shard_bits() {
    let place = founded();
    write(&place, 3, 0, &[0, 1, 2, 3, 4, 5, 6, 7]);
    refused(&place, &["shard_bits", "3", "2"]);
}

#[test]
fn fewer_shard_bits() {
    let place = founded();
    write(&place, 1, 0, &[0, 1]);
    refused(&place, &["shard_bits", "1", "2"]);
}

#[test]
fn other_memory_bits() {
    let place = founded();
    write(&place, 2, 4, &[0, 1, 2, 3]);
    refused(&place, &["memory_bits", "4", "0"]);
}

#[test]
fn slots_that_changed_places() {
    let place = founded();
    write(&place, 2, 0, &[1, 0, 2, 3]);
    refused(&place, &["slot 0", "slot 1", "bears stamp", "expected"]);
}

#[test]
fn two_slots_on_one_file_by_two_names() {
    let place = founded();
    let (first, last) = (place.data().join("shard-0.db"), place.data().join("shard-3.db"));
    fs::rename(&last, place.path("aside.db")).unwrap();
    let by_symlink: fn(&Path, &Path) = |file, name| symlink(file.file_name().unwrap(), name).unwrap();
    let by_hard_link: fn(&Path, &Path) = |file, name| fs::hard_link(file, name).unwrap();
    for link in [by_symlink, by_hard_link] {
        link(&first, &last);
        let before = content(&place);
        place.run(&["next", "order", "--config", "sequent.toml"]).refused(3, &["shard-3.db", "same file"]);
        assert!(before == content(&place), "a file was touched");
        fs::remove_file(&last).unwrap();
    }
    fs::rename(place.path("aside.db"), &last).unwrap();
    assert_eq!(place.numbers(&["next", "order", "--config", "sequent.toml"]), [6]);
}

#[test]
fn a_file_of_another_cluster_with_the_same_name() {
    let place = founded();
    place.numbers(&["next", "order", "--data", "other"]);
    fs::rename(place.data().join("shard-2.db"), place.path("aside.db")).unwrap();
    fs::copy(place.path("other").join("shard-2.db"), place.data().join("shard-2.db")).unwrap();
    let shard = place.data().join("shard-2.db");
    let before = content(&place);
    place
        .run(&["next", "order", "--config", "sequent.toml"])
        .refused(3, &["slot 2", "bears stamp", "expected"]);
    assert!(before == content(&place), "a file was touched");
    fs::remove_file(&shard).unwrap();
    fs::rename(place.path("aside.db"), &shard).unwrap();
    assert_eq!(place.numbers(&["next", "order", "--config", "sequent.toml"]), [6]);
}

#[test]
fn another_name_for_the_cluster() {
    let place = founded();
    let renamed = fs::read_to_string(place.path("sequent.toml")).unwrap();
    fs::write(place.path("sequent.toml"), format!("cluster = \"elsewhere\"\n{renamed}")).unwrap();
    refused(&place, &["cluster", "elsewhere"]);
}

#[test]
fn the_configuration_in_the_book_has_no_fault() {
    let place = Place::new();
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/reference/config.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, rest) = page.split_once("```toml\ncluster").expect("the book shows a configuration");
    let (config, _) = rest.split_once("```").unwrap();
    fs::write(place.path("sequent.toml"), format!("cluster{config}")).unwrap();
    place.run(&["config", "check", "sequent.toml"]).succeeded();
    assert_eq!(place.numbers(&["next", "order", "--config", "sequent.toml"]), [1000]);
}
