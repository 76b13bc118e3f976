//! `[ring]`: the layout, and when a slot is evicted and comes back.

use std::time::Duration;

use sequent_core::{MEMORY_BITS_MAX, SHARD_BITS_MAX};
use sequent_ha::RingConfig;

use crate::config::reading::{
    Reader, Section, section,
    setting::{millis, seconds, switch, whole},
};

section! {
    /// The layout, and when a slot is evicted and comes back.
    pub struct RingSection(section, is_embedded: bool) {
        /// n: the ring has 2^n slots. It counts at the first start: by default the ledger's, of a new cluster 2.
        shard_bits: Option<u8> = whole("shard_bits", 0..=SHARD_BITS_MAX).optional(),

        /// m: an id is 2^m numbers. It counts at the first start: by default the ledger's, of a new cluster 0.
        /// [Memory bits](../operating/stores.md#memory-bits)
        memory_bits: Option<u8> = whole("memory_bits", 0..=MEMORY_BITS_MAX).optional(),

        /// No take waits longer for one store.
        attempt_timeout: Duration = millis("attempt_timeout_ms", 1000, 10..=60_000),

        /// A slower take counts against its slot. At most `attempt_timeout_ms`.
        slow_after: Duration = millis("slow_after_ms", slow_after_ms(is_embedded, attempt_timeout), 1..=60_000),

        /// So many slow takes within `slow_window_s` evict the slot.
        slow_limit: u32 = whole("slow_limit", 1..=1000).or(3),

        /// How long a slow take counts.
        slow_window: Duration = seconds("slow_window_s", 60, 1..=3600),

        /// The wait before the first try to get an evicted slot back. It doubles, with jitter.
        rescue_after: Duration = millis("rescue_after_ms", 500, 10..=60_000),

        /// The longest wait before such a try.
        rescue_after_max: Duration = seconds("rescue_after_max_s", 300, 1..=86_400),

        /// Memory stores and volatile ledgers are allowed, for tests.
        allow_volatile: bool = switch("allow_volatile"),
    }
}

/// Default of `slow_after_ms` for stores on servers.
const SLOW_AFTER_MS: u64 = 200;

/// Default of `slow_after_ms` for the embedded cluster, whose files share one disk with each other and with other
/// programs. Under six writers that flush a megabyte at a time, and eight commands at once on two cores, 22 of 40
/// commands passed over a slot at 200 ms, and 1 of 40 at 500 ms.
const SLOW_AFTER_EMBEDDED_MS: u64 = 500;

/// The default of `slow_after_ms`. If only a shorter attempt timeout is set, it must not become a fault.
fn slow_after_ms(is_embedded: bool, attempt_timeout: Duration) -> u64 {
    let default = if is_embedded { SLOW_AFTER_EMBEDDED_MS } else { SLOW_AFTER_MS };
    u64::try_from(attempt_timeout.as_millis()).map_or(default, |ms| default.min(ms))
}

impl RingSection {
    pub(crate) fn checked(reader: &mut Reader<'_>, is_embedded: bool) -> Self {
        let mut section = reader.section("ring");
        let ring = Self::read(&mut section, is_embedded);
        not_above(
            &mut section,
            ("slow_after_ms", ring.slow_after),
            ("attempt_timeout_ms", ring.attempt_timeout),
        );
        let rescue = ("rescue_after_ms", ring.rescue_after);
        not_above(&mut section, rescue, ("rescue_after_max_s", ring.rescue_after_max));
        section.finish();
        ring
    }

    /// The health checks of slots.
    pub fn health(&self) -> RingConfig {
        RingConfig {
            slow_after: self.slow_after,
            slow_limit: self.slow_limit,
            slow_window: self.slow_window,
            attempt_timeout: self.attempt_timeout,
            rescue_after: self.rescue_after,
            rescue_after_max: self.rescue_after_max,
        }
    }
}

fn not_above(section: &mut Section<'_, '_>, low: (&str, Duration), high: (&str, Duration)) {
    if low.1 > high.1 {
        let bound = format!("at most {}, {} ms, is allowed", high.0, high.1.as_millis());
        section.fault(low.0, low.1.as_millis(), bound);
    }
}
