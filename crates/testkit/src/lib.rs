//! What tests of every room share: a clock and random bits that can be replayed.

mod clock;
mod entropy;

pub use clock::PausedClock;
pub use entropy::SeededEntropy;
