//! `[ring]`: the layout, and when a slot is evicted and comes back.

use std::time::Duration;

use sequent_core::{MEMORY_BITS_MAX, SHARD_BITS_MAX};
use sequent_ha::RingConfig;

use crate::config::TableReader;

/// `[ring]`.
#[derive(Debug, Clone)]
pub struct RingPart {
    /// n, the number of shard bits; absent: that of the ledger, or 2 for a new cluster.
    pub shard_bits: Option<u8>,
    /// m, the number of memory bits; absent: that of the ledger, or 0 for a new cluster.
    pub memory_bits: Option<u8>,
    /// Health checks of slots.
    pub health: RingConfig,
    /// Whether stores and ledgers in memory may be used.
    pub allow_volatile: bool,
}

/// Default of `slow_after_ms` for stores on servers.
const SLOW_AFTER_MS: u64 = 200;

/// Default of `slow_after_ms` for the embedded cluster, whose files share one disk with each other and with other
/// programs. Under six writers that flush a megabyte at a time, and eight commands at once on two cores, 22 of 40
/// commands passed over a slot at 200 ms, and 1 of 40 at 500 ms.
const SLOW_AFTER_EMBEDDED_MS: u64 = 500;

impl RingPart {
    pub(crate) fn read(mut section: TableReader<'_, '_>, embedded: bool) -> Self {
        let shard_bits = section.integer_opt("shard_bits", 0..=u64::from(SHARD_BITS_MAX));
        let memory_bits = section.integer_opt("memory_bits", 0..=u64::from(MEMORY_BITS_MAX));
        let attempt_timeout = section.duration("attempt_timeout_ms", 10..=60_000, 1000);
        let slow_after_ms = if embedded { SLOW_AFTER_EMBEDDED_MS } else { SLOW_AFTER_MS };
        // If only a shorter attempt timeout is set, the default of `slow_after_ms` must not become a fault.
        let slow_after_ms =
            u64::try_from(attempt_timeout.as_millis()).map_or(slow_after_ms, |ms| slow_after_ms.min(ms));
        let slow_after = section.duration("slow_after_ms", 1..=60_000, slow_after_ms);
        let slow_limit = section.integer("slow_limit", 1..=1000, 3);
        let slow_window = section.duration("slow_window_s", 1..=3600, 60);
        let rescue_after = section.duration("rescue_after_ms", 10..=60_000, 500);
        let rescue_after_max = section.duration("rescue_after_max_s", 1..=86_400, 300);
        let allow_volatile = section.switch("allow_volatile", false);
        not_above(&mut section, ("slow_after_ms", slow_after), ("attempt_timeout_ms", attempt_timeout));
        not_above(&mut section, ("rescue_after_ms", rescue_after), ("rescue_after_max_s", rescue_after_max));
        section.finish();
        let slow_limit = u32::try_from(slow_limit).unwrap_or(u32::MAX);
        Self {
            shard_bits: shard_bits.and_then(|bits| u8::try_from(bits).ok()),
            memory_bits: memory_bits.and_then(|bits| u8::try_from(bits).ok()),
            health: RingConfig {
                slow_after,
                slow_limit,
                slow_window,
                attempt_timeout,
                rescue_after,
                rescue_after_max,
            },
            allow_volatile,
        }
    }
}

fn not_above(section: &mut TableReader<'_, '_>, low: (&str, Duration), high: (&str, Duration)) {
    if low.1 > high.1 {
        let bound = format!("at most {}, {} ms, is allowed", high.0, high.1.as_millis());
        section.fault(low.0, low.1.as_millis(), bound);
    }
}
