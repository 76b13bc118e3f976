//! README is one page, the pages of the book are short, and its contents list all of them. Their links: [`pages`].

use std::path::{Path, PathBuf};

use crate::{demand_none, pages, tree};

/// README at most.
const README_LINES_MAX: usize = 200;
const README_BYTES_MAX: usize = 12 * 1024;

/// A page of the book at most; what is looked up rather than read may be longer.
const PAGE_LINES_MAX: usize = 200;
const LOOKED_UP: &str = "docs/reference";

/// The book's contents.
const CONTENTS: &str = "docs/SUMMARY.md";

/// The pages of the book, without its contents.
fn of_the_book() -> Vec<PathBuf> {
    let mut pages = tree::with_extension("md");
    pages.retain(|page| page.starts_with("docs") && page != Path::new(CONTENTS));
    assert!(pages.len() > 20, "only {} pages found: the checks would be empty", pages.len());
    pages
}

#[test]
fn the_readme_is_one_page() {
    let text = tree::read("README.md".as_ref());
    let (lines, bytes) = (text.lines().count(), text.len());
    assert!(lines <= README_LINES_MAX, "README.md: {lines} lines, at most {README_LINES_MAX} are allowed");
    assert!(bytes <= README_BYTES_MAX, "README.md: {bytes} bytes, at most {README_BYTES_MAX} are allowed");
}

#[test]
fn the_pages_of_the_book_are_short() {
    let mut faults = Vec::new();
    for page in of_the_book().iter().filter(|page| !page.starts_with(LOOKED_UP)) {
        let lines = tree::read(page).lines().count();
        if lines > PAGE_LINES_MAX {
            faults.push(format!("{}: {lines} lines, at most {PAGE_LINES_MAX} are allowed", page.display()));
        }
    }
    demand_none("too long for a page", &faults);
}

#[test]
fn the_contents_list_every_page() {
    let listed = pages::links(&tree::read(CONTENTS.as_ref()));
    let is_listed = |page: &Path| listed.iter().any(|link| Path::new("docs").join(link) == page);
    let pages = of_the_book();
    let missing = pages.iter().filter(|page| !is_listed(page)).map(|page| page.display().to_string());
    demand_none("not in docs/SUMMARY.md", &missing.collect::<Vec<_>>());
}
