//! `[limits]`: limits of requests, leases, connections, and the end of a server.

use std::{sync::Arc, time::Duration};

use arc_swap::ArcSwap;

use crate::config::reading::{
    section,
    setting::{millis, seconds, switch, whole},
};

/// The limits in force, which a reload replaces.
pub(crate) type SharedLimits = Arc<ArcSwap<LimitsSection>>;

section! {
    /// Limits of requests, leases and connections, and the end of a server. A running server applies changes of them:
    /// [reload](../operating/install.md#reload).
    pub struct LimitsSection(section) {
        /// How long a caller waits who names no deadline.
        deadline: Duration = millis("deadline_ms", 1500, 1..=600_000),

        /// The most numbers of one request.
        max_count: u64 = whole("max_count", 1..=1_000_000).or(10_000),

        /// The most numbers of one lease. A lease also has at most a thousandth of what is left of a key.
        lease_max_count: u64 = whole("lease_max_count", 1..=10_000_000).or(100_000),

        /// No key is used up sooner than this: a server gives at most (what is left) / `exhaust_least_s` /
        /// `reservoir.servers` numbers of it a second, and [1 % of it at once](../operating/capacity.md#burn-limits). 0: no
        /// limit.
        exhaust_least: Duration = seconds("exhaust_least_s", 3600, 0..=31_536_000),

        /// How long the numbers of a lease may be handed out.
        lease_max_age: Duration = millis("lease_max_age_ms", 10_000, 100..=600_000),

        /// Open connections of one port. For a further one, the connection that has been idle longest is closed, of the
        /// address that has most.
        connections_max: u64 = whole("connections_max", 1..=1_000_000).or(10_000),

        /// The same from one address (of IPv6: one /64). Behind a load balancer, from which all connections come, the
        /// two should be equal.
        connections_per_address_max: u64 = whole("connections_per_address_max", 1..=1_000_000).or(2500),

        /// The most sequences that may be defined for a first use to define one more, where `auto_create` fits.
        auto_create_max: u64 = whole("auto_create_max", 0..=1_048_576).or(10_000),

        /// The most sequences that first uses define a second, on one server; a hundred seconds' worth at once.
        auto_create_per_s: u64 = whole("auto_create_per_s", 1..=1_000_000).or(10),

        /// The most keys of one sequence in use at a time on one server: partitions and periods. The keys of ended periods
        /// count for a minute. All keys together have half of the memory of the control group or the machine, at 8 KB each.
        keys_per_sequence_max: u64 = whole("keys_per_sequence_max", 1..=1_048_576).or(100_000),

        /// Callers of the API may define sequences, while `auth.mode` is off: every client that can connect may do so. If it is
        /// `required`, [the verb `define`](../operating/tokens.md#verbs) decides.
        define: bool = switch("define"),

        /// After SIGTERM: how long the server is unready and still serves, so that load balancers notice.
        drain_delay: Duration = seconds("drain_delay_s", 5, 0..=3600),

        /// Then requests in work have so long. Callers who stay may take half of it to use up what is ready.
        drain_timeout: Duration = seconds("drain_timeout_s", 20, 0..=3600),
    }
}
