//! `[reservoir]`: how much is kept ready in memory.

use std::time::Duration;

use crate::config::TableReader;

/// `[reservoir]`.
#[derive(Debug, Clone)]
pub struct ReservoirPart {
    /// How long the numbers kept ready last at the present rate.
    pub reserve: Duration,
    /// Upper limit of the numbers of one key that a crash may lose.
    pub at_risk_max: u64,
    /// How many servers hold so many numbers. A bounded sequence may be spread only if all of them together skip
    /// little of it.
    pub servers: u64,
}

/// Upper limit of the servers. It is more than one ledger can serve: each server sends a heartbeat every two seconds.
pub const SERVERS_MAX: u64 = 1000;

impl ReservoirPart {
    pub(crate) fn read(mut section: TableReader<'_, '_>) -> Self {
        let reserve = section.duration("reserve_ms", 0..=600_000, 10_000);
        let at_risk_max = section.integer("at_risk_max", 1..=1_000_000_000, 1_000_000);
        // The number of servers can't be determined: in the ledger a server's row looks like that of a command that
        // takes one number and ends.
        let servers = section.integer("servers", 1..=SERVERS_MAX, 1);
        section.finish();
        Self { reserve, at_risk_max, servers }
    }
}
