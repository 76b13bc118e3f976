//! The place of each fault: a line of the file, a flag, a variable. Names that are not known are suggested.

use std::fs;

use sequent_engine::config::{Config, Fault, Sources};

use crate::placed;

#[test]
fn each_fault_names_its_line() {
    let found = placed(
        "# a comment\ncolour = 1\n[ring]\n  shard_bits = 11\nslow_after_ms = 2000\n\n[[shard]]\nslot = 0\n\
         store = \"sqlite\"\npath = \"a.db\"\n[[shard]]\nslot = 1\nstore = \"sqlite\"\n[leger]\nlimits.x = 1\n",
    );
    let place =
        |fault: &Fault| fault.at.rsplit_once("sequent.toml:").expect("a line of the file").1.to_owned();
    let places: Vec<_> = found.iter().map(|fault| (fault.key.as_str(), place(fault))).collect();
    let expected = [
        ("colour", "2:1"),
        ("ring.shard_bits", "4:3"),
        ("ring.slow_after_ms", "5:1"),
        ("shard[1].path", "11:1"),
        ("leger", "14:2"),
    ];
    assert_eq!(places, expected.map(|(key, place)| (key, place.to_owned())));
    assert!(found[0].to_string().contains("sequent.toml:2:1: colour is unknown: "), "{}", found[0]);
    assert!(found[4].bound.starts_with("did you mean ledger? "), "{}", found[4]);
}

#[test]
fn all_that_is_no_toml_is_named_at_once() {
    let found = placed("a = \n[ring]\nshard_bits = 2 3\n");
    let is_at = |fault: &Fault, line: u8| fault.at.contains(&format!("sequent.toml:{line}:"));
    assert!(found.len() == 2 && is_at(&found[0], 1) && is_at(&found[1], 3), "{found:#?}");
}

#[test]
fn what_is_no_toml_names_line_and_column() {
    let found = placed("cluster = \"a\"\n[ring\nshard_bits = 2\n");
    assert_eq!(found.len(), 1, "{found:#?}");
    let said = found[0].to_string();
    assert!(said.contains("sequent.toml:2:") && said.contains(": the file is not TOML: "), "{said}");
    let folder = tempfile::tempdir().unwrap();
    let missing =
        Config::load(&Sources::embedded(folder.path()).file(folder.path().join("no.toml"))).unwrap_err();
    assert!(missing.to_string().contains("no.toml is not readable: "), "{missing}");
}

#[test]
fn flags_and_variables_that_name_no_key_are_faults() {
    let mut sources = Sources::embedded("d").flag("ring.shard_bit", "1");
    sources.environment.insert("SEQUENT_RING_SHARDBITS".to_owned(), "1".to_owned());
    sources.environment.insert("SEQUENT_DATA".to_owned(), "elsewhere".to_owned());
    sources.environment.insert("SEQUENT_LIMITS_MAX_COUNT".to_owned(), "many".to_owned());
    let found: Vec<String> = Config::load(&sources).unwrap_err().0.iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        [
            "environment SEQUENT_LIMITS_MAX_COUNT: limits.max_count is \"many\": 1 to 1000000 are allowed",
            "flag ring.shard_bit is unknown: did you mean ring.shard_bits?",
            "environment SEQUENT_RING_SHARDBITS is unknown: did you mean SEQUENT_RING_SHARD_BITS?",
        ]
    );
}

#[test]
fn variables_that_nothing_reads_are_named_and_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sequent.toml");
    fs::write(&file, "cluster = \"${SEQUENT_NAME}\"\n").unwrap();
    let mut sources = Sources::embedded("d").file(&file);
    sources.reserved = &["SEQUENT_DATA"];
    for (name, value) in [
        ("SEQUENT_NAME", "shop"),
        ("SEQUENT_DATA", "elsewhere"),
        ("SEQUENT_STORE_SERVICE_HOST", "10.0.0.1"),
        ("SEQUENT_AUTOCREATE", "*"),
        ("SEQUENT_ZZZ", "1"),
        ("HOME", "/"),
    ] {
        sources.environment.insert(name.to_owned(), value.to_owned());
    }
    let config = Config::load(&sources).unwrap();
    let unread: Vec<String> = config.unread().iter().map(ToString::to_string).collect();
    let expected = [
        "environment SEQUENT_AUTOCREATE is unknown: did you mean SEQUENT_AUTO_CREATE?",
        "environment SEQUENT_ZZZ is unknown: no such key",
    ];
    assert_eq!(unread, expected);
}
