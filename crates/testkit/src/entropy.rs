//! Random bits from a seed, so that a failing test can be run again.

use std::sync::atomic::{AtomicU64, Ordering};

use sequent_core::Entropy;

/// The step of splitmix64: odd, so that the state visits every value.
const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// Splitmix64: the same seed gives the same bits, in the order in which they are asked for.
///
/// ```
/// use sequent_core::Entropy;
/// use sequent_testkit::SeededEntropy;
/// let (a, b) = (SeededEntropy::new(7), SeededEntropy::new(7));
/// assert_eq!((a.bits(), a.bits()), (b.bits(), b.bits()));
/// assert_ne!(a.bits(), SeededEntropy::new(8).bits());
/// ```
#[derive(Debug)]
pub struct SeededEntropy {
    state: AtomicU64,
}

impl SeededEntropy {
    /// Bits from this seed.
    pub const fn new(seed: u64) -> Self {
        Self { state: AtomicU64::new(seed) }
    }

    /// Another generator, whose bits depend on this one's and on nothing drawn from this one later.
    #[must_use]
    pub fn fork(&self) -> Self {
        Self::new(self.bits())
    }

    /// A value in `0 .. bound`; 0 for a bound of 0.
    pub fn below(&self, bound: u64) -> u64 {
        // The bias of the remainder is below 2^-40 for the bounds that tests use.
        self.bits().checked_rem(bound).unwrap_or(0)
    }

    /// True in `percent` of 100 cases.
    pub fn chance(&self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

impl Entropy for SeededEntropy {
    fn bits(&self) -> u64 {
        let mut z = self.state.fetch_add(GAMMA, Ordering::Relaxed).wrapping_add(GAMMA);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}
