//! Tidiness as a test: what reviewers would otherwise have to look for by eye.
//!
//! Suggested reading order: [`manifests`] (which crate may know which), [`sources`], [`lengths`], [`pages`], [`book`],
//! [`translated`], [`old_words`], [`licences`], [`msrv`].

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot read its input fails at that place"
)]

mod book;
mod graph;
mod guard_rules;
mod lengths;
mod licences;
mod manifests;
mod msrv;
mod old_words;
mod pages;
mod rust;
mod sources;
mod translated;
mod tree;

/// Fails with every fault found, one a line, rather than with the first.
fn demand_none(what: &str, faults: &[String]) {
    assert!(faults.is_empty(), "{what}:\n  {}", faults.join("\n  "));
}
