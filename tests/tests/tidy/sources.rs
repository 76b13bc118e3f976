//! What every source file owes, and what none may hold.

use std::path::{Component, Path};

use crate::{demand_none, rust, tree};

/// What code outside tests may not call, and why.
const BANNED: [(&str, &str); 5] = [
    (".unwrap()", "a server must not fall over a case that somebody thought impossible"),
    ("todo!(", "unfinished"),
    ("unimplemented!(", "unfinished"),
    ("dbg!(", "left over from debugging"),
    ("mod utils", "name it after what it does"),
];

/// Rooms that the simulation drives with paused time, where a thread of its own would not be paused.
const SIMULATED: [&str; 5] = ["crates/core", "crates/guard", "crates/ha", "crates/buffer", "crates/testkit"];

/// Where a machine's own folders would show, spelled so that this file passes its own check.
const MACHINE_PATHS: [&str; 4] =
    [concat!("/ro", "ot/"), concat!("/ho", "me/"), concat!("/wo", "rk/"), concat!("/Us", "ers/")];

/// Whether a file is test code as a whole.
pub(crate) fn is_test(file: &Path) -> bool {
    let first = file.components().next();
    first == Some(Component::Normal("tests".as_ref()))
        || file
            .components()
            .any(|part| matches!(part.as_os_str().to_str(), Some("tests" | "benches" | "examples")))
        || file.file_stem().is_some_and(|stem| stem == "tests")
}

#[test]
fn every_source_file_opens_with_what_it_is_for() {
    let mut faults = Vec::new();
    for file in tree::with_extension("rs") {
        let text = tree::read(&file);
        let first = text.lines().next().unwrap_or("");
        if !first.starts_with("//! ") || first.len() < 12 {
            faults.push(format!("{}: opens with {first:?}, not with `//! <what it is for>`", file.display()));
        }
    }
    demand_none("source files that do not say what they are for", &faults);
}

#[test]
fn nothing_banned_outside_tests() {
    let mut faults = Vec::new();
    for file in tree::with_extension("rs").into_iter().filter(|file| !is_test(file)) {
        let code = rust::without_tests(&rust::masked(&tree::read(&file)));
        for (number, line) in code.lines().enumerate() {
            for (banned, why) in BANNED.iter().filter(|(banned, _)| line.contains(banned)) {
                faults.push(format!("{}:{}: {banned}: {why}", file.display(), number + 1));
            }
        }
    }
    demand_none("banned outside tests", &faults);
}

#[test]
fn simulated_rooms_start_no_threads() {
    let mut faults = Vec::new();
    for file in tree::with_extension("rs")
        .into_iter()
        .filter(|file| SIMULATED.iter().any(|room| file.starts_with(room)))
    {
        if is_test(&file) {
            continue;
        }
        let code = rust::without_tests(&rust::masked(&tree::read(&file)));
        for thread in ["spawn_blocking", "std::thread", "thread::spawn", "thread::sleep"] {
            if code.contains(thread) {
                faults.push(format!("{}: {thread}", file.display()));
            }
        }
    }
    demand_none("threads that paused time does not pause", &faults);
}

#[test]
fn no_file_names_a_machine() {
    let mut faults = Vec::new();
    for file in tree::files() {
        let Ok(text) = std::fs::read_to_string(tree::root().join(&file)) else { continue };
        for (number, line) in text.lines().enumerate() {
            for path in MACHINE_PATHS.iter().filter(|path| line.contains(**path)) {
                faults.push(format!("{}:{}: {path}", file.display(), number + 1));
            }
        }
    }
    demand_none("folders of somebody's machine", &faults);
}
