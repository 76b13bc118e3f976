//! `[reservoir]`: how much is kept ready in memory.

use std::time::Duration;

use crate::config::reading::{
    section,
    setting::{millis, whole},
};

/// Upper limit of the servers. It is more than one ledger can serve: each server sends a heartbeat every two seconds.
pub const SERVERS_MAX: u64 = 1000;

section! {
    /// How much is kept ready in memory.
    pub struct ReservoirSection(section) {
        /// How long the numbers kept ready last at the present rate.
        reserve: Duration = millis("reserve_ms", 10_000, 0..=600_000),

        /// The most numbers of one key that a crash may lose.
        at_risk_max: u64 = whole("at_risk_max", 1..=1_000_000_000).or(1_000_000),

        /// [How many servers there are](../concepts/placement.md#how-many-numbers-may-be-skipped): a bounded sequence
        /// may be spread only if all of them together skip at most 1 % of it. Nothing in a cluster counts them: in the
        /// ledger a server's row looks like that of a command that takes one number and ends.
        servers: u64 = whole("servers", 1..=SERVERS_MAX).or(1),
    }
}
