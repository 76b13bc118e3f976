//! Limits of the sequences that first uses define: how many there may be, and how many a second.

use std::{
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

use sequent_core::{SequenceName, sync};

use crate::{
    config::{LimitsSection, SharedLimits},
    error::{EngineError, QuotaFault, reason::Reason},
    issue::burn::bucket::{Bucket, Pace},
};

/// So many seconds' worth may be defined at once: a deployment begins to use all its names together.
const BURST_S: f64 = 100.0;

/// The limits, and what is left of them.
pub(super) struct FirstUses {
    limits: SharedLimits,
    bucket: Mutex<Bucket>,
    /// First uses that are being defined: they do not count as known yet.
    in_work: AtomicUsize,
}

/// A first use that is being defined.
pub(super) struct FirstUse<'a> {
    in_work: &'a AtomicUsize,
    /// Those that were being defined when it began.
    pub(super) others: usize,
}

impl Drop for FirstUse<'_> {
    fn drop(&mut self) {
        self.in_work.fetch_sub(1, Ordering::SeqCst);
    }
}

impl FirstUses {
    pub(super) fn new(limits: SharedLimits, now: Instant) -> Self {
        let bucket = Mutex::new(Bucket::full(pace(&limits.load()), now));
        Self { limits, bucket, in_work: AtomicUsize::new(0) }
    }

    /// Begins a first use. What is known is counted after this, so that each of the others is known, or among them.
    pub(super) fn begin(&self) -> FirstUse<'_> {
        FirstUse { others: self.in_work.fetch_add(1, Ordering::SeqCst), in_work: &self.in_work }
    }

    /// Admits the definition of one more sequence by a first use; `known` are defined.
    pub(super) fn admit(&self, name: &SequenceName, known: usize, now: Instant) -> Result<(), EngineError> {
        let limits = self.limits.load();
        let most = limits.auto_create_max;
        if known as u64 >= most {
            let text = format!(
                "{known} sequences are defined: a first use defines no more than {most} (limits.auto_create_max)"
            );
            return Err(EngineError::new(Reason::QuotaExceeded, text));
        }
        let pace = pace(&limits);
        let mut bucket = sync::lock(&self.bucket);
        if bucket.fill(pace, now) >= 1.0 {
            bucket.add(-1.0);
            return Ok(());
        }
        let retry_after = bucket.wait(1.0, pace);
        let limit = format!("at most {} new sequences a second", limits.auto_create_per_s);
        let text = format!(
            "first uses define {limit} (limits.auto_create_per_s), and {name} is one more: try again in {} ms",
            retry_after.as_millis() + 1
        );
        Err(EngineError::over_quota(
            text,
            QuotaFault { quota: "auto_create", of: name.to_string(), limit, retry_after },
        ))
    }
}

#[allow(clippy::cast_precision_loss, reason = "at most a million")]
fn pace(limits: &LimitsSection) -> Pace {
    let per_s = limits.auto_create_per_s as f64;
    Pace { per_s, burst: per_s * BURST_S }
}
