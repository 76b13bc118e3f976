//! What an error tells a caller besides its text and fields: slots, the limit reached, the end of a key.

use std::time::Duration;

use sequent_core::{ErrorKind, SlotIndex};

/// A slot that could not serve, without details that callers may not know: number and cause, no addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlotCause {
    /// The slot.
    pub slot: SlotIndex,
    /// The class of the cause.
    pub kind: ErrorKind,
    /// The cause in words: `connection refused`, `evicted by an operator`; the class if nothing more is known.
    pub cause: &'static str,
}

/// The quota of [burn limits](QuotaFault::quota).
pub const BURN: &str = "burn";

/// A limit that refused a request, for [`Reason::QuotaExceeded`](super::Reason::QuotaExceeded).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuotaFault {
    /// Which limit: [`BURN`], or a quota of a principal.
    pub quota: &'static str,
    /// Whose it is: a key, as people write it, or a principal.
    pub of: String,
    /// The limit in words.
    pub limit: String,
    /// When the same request is within the limit, if nobody else takes numbers meanwhile.
    pub retry_after: Duration,
}

/// The end of a key, for callers of a sequence at its end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct End {
    /// The last number that the definition allows.
    pub(crate) limit: u64,
    /// The highest number known to be given.
    pub(crate) given: u64,
    /// How many numbers are left.
    pub(crate) left: u64,
}
