//! What tests of every crate share: a clock and random bits that can be replayed, a source that follows a script,
//! the judge of uniqueness, and the conformance suites of stores and ledgers.

mod clock;
pub mod conformance;
mod cut_short;
mod entropy;
#[cfg(feature = "mongo")]
pub mod mongo;
mod oracle;
#[cfg(feature = "servers")]
pub mod proxy;
mod scripted;
mod seed;
#[cfg(feature = "servers")]
pub mod servers;

pub use clock::PausedClock;
pub use cut_short::cut_short;
pub use entropy::SeededEntropy;
pub use oracle::{Oracle, Repeat};
pub use scripted::{Act, ScriptedSource};
pub use seed::seeded;
