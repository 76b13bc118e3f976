//! README.zh-CN.md says what README.md says: both have the same code, links, sections and tables.

use crate::{pages, tree};

const README: &str = "README.md";
const IN_CHINESE: &str = "README.zh-CN.md";

#[test]
fn code_is_the_same() {
    demand_same("code", code);
}

#[test]
fn links_are_the_same() {
    demand_same("links", links);
}

#[test]
fn sections_and_tables_are_the_same() {
    demand_same("sections and tables", outline);
}

#[test]
fn each_leads_to_the_other_first() {
    for (page, other) in [(README, IN_CHINESE), (IN_CHINESE, README)] {
        let links = pages::links(&tree::read(page.as_ref()));
        assert_eq!(links.first().map(String::as_str), Some(other), "the first link of {page}");
    }
}

/// Demands that `of` finds the same in both pages; what it finds first in one alone is shown.
fn demand_same(what: &str, of: fn(&str) -> Vec<String>) {
    let [readme, in_chinese] = [README, IN_CHINESE].map(|page| of(&tree::read(page.as_ref())));
    assert!(readme.len() > 20, "{what}: only {} found in {README}: the check would be empty", readme.len());
    for at in 0..readme.len().max(in_chinese.len()) {
        assert_eq!(readme.get(at), in_chinese.get(at), "{what}: left {README}, right {IN_CHINESE}");
    }
}

/// The lines of code with their fences, without comments: those are in the page's language.
fn code(text: &str) -> Vec<String> {
    let (code, _) = code_and_prose(text);
    code.into_iter().map(without_comment).collect()
}

/// The targets of links, in an order of their own, since sentences are built otherwise in another language.
/// A heading of the page itself is named in its language.
fn links(text: &str) -> Vec<String> {
    let mut links = pages::links(text);
    links.retain(|link| link != README && link != IN_CHINESE);
    for to_heading in links.iter_mut().filter(|link| link.starts_with('#')) {
        to_heading.truncate(1);
    }
    links.sort_unstable();
    links
}

/// Headings by their level, rows of tables by their columns.
fn outline(text: &str) -> Vec<String> {
    let (_, prose) = code_and_prose(text);
    let heading = |line: &str| line.chars().take_while(|&c| c == '#').collect();
    let row = |line: &str| line.chars().filter(|&c| c == '|').collect();
    let outlined = prose.into_iter().filter(|line| line.starts_with(['#', '|']));
    outlined.map(|line| if line.starts_with('#') { heading(line) } else { row(line) }).collect()
}

/// The lines between fences, with the fences, and the others.
fn code_and_prose(text: &str) -> (Vec<&str>, Vec<&str>) {
    let mut in_code = false;
    text.lines().partition(|line| {
        let is_fence = line.starts_with("```");
        in_code ^= is_fence;
        in_code || is_fence
    })
}

/// A line up to its `// comment` or `# comment`.
fn without_comment(line: &str) -> String {
    // A space in front, so that a comment may begin the line; what is found in `padded` begins there in `line`.
    let padded = format!(" {line}");
    let comment = [" // ", " # "].iter().filter_map(|mark| padded.find(mark)).min();
    line[..comment.unwrap_or(line.len())].trim_end().to_owned()
}
