//! Import: sequences that go on where the counters of another system are.
//!
//! Reading order: `shapes` (what a table of another system says), [`Mapping`] (which counter becomes which sequence),
//! `decide` (what is to be done, a pure function), [`plan`] and [`carry_out`], [`verify`].

mod carry_out;
mod decide;
mod files;
mod mapping;
mod plan;
mod report;
mod shapes;
mod slot_tables;
mod texts;
mod verify;

use sequent_core::Layout;

pub use carry_out::carry_out;
pub use files::{FileSource, Format};
pub use mapping::Mapping;
pub use plan::{Choice, ImportPlan, plan};
pub use report::{Action, ImportReport, ImportedCounter, Standing, VerifiedCounter, VerifyReport};
pub use shapes::look;
pub use slot_tables::{MEMORY_BITS_MAX, TABLES_MAX};
pub use verify::verify;

/// A counter of another system.
#[derive(Debug, Clone, PartialEq, Eq)]
struct OldCounter {
    /// The table, or what stands for one.
    source: String,
    /// The name in the other system.
    name: String,
    /// The next number that it would give; or why that can't be said.
    next: Result<u64, String>,
    /// The distance of two numbers.
    step: u64,
    /// The last number, if it has one.
    end: Option<u64>,
    /// The layout of the program that counts in slot tables: its numbers are encoded by it.
    encoded: Option<Layout>,
    /// How many slot tables it was found in.
    tables: Option<usize>,
    /// The texts that it makes of its numbers.
    texts: Option<OldTexts>,
    /// What to know of it.
    note: Option<String>,
}

/// The texts of a counter of another system.
#[derive(Debug, Clone, PartialEq, Eq)]
struct OldTexts {
    /// The same as a template.
    template: String,
    /// Whether the counter begins anew with each date.
    resets: bool,
    /// The period of its last number, if it begins anew with each.
    period: Option<String>,
}
