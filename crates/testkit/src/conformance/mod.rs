//! What every store and every ledger owes, as suites of small checks that any backend runs by one line of a macro.
//!
//! A check takes a fixture, which opens handles to fresh data; two handles stand for two processes. A check that needs
//! what the fixture can't do says `skipped` and passes. A check panics, or fails, where the backend is wrong.

#![allow(clippy::missing_panics_doc, reason = "a check panics where the backend is wrong: that is its job")]

pub mod ledger;
mod odd_keys;
pub mod store;

/// How a check ends. Calls that must succeed are passed on by `?`; what they return is asserted.
pub type Checked = Result<(), Box<dyn std::error::Error + Send + Sync>>;

/// Says that a check needs what the fixture can't do.
#[allow(clippy::unnecessary_wraps, reason = "a check ends with it")]
fn skipped(what: &str) -> Checked {
    println!("skipped: this fixture can't {what}");
    Ok(())
}
