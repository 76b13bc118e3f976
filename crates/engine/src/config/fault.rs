//! What is wrong with a configuration: every fault at once, each with key, value and bound.

use std::fmt;

/// One fault.
///
/// ```
/// use sequent_engine::config::Fault;
/// let fault = Fault::new("ring.shard_bits", 11, "0 to 10 are allowed");
/// assert_eq!(fault.to_string(), "ring.shard_bits is 11: 0 to 10 are allowed");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The key's path, as `ring.shard_bits` or `shard[2].slot`.
    pub key: String,
    /// What was found, as written; `missing` or `unknown` where the key itself is the fault. Never a secret.
    pub value: String,
    /// What is allowed.
    pub bound: String,
}

impl Fault {
    /// A fault of `key`.
    pub fn new(key: impl Into<String>, value: impl fmt::Display, bound: impl Into<String>) -> Self {
        Self { key: key.into(), value: value.to_string(), bound: bound.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {}: {}", self.key, self.value, self.bound)
    }
}

/// All faults of a configuration, in the order in which they were met; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Faults(pub Vec<Fault>);

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let noun = if self.0.len() == 1 { "fault" } else { "faults" };
        write!(f, "configuration refused, {} {noun}:", self.0.len())?;
        for fault in &self.0 {
            write!(f, "\n  {fault}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Faults {}
