//! Licences of all that is linked in, against the list of `deny.toml`: a check that needs no tool of its own.

use std::collections::BTreeSet;

use toml::{Table, Value};

use crate::{demand_none, graph, tree};

#[test]
fn licences_are_among_the_allowed() {
    let deny: Table = tree::read("deny.toml".as_ref()).parse().unwrap();
    let words = |value: &Value| -> BTreeSet<String> {
        value.as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned()).collect()
    };
    let allowed = words(&deny["licenses"]["allow"]);
    let mut faults = Vec::new();
    for package in graph::packages() {
        let licence = package["license"].as_str().unwrap_or("none named");
        if !permits(licence, &allowed) {
            faults.push(format!("{} {}: {licence}", package["name"], package["version"]));
        }
    }
    demand_none("licences that deny.toml does not allow", &faults);
}

/// Whether an SPDX expression can be met with the allowed licences. `AND` binds tighter than `OR`; `/` is an old `OR`.
fn permits(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let spaced =
        expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ").replace(" WITH ", "_WITH_");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut at = 0;
    let met = either(&words, &mut at, allowed);
    met && at == words.len()
}

fn either(words: &[&str], at: &mut usize, allowed: &BTreeSet<String>) -> bool {
    let mut met = both(words, at, allowed);
    while words.get(*at) == Some(&"OR") {
        *at += 1;
        met |= both(words, at, allowed);
    }
    met
}

fn both(words: &[&str], at: &mut usize, allowed: &BTreeSet<String>) -> bool {
    let mut met = one(words, at, allowed);
    while words.get(*at) == Some(&"AND") {
        *at += 1;
        met &= one(words, at, allowed);
    }
    met
}

fn one(words: &[&str], at: &mut usize, allowed: &BTreeSet<String>) -> bool {
    let Some(word) = words.get(*at) else { return false };
    *at += 1;
    if *word != "(" {
        return allowed.contains(&word.replace("_WITH_", " WITH "));
    }
    let met = either(words, at, allowed);
    let closed = words.get(*at) == Some(&")");
    *at += 1;
    met && closed
}

#[test]
fn expressions_are_read_as_they_are_meant() {
    let allowed: BTreeSet<String> = ["MIT", "Unicode-3.0"].map(str::to_owned).into();
    for met in ["MIT", "Apache-2.0 OR MIT", "MIT/Apache-2.0", "(MIT OR Apache-2.0) AND Unicode-3.0"] {
        assert!(permits(met, &allowed), "{met}");
    }
    for unmet in ["Apache-2.0", "MIT AND Apache-2.0", "GPL-3.0", "", "(MIT OR", "none named"] {
        assert!(!permits(unmet, &allowed), "{unmet}");
    }
}
