//! The guard's rules: each has its row in `guard.md`, and the file named there says its number where it obeys it.

use sequent_core::Rule;

use crate::{demand_none, tree};

const PAGE: &str = "crates/guard/guard.md";

/// A page that is longer is not read as a whole.
const PAGE_LINES_MAX: usize = 250;

#[test]
fn each_rule_has_its_row_and_its_line_of_code() {
    let page = tree::read(PAGE.as_ref());
    let mut faults = Vec::new();
    for rule in Rule::ALL {
        let number = format!("R{}", rule.number());
        let head = format!("| {number} | `{rule:?}` |");
        let Some(row) = page.lines().find(|line| line.starts_with(&head)) else {
            faults.push(format!("{PAGE}: no row that begins with {head}"));
            continue;
        };
        let is_said = source(row).is_some_and(|file| {
            tree::root().join(&file).is_file() && is_in_a_comment(&number, &tree::read(file.as_ref()))
        });
        if !is_said {
            faults.push(format!("{PAGE}: the file of this row has no comment {number}: {row}"));
        }
    }
    demand_none("rules of the guard whose row or line of code is missing", &faults);
}

#[test]
fn the_page_is_short_enough_to_be_read() {
    let lines = tree::read(PAGE.as_ref()).lines().count();
    assert!(lines <= PAGE_LINES_MAX, "{PAGE}: {lines} lines, at most {PAGE_LINES_MAX} are allowed");
}

/// The file in a row's last cell, where `guard/marks/mod.rs` is one of `crates/guard/src`.
fn source(row: &str) -> Option<String> {
    let (package, file) = row.rsplit('|').nth(1)?.trim().split_once('/')?;
    Some(format!("crates/{package}/src/{file}"))
}

fn is_in_a_comment(number: &str, code: &str) -> bool {
    let comments = code.lines().filter_map(|line| line.split_once("//"));
    comments.flat_map(|(_, comment)| comment.split(|c: char| !c.is_alphanumeric())).any(|word| word == number)
}
