//! Random bits for tokens and jitter, behind a trait so that a simulation can replay them from a seed.

/// A source of random bits.
pub trait Entropy: Send + Sync + std::fmt::Debug {
    /// 64 fresh random bits.
    fn bits(&self) -> u64;

    /// A fraction in `0.0 .. 1.0`, for jitter.
    #[allow(clippy::cast_precision_loss, reason = "53 bits fit a double exactly")]
    fn fraction(&self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// The operating system's random generator.
#[derive(Debug, Clone, Copy, Default)]
pub struct OsEntropy;

impl Entropy for OsEntropy {
    fn bits(&self) -> u64 {
        // Without random bits no epoch would be unique. Aborting is safer than guessing a token.
        getrandom::u64().unwrap_or_else(|error| {
            eprintln!("sequent: the operating system gives no random bits: {error}");
            std::process::abort()
        })
    }
}
