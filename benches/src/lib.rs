//! Helpers of the benches.
