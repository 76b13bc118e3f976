//! Which seed a test runs with.

use crate::SeededEntropy;

/// The variable that replays a seed.
const VARIABLE: &str = "SEQUENT_SEED";

/// Random bits for a test: from `SEQUENT_SEED` where it is set, otherwise from `default`; printed, so that a failure
/// can be run again.
pub fn seeded(default: u64) -> SeededEntropy {
    let named = std::env::var(VARIABLE).ok().and_then(|text| text.parse().ok());
    let seed = named.unwrap_or(default);
    println!("seed {seed} (replay with {VARIABLE}={seed})");
    SeededEntropy::new(seed)
}
