//! The top level holds what it should, and links between pages lead somewhere.

use std::{collections::BTreeSet, path::Path};

use crate::{demand_none, tree};

/// Folders and pages of the top level; dotfiles besides.
const TOP: [&str; 20] = [
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE",
    "README.md",
    "README.zh-CN.md",
    "benches",
    "clippy.toml",
    "crates",
    "deny.toml",
    "deploy",
    "docs",
    "proto",
    "rust-toolchain.toml",
    "rustfmt.toml",
    "tests",
    "CODE_OF_CONDUCT.md",
    "SECURITY.md",
];

/// What must be there from the first day.
const PRESENT: [&str; 15] = [
    ".ci/run",
    ".github/workflows/ci.yml",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE",
    "README.md",
    "benches/RESULTS.md",
    "clippy.toml",
    "deny.toml",
    "docs/SUMMARY.md",
    "rustfmt.toml",
    "tests/run",
];

#[test]
fn the_top_level_holds_nothing_else() {
    let entries: BTreeSet<String> = tree::files()
        .iter()
        .map(|file| file.components().next().unwrap().as_os_str().to_str().unwrap().to_owned())
        .filter(|entry| !entry.starts_with('.') && !TOP.contains(&entry.as_str()))
        .collect();
    demand_none("does not belong at the top", &Vec::from_iter(entries));
}

#[test]
fn the_usual_pages_are_there() {
    let missing: Vec<String> = PRESENT
        .iter()
        .filter(|page| !tree::root().join(page).is_file())
        .map(|page| (*page).to_owned())
        .collect();
    demand_none("missing", &missing);
}

#[test]
fn links_resolve() {
    let mut faults = Vec::new();
    for page in tree::with_extension("md") {
        let text = tree::read(&page);
        for link in links(&text) {
            if !leads_somewhere(&page, &text, &link) {
                faults.push(format!("{}: {link}", page.display()));
            }
        }
    }
    demand_none("links that lead nowhere", &faults);
}

/// The targets of `[text](target)`, outside code.
pub(crate) fn links(text: &str) -> Vec<String> {
    let mut in_code = false;
    let mut found = Vec::new();
    for line in text.lines() {
        in_code ^= line.trim_start().starts_with("```");
        if in_code || line.starts_with("    ") {
            continue;
        }
        let mut rest = line;
        while let Some(at) = rest.find("](") {
            rest = &rest[at + 2..];
            found.extend(rest.split_once(')').map(|(target, _)| target.to_owned()));
        }
    }
    found
}

fn leads_somewhere(page: &Path, text: &str, link: &str) -> bool {
    if link.starts_with("https://") {
        return true; // another's server is no ground for a red test
    }
    let (path, anchor) = link.split_once('#').map_or((link, None), |(path, anchor)| (path, Some(anchor)));
    let target = page.parent().unwrap().join(path);
    let there = path.is_empty() || tree::root().join(&target).exists();
    let text = if path.is_empty() || !there { text.to_owned() } else { page_text(&target) };
    there && anchor.is_none_or(|anchor| anchors(&text).any(|found| found == anchor))
}

fn page_text(target: &Path) -> String {
    std::fs::read_to_string(tree::root().join(target)).unwrap_or_default()
}

/// The anchors that a forge makes of headings.
fn anchors(text: &str) -> impl Iterator<Item = String> + '_ {
    text.lines().filter(|line| line.starts_with('#')).map(|line| {
        let words = line.trim_start_matches('#').trim().to_lowercase();
        let kept = words.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    })
}

#[test]
fn pages_named_in_sources_exist() {
    let pages: BTreeSet<String> = tree::with_extension("md")
        .iter()
        .map(|page| page.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    let mut faults = Vec::new();
    for file in tree::with_extension("rs").into_iter().filter(|file| !file.starts_with("tests")) {
        for word in tree::read(&file).split(|c: char| !(c.is_alphanumeric() || "._-/".contains(c))) {
            let name = word.rsplit('/').next().unwrap_or(word);
            let is_page =
                name.len() > 3 && std::path::Path::new(name).extension().is_some_and(|found| found == "md");
            if is_page && !pages.contains(name) {
                faults.push(format!("{}: {word}", file.display()));
            }
        }
    }
    demand_none("pages that a reader would look for in vain", &faults);
}
