//! What a service takes in with the SDK: little, and nothing of a server's.

use std::{collections::BTreeSet, process::Command};

/// The most crates that it may bring, procedural macros, its own crates and nine for TLS included.
const CRATES_MAX: usize = 95;

/// What has no business in somebody else's service.
const FOREIGN: [&str; 15] = [
    "sequent-engine",
    "sequent-server",
    "sequent-backend",
    "sequent-guard",
    "sqlx",
    "mysql_async",
    "libsqlite3-sys",
    "axum",
    "clap",
    "tower",
    "toml",
    "tracing-subscriber",
    "metrics-exporter-prometheus",
    "prost-build",
    "protox",
];

#[test]
fn the_sdk_is_small_and_holds_no_server() {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["tree", "--package", "sequent-client", "--edges", "normal", "--prefix", "none"]);
    cargo.args(["--locked", "--offline", "--format", "{p}"]).current_dir(env!("CARGO_MANIFEST_DIR"));
    let said = cargo.output().unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    let text = String::from_utf8(said.stdout).unwrap();
    let crates: BTreeSet<&str> = text.lines().filter_map(|line| line.split_whitespace().next()).collect();
    println!("{} crates: {crates:?}", crates.len());
    assert!(crates.contains("sequent-client") && crates.len() > 20, "the check would be empty");
    let foreign: Vec<_> = FOREIGN.iter().filter(|name| crates.contains(*name)).collect();
    assert!(foreign.is_empty(), "{foreign:?}");
    assert!(crates.len() <= CRATES_MAX, "{} crates, at most {CRATES_MAX} are allowed", crates.len());
}
