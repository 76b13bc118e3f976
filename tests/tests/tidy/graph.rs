//! All packages that a build takes in, as `cargo metadata` tells them.

use std::process::Command;

use serde_json::Value;
use toml::Table;

use crate::tree;

/// The packages of the targets that `deny.toml` names, the workspace's own among them.
pub(crate) fn packages() -> Vec<Value> {
    let deny: Table = tree::read("deny.toml".as_ref()).parse().unwrap();
    let mut command = Command::new(env!("CARGO"));
    command.args(["metadata", "--format-version=1", "--locked", "--offline"]).current_dir(tree::root());
    for triple in deny["graph"]["targets"].as_array().unwrap() {
        command.args(["--filter-platform", triple.as_str().unwrap()]);
    }
    let said = command.output().unwrap();
    assert!(said.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&said.stderr));
    let mut graph: Value = serde_json::from_slice(&said.stdout).unwrap();
    let Value::Array(packages) = graph["packages"].take() else { panic!("no packages") };
    assert!(packages.len() > 30, "only {} packages found: the check would be empty", packages.len());
    packages
}
