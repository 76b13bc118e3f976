//! Which crate may know which: the manifests against one table.

use std::path::PathBuf;

use toml::{Table, Value};

use crate::{demand_none, tree};

/// A crate's folder, and the crates that its code may name. Crates that are not built yet have their line already.
const CRATES: [(&str, &[&str]); 16] = [
    ("crates/core", &[]),
    ("crates/backend", &["core"]),
    ("crates/guard", &["core"]),
    ("crates/ha", &["core"]),
    ("crates/buffer", &["core"]),
    ("crates/format", &["core"]),
    ("crates/engine", &["core", "backend", "guard", "ha", "buffer", "format"]),
    ("crates/admin", &["core", "guard", "format", "engine"]),
    ("crates/proto", &[]),
    ("crates/server", &["core", "engine", "admin", "proto"]),
    ("crates/client", &["core", "ha", "buffer", "format", "proto"]),
    (
        "crates/cli",
        &[
            "core", "backend", "guard", "ha", "buffer", "format", "engine", "admin", "proto", "server",
            "client",
        ],
    ),
    ("crates/testkit", &["core"]),
    ("tests", ANY),
    ("tests/simulation", ANY),
    ("benches", ANY),
];

const ANY: &[&str] = &[
    "core", "backend", "guard", "ha", "buffer", "format", "engine", "admin", "proto", "server", "client",
    "testkit",
];

/// What a crate's own tests may use besides.
const FOR_TESTS: [&str; 2] = ["testkit", "backend"];

/// Foreign crates that may enter through some crates only, and why.
const WRAPPED: [(&str, &[&str], &str); 19] = [
    ("sqlx", &["backend"], "engines are known to backends alone"),
    (
        "rustix",
        &["backend", "cli", "client", "engine", "server", "testkit"],
        "files and their modes are known to backends, the data directory and the program; a clock to clients; a limit to servers; signals to the servers of tests",
    ),
    ("forkguard", &["client"], "who forks with numbers in memory is a client"),
    (
        "mysql_async",
        &["backend", "benches"],
        "engines are known to backends alone; benches compare with a bare statement",
    ),
    (
        "redis",
        &["backend", "tests"],
        "engines are known to backends alone; a test is a client of the listener",
    ),
    ("mongodb", &["backend"], "engines are known to backends alone"),
    ("axum", &["server", "benches"], "sockets are the server's; benches compare with an empty one"),
    (
        "hyper",
        &["server", "client", "backend", "cli"],
        "sockets are the server's; a ledger may be spoken to over HTTP; commands read an admin listener",
    ),
    (
        "tonic",
        &["server", "client", "proto", "benches"],
        "sockets are the server's; benches compare with an empty one",
    ),
    ("prost", &["server", "client", "proto"], "wire types are the proto crate's"),
    ("toml", &["engine", "cli", "tests"], "one crate reads the config"),
    ("globset", &["engine"], "patterns of names are definitions"),
    ("clap", &["cli"], "arguments are the command line's"),
    (
        "metrics",
        &["engine", "client", "server", "benches"],
        "crates emit events; the engine names them; benches compare with a server that counts nothing",
    ),
    ("tracing", &["engine", "client", "server", "cli"], "crates emit events; the engine names them"),
    ("tracing-subscriber", &["cli", "server"], "libraries do not choose a log"),
    ("getrandom", &["core"], "randomness comes from core's Entropy, so that a seed replays it"),
    (
        "rand",
        &["testkit", "tests", "benches"],
        "randomness comes from core's Entropy, so that a seed replays it",
    ),
    ("chrono", &[], "time comes from core's Clock"),
];

/// A manifest that exists, with its crate.
struct Manifest {
    package: &'static str,
    allowed: &'static [&'static str],
    table: Table,
}

fn manifests() -> Vec<Manifest> {
    let read = |(folder, allowed): (&'static str, &'static [&'static str])| {
        let path = PathBuf::from(folder).join("Cargo.toml");
        tree::root().join(&path).exists().then(|| Manifest {
            package: folder.rsplit('/').next().unwrap(),
            allowed,
            table: tree::read(&path).parse().unwrap(),
        })
    };
    CRATES.into_iter().filter_map(read).collect()
}

/// The dependencies of one kind, also those of single targets.
fn dependencies(table: &Table, kind: &str) -> Vec<(String, Value)> {
    let here = table.get(kind).and_then(Value::as_table).cloned().unwrap_or_default();
    let targets = table.get("target").and_then(Value::as_table).cloned().unwrap_or_default();
    let theirs = targets.into_iter().flat_map(|(_, target)| dependencies(target.as_table().unwrap(), kind));
    here.into_iter().chain(theirs).collect()
}

#[test]
fn rooms_know_only_what_is_below_them() {
    let mut faults = Vec::new();
    for Manifest { package, allowed, table } in manifests() {
        for (kind, besides) in
            [("dependencies", &[][..]), ("build-dependencies", &[]), ("dev-dependencies", &FOR_TESTS)]
        {
            for (name, _) in dependencies(&table, kind) {
                let Some(other) = name.strip_prefix("sequent-") else { continue };
                if !allowed.contains(&other) && !besides.contains(&other) {
                    faults.push(format!("{package} [{kind}] names {name}; it may know {allowed:?}"));
                }
            }
        }
    }
    demand_none("crates that know too much", &faults);
}

#[test]
fn foreign_crates_enter_through_their_own_room() {
    let mut faults = Vec::new();
    for Manifest { package, table, .. } in manifests() {
        for (name, _) in dependencies(&table, "dependencies") {
            for (_, packages, why) in WRAPPED
                .iter()
                .filter(|(wrapped, packages, _)| *wrapped == name && !packages.contains(&package))
            {
                faults.push(format!("{package} names {name}, allowed in {packages:?}: {why}"));
            }
        }
    }
    demand_none("foreign crates in the wrong crate", &faults);
}

#[test]
fn core_knows_no_runtime() {
    let core = manifests().into_iter().find(|manifest| manifest.package == "core").unwrap();
    for (name, value) in dependencies(&core.table, "dependencies") {
        if name == "tokio" {
            let features: Vec<&str> =
                value["features"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
            assert_eq!(
                features,
                ["sync"],
                "core may use tokio's channels, which need no runtime, and nothing else"
            );
            assert_eq!(value.get("default-features"), Some(&Value::Boolean(false)));
        }
    }
}

#[test]
fn every_member_is_in_the_table_and_keeps_the_workspace_lints() {
    let mut faults = Vec::new();
    let known = |folder: &str| CRATES.iter().any(|(known, _)| *known == folder);
    for file in tree::with_extension("toml") {
        let folder = file.parent().unwrap().to_str().unwrap();
        if file.file_name().unwrap() != "Cargo.toml" || folder.is_empty() {
            continue;
        }
        let table: Table = tree::read(&file).parse().unwrap();
        if table.contains_key("workspace") {
            continue; // fuzz targets are a workspace of their own: no member, so nothing to inherit
        }
        if !known(folder) {
            faults.push(format!("{folder} is not in the table of crates"));
        }
        let lints = table.get("lints").and_then(|lints| lints.get("workspace"));
        if lints != Some(&Value::Boolean(true)) {
            faults.push(format!("{folder}: [lints] workspace = true is missing"));
        }
        let license = table["package"].get("license").and_then(|license| license.get("workspace"));
        if license != Some(&Value::Boolean(true)) {
            faults.push(format!("{folder}: license.workspace = true is missing"));
        }
    }
    demand_none("members that opt out", &faults);
}
