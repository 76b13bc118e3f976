//! `[limits]`: limits of requests, leases, connections, and the end of a server.

use std::time::Duration;

use crate::config::TableReader;

/// `[limits]`.
#[derive(Debug, Clone)]
pub struct LimitsPart {
    /// How long a request may wait if the caller names no deadline.
    pub deadline: Duration,
    /// Upper limit of the numbers in one request.
    pub max_count: u64,
    /// Upper limit of the numbers in one lease. A lease also holds at most a thousandth of what is left of a key.
    pub lease_max_count: u64,
    /// How long the numbers of a lease may be issued.
    pub lease_max_age: Duration,
    /// Upper limit of the open connections of one API; further ones are closed as soon as they are accepted.
    pub connections_max: u64,
    /// The same from one address (of IPv6: one /64). Behind a load balancer, from which all connections come, the two
    /// should be equal.
    pub connections_per_address_max: u64,
    /// Whether callers of the HTTP API may define sequences. There are no tokens yet: every client that can connect
    /// may do so.
    pub define: bool,
    /// How long a stopping server still accepts requests, so that load balancers notice.
    pub drain_delay: Duration,
    /// How long a stopping server waits for requests in progress.
    pub drain_timeout: Duration,
}

impl LimitsPart {
    pub(crate) fn read(mut section: TableReader<'_, '_>) -> Self {
        let deadline = section.duration("deadline_ms", 1..=600_000, 1500);
        let max_count = section.integer("max_count", 1..=1_000_000, 10_000);
        let lease_max_count = section.integer("lease_max_count", 1..=10_000_000, 100_000);
        let lease_max_age = section.duration("lease_max_age_ms", 100..=600_000, 10_000);
        let connections_max = section.integer("connections_max", 1..=1_000_000, 10_000);
        let connections_per_address_max = section.integer("connections_per_address_max", 1..=1_000_000, 5000);
        let define = section.switch("define", false);
        let drain_delay = section.duration("drain_delay_s", 0..=3600, 5);
        let drain_timeout = section.duration("drain_timeout_s", 0..=3600, 20);
        section.finish();
        Self {
            deadline,
            max_count,
            lease_max_count,
            lease_max_age,
            connections_max,
            connections_per_address_max,
            define,
            drain_delay,
            drain_timeout,
        }
    }
}
