//! Tests of the public interface: the examples of templates.md, dates, overflow, the rules, hostile input, and a search for two
//! numbers with the same text.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::needless_pass_by_value,
    reason = "what fails here fails the test; settings are written where they are used"
)]

mod dates;
mod error_detection;
mod errors;
mod examples;
mod functions;
mod hostile;
mod overflow;
mod rules;
mod search;
mod support;
mod templates_page;
mod typed_texts;
