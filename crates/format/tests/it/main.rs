//! The room from outside: the examples of the page for users, dates, overflow, the rules, hostile input, and a search for
//! two numbers with one text.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::needless_pass_by_value,
    reason = "what fails here fails the test; settings are written where they are used"
)]

mod catches;
mod dates;
mod examples;
mod faults;
mod functions;
mod hostile;
mod overflow;
mod page;
mod readers;
mod rules;
mod search;
mod support;
