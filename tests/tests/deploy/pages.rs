//! What the operators' pages name is there: files, and tests by their names.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use crate::tree::{files, root, text};

/// Folders whose files a page may name.
const FOLDERS: [&str; 3] = ["tests/", "crates/", "deploy/"];

/// Ends the beginning of a long name.
const CUT: &str = "_…";

/// What stands between backticks, outside of blocks.
fn quoted(page: &str) -> Vec<&str> {
    let lines = page.lines().filter(|line| !line.starts_with("    "));
    lines.flat_map(|line| line.split('`').skip(1).step_by(2)).collect()
}

/// `a/{b,c}.rs` as `a/b.rs` and `a/c.rs`.
fn expanded(path: &str) -> Vec<String> {
    match path.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?))) {
        Some((before, (middle, after))) => {
            middle.split(',').map(|word| format!("{before}{word}{after}")).collect()
        }
        None => vec![path.to_owned()],
    }
}

/// The text of all tests of the project, and the names of their files.
fn tests() -> (String, BTreeSet<String>) {
    let files: Vec<PathBuf> =
        ["../tests", "../crates"].iter().flat_map(|folder| files(folder, "rs")).collect();
    let names = files.iter().filter_map(|file| Some(file.file_name()?.to_str()?.to_owned()));
    (files.iter().map(|file| text(file)).collect(), names.collect())
}

/// The name of a test, which is a sentence; none of a metric, a label or a key begins as one does.
fn is_test(word: &str) -> bool {
    if word.ends_with(CUT) {
        return true;
    }
    let is_name = word.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    is_name && ["a_", "an_", "the_"].iter().any(|article| word.starts_with(article))
}

#[test]
fn what_pages_name_is_there() {
    let ((tests, test_files), mut paths, mut names) = (tests(), 0, 0);
    for page in files("", "md") {
        for word in quoted(&text(&page)) {
            if FOLDERS.iter().any(|folder| word.starts_with(folder)) && !word.contains(' ') {
                for path in expanded(word) {
                    paths += 1;
                    assert!(
                        Path::new(&root()).join(&path).exists(),
                        "{}: {path} is not there",
                        page.display()
                    );
                }
            }
            // A file that was named with its folder before.
            if Path::new(word).extension().is_some_and(|is| is == "rs") && !word.contains('/') {
                assert!(test_files.contains(word), "{}: there is no file {word}", page.display());
            }
            if is_test(word) {
                names += 1;
                let name = word.strip_suffix('…').map_or(format!("fn {word}("), |cut| format!("fn {cut}"));
                assert!(tests.contains(&name), "{}: there is no test {word}", page.display());
            }
        }
    }
    assert!(paths > 20 && names >= 3, "{paths} paths, {names} names: the check would be empty");
}
