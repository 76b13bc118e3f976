//! What every source file owes, and what none may hold.

use std::{
    path::{Path, PathBuf},
    sync::OnceLock,
};

use crate::{demand_none, rust, tree};

/// What code outside tests may not call, and why.
const BANNED: [(&str, &str); 5] = [
    (".unwrap()", "a server must not fall over a case that somebody thought impossible"),
    ("todo!(", "unfinished"),
    ("unimplemented!(", "unfinished"),
    ("dbg!(", "left over from debugging"),
    ("mod utils", "name it after what it does"),
];

/// Crates that the simulation drives with paused time, where a thread of its own would not be paused.
const SIMULATED: [&str; 5] = ["crates/core", "crates/guard", "crates/ha", "crates/buffer", "crates/testkit"];

/// A server of its own, of real time as other servers are; it only happens to live in the test's process.
const SERVER: &str = "crates/testkit/src/mongo";

/// Where a machine's own folders would show, spelled so that this file passes its own check.
const MACHINE_PATHS: [&str; 4] =
    [concat!("/ro", "ot/"), concat!("/ho", "me/"), concat!("/wo", "rk/"), concat!("/Us", "ers/")];

/// Whether a file is test code as a whole: by its folder, or because its module is declared for tests only.
pub(crate) fn is_test(file: &Path) -> bool {
    static DECLARED: OnceLock<Vec<PathBuf>> = OnceLock::new();
    let by_folder = file
        .components()
        .any(|part| matches!(part.as_os_str().to_str(), Some("tests" | "benches" | "examples")));
    by_folder || DECLARED.get_or_init(declared_for_tests).iter().any(|module| file.starts_with(module))
}

/// The files and folders of `#[cfg(test)] mod name;`.
fn declared_for_tests() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for file in tree::with_extension("rs") {
        let code = rust::masked(&tree::read(&file));
        let mut lines = code.lines().map(str::trim);
        while let Some(line) = lines.next() {
            if !(line.contains("#[cfg(") && line.contains("test")) {
                continue;
            }
            let next = lines.next().unwrap_or_default();
            let Some(name) = next.strip_prefix("mod ").and_then(|name| name.strip_suffix(';')) else {
                continue;
            };
            let stem = file.file_stem().unwrap_or_default();
            let is_root = ["lib", "main", "mod"].iter().any(|root| stem == *root);
            let folder = if is_root { file.parent().unwrap().to_owned() } else { file.with_extension("") };
            found.extend([folder.join(name).with_extension("rs"), folder.join(name)]);
        }
    }
    found
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
        .filter(|file| SIMULATED.iter().any(|package| file.starts_with(package)))
    {
        if is_test(&file) || file.starts_with(SERVER) {
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
