//! What the book says to somebody who starts: a fresh crate, its ten lines, a number from a running server.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{place::Place, server::dev};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// The first block of this language after the heading of the SDK's page.
fn block(language: &str) -> String {
    let page = fs::read_to_string(root().join("docs/using/rust.md")).unwrap();
    let section = page.split_once("\n## From a Rust service").expect("the book has a section for services").1;
    let after = section.split_once(&format!("```{language}\n")).expect("with such a block").1;
    after.split_once("```").unwrap().0.to_owned()
}

#[test]
fn the_ten_lines_of_the_book_print_a_number() {
    let place = Place::new();
    let (_server, address) = dev(&place);
    let lines = block("rust");
    assert!(lines.lines().count() <= 10, "ten lines are promised");
    let client = root().join("crates/client");
    let dependencies = block("toml").replace("../sequent/crates/client", client.to_str().unwrap());
    assert!(dependencies.contains(client.to_str().unwrap()), "the path in the book: {dependencies}");

    // Its own workspace, with the versions and the settings that are built already.
    let head = "[package]\nname = \"fresh\"\nedition = \"2024\"\n[workspace]\n";
    let profile = "[profile.dev]\ndebug = \"line-tables-only\"\n[profile.dev.package.\"*\"]\nopt-level = 1\ndebug = false\n";
    fs::create_dir(place.path("src")).unwrap();
    fs::write(place.path("Cargo.toml"), format!("{head}{dependencies}\n{profile}")).unwrap();
    fs::write(place.path("src/main.rs"), lines).unwrap();
    fs::copy(root().join("Cargo.lock"), place.path("Cargo.lock")).unwrap();

    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["run", "--quiet", "--offline"]).current_dir(place.path(""));
    cargo.env("CARGO_TARGET_DIR", target).env("SEQUENT_SERVER", &address);
    let ran = cargo.output().unwrap();
    let said = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{said:?}");
    assert_eq!(said.0.trim().parse::<u64>().ok(), Some(1), "{said:?}");
}
