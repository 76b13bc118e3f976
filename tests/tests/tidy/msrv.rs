//! The oldest Rust that builds the workspace: what the manifest says is true, and pages and image say the same.

use toml::Table;

use crate::{demand_none, graph, tree};

/// Where else the version stands: a file, and the words around it.
const SAID: [(&str, &str, &str); 3] = [
    ("README.md", "a Rust toolchain (", " or newer)"),
    ("README.zh-CN.md", "Rust 工具链（", " 或更新）"),
    ("deploy/docker/Dockerfile", "FROM rust:", "-bookworm"),
];

/// `rust-version` of the workspace.
fn ours() -> String {
    let manifest: Table = tree::read("Cargo.toml".as_ref()).parse().unwrap();
    manifest["workspace"]["package"]["rust-version"].as_str().unwrap().to_owned()
}

/// Major, minor and patch.
fn parts(version: &str) -> [u32; 3] {
    let mut parts = version.split('.').map(|part| part.parse().unwrap());
    [(); 3].map(|()| parts.next().unwrap_or(0))
}

#[test]
fn no_package_asks_for_a_newer_rust_than_the_workspace() {
    let ours = ours();
    let mut faults = Vec::new();
    for package in graph::packages() {
        if let Some(wanted) = package["rust_version"].as_str().filter(|wanted| parts(wanted) > parts(&ours)) {
            let (name, version) = (&package["name"], &package["version"]);
            faults.push(format!("{name} {version} needs Rust {wanted}; rust-version is {ours}"));
        }
    }
    demand_none("rust-version in Cargo.toml is too old", &faults);
}

#[test]
fn pages_and_image_name_the_same_rust() {
    let ours = ours();
    for (file, before, after) in SAID {
        let text = tree::read(file.as_ref());
        let said = text.split_once(before).and_then(|(_, rest)| rest.split_once(after));
        assert_eq!(said.map(|(version, _)| version), Some(&*ours), "{file}: {before}…{after}");
    }
}
