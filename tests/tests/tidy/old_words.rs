//! Words that the project has given up, each with the one in its place: nobody who searches for the usual word may miss a place.

use std::path::Path;

use crate::{demand_none, tree};

const GIVEN_UP: [(&str, &str); 10] = [
    ("incarnation", "instance"),
    ("incarnations", "instances"),
    ("keeper", "guard"),
    ("teller", "service"),
    ("tether", "checked close"),
    ("footing", "ledger state"),
    ("door", "API"),
    ("doors", "APIs"),
    ("shows up", "sends a heartbeat"),
    ("reborn", "another instance"),
];

/// Files that somebody reads, or searches.
const TEXTS: [&str; 6] = ["rs", "md", "yml", "toml", "proto", "py"];

/// Where the words are quoted.
const EXCEPT: [&str; 2] = ["CHANGELOG.md", "tests/tests/tidy/old_words.rs"];

#[test]
fn nobody_says_words_that_were_given_up() {
    let mut faults = Vec::new();
    let files = TEXTS.iter().flat_map(|extension| tree::with_extension(extension));
    for file in files.filter(|file| !EXCEPT.iter().any(|except| file == Path::new(except))) {
        let text = tree::read(&file).to_lowercase();
        for (number, line) in (1..).zip(text.lines()) {
            let said = GIVEN_UP.iter().filter(|(word, _)| says(line, word));
            faults.extend(said.map(|(word, now)| format!("{}:{number}: {word}, now {now}", file.display())));
        }
    }
    demand_none("words that were given up", &faults);
}

/// Whether a line has a word as a whole one; `_` and digits are letters.
fn says(line: &str, word: &str) -> bool {
    let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
    line.match_indices(word).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + word.len()..]);
        !before.ends_with(is_letter) && !after.starts_with(is_letter)
    })
}

#[test]
fn a_word_is_found_whole() {
    assert!(says("the keeper: one", "keeper") && !says("bookkeeper, keeper_of", "keeper"));
}
