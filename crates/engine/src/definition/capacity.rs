//! How many numbers a key has, and how many of them a spread sequence may skip.

use sequent_buffer::ReservoirConfig;
use sequent_core::Layout;
use sequent_guard::ceiling_ahead_max;
use serde::{Serialize, Serializer, ser::SerializeStruct};

use super::{Body, SPREAD_CAPACITY_MIN};

/// A lease holds at most what is left of a key divided by this.
const LEASE_PARTS: u64 = 1000;

/// The numbers of one key that the servers of a cluster may hold.
///
/// The limit of each server does not depend on the others. Servers do not communicate, so a server can't divide its
/// limit by their number: if another was configured differently, the limit would be exceeded. Therefore the sum counts
/// the servers, and smaller values of `reservoir.at_risk_max` and `limits.lease_max_count` allow for more of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AtRisk {
    /// Upper limit of the numbers that a server holds ready: `reservoir.at_risk_max`.
    pub held_max: u64,
    /// Upper limit of one lease: `limits.lease_max_count`.
    pub lease_max: u64,
    /// The number of such servers: `reservoir.servers`.
    pub servers: u64,
}

/// The sum that decides whether a bounded sequence may be spread. It counts the numbers skipped if all servers crash
/// at once, each with one lease, and all stores lose their data.
///
/// A client that crashes skips the leases that it has, whatever servers do: one lease for each server is counted.
///
/// ```
/// use sequent_engine::{AtRisk, Body};
/// # let Ok(layout) = sequent_core::Layout::new(4, 2) else { unreachable!() };
/// let body = Body::check(Some("spread"), 1, 1, Some(6_400_000), None, None)?;
/// let at_risk = AtRisk { held_max: 1_000_000, lease_max: 100_000, servers: 3 };
/// let capacity = body.capacity(layout, at_risk);
/// assert_eq!((capacity.reserve, capacity.lease, capacity.ceilings), (6403, 6400, 6400));
/// assert_eq!((capacity.skipped(), capacity.may_be_spread()), (3 * (6403 + 6400) + 6400, true));
/// assert!(!capacity.for_servers(5).may_be_spread());
/// # Ok::<(), sequent_core::FieldFault>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capacity {
    /// How many numbers a key has.
    pub numbers: u64,
    /// Whether a bound below the limit of its type exists.
    pub is_bounded: bool,
    /// Upper limit of the numbers that one server holds ready.
    pub reserve: u64,
    /// Upper limit of the numbers between its ceilings and what was taken. Ceilings are rows of the ledger, which all
    /// servers share.
    pub ceilings: u64,
    /// Upper limit of one lease.
    pub lease: u64,
    /// The number of servers counted.
    pub servers: u64,
}

impl Capacity {
    /// The same for more servers; a smaller number changes nothing.
    #[must_use]
    pub fn for_servers(self, servers: u64) -> Self {
        Self { servers: self.servers.max(servers), ..self }
    }

    /// Upper limit of the numbers skipped by all servers together; at most all numbers.
    pub fn skipped(&self) -> u64 {
        let each = self.reserve.saturating_add(self.lease);
        each.saturating_mul(self.servers).saturating_add(self.ceilings).min(self.numbers)
    }

    /// Whether it may be spread: unbounded, or at most 1 % of it can be skipped.
    pub fn may_be_spread(&self) -> bool {
        !self.is_bounded || u128::from(self.skipped()) * 100 <= u128::from(self.numbers)
    }

    /// The default placement.
    pub fn placement(&self) -> &'static str {
        if self.is_bounded && self.numbers < SPREAD_CAPACITY_MIN { "dense" } else { "spread" }
    }

    /// The parts of the sum, in words.
    pub(crate) fn parts(&self) -> String {
        let Self { reserve, lease, ceilings, servers, .. } = self;
        let each = if *servers == 1 { "1 server".to_owned() } else { format!("each of {servers} servers") };
        format!("reserve {reserve} and lease {lease} for {each}, ceilings {ceilings}")
    }

    /// The lines for messages.
    pub fn lines(&self) -> Vec<String> {
        let (bound, less, verdict) = match (self.is_bounded, self.may_be_spread()) {
            (false, _) => {
                (": nothing bounds them but what fits", "; far less where few are asked for", "allowed")
            }
            (true, true) => ("", "", "allowed: at most 1 %"),
            (true, false) => ("", "", "refused: more than 1 %"),
        };
        vec![
            format!("numbers    {} a key{bound}", self.numbers),
            format!("skipped    at most {}: {}{less}", self.skipped(), self.parts()),
            format!("spread     {verdict}"),
            format!("placement  {} unless the definition names one", self.placement()),
        ]
    }
}

/// Upper limit of one lease with so many numbers left: a thousandth, at least one. So a lost lease skips little of a
/// bounded sequence.
pub(crate) fn lease_max_of(left: u64) -> u64 {
    (left / LEASE_PARTS).max(1)
}

/// One form for every API. Numbers are strings, since JSON parsers round numbers above 2^53.
impl Serialize for Capacity {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut sum = to.serialize_struct("Capacity", 8)?;
        sum.serialize_field("numbers", &self.numbers.to_string())?;
        sum.serialize_field("skipped", &self.skipped().to_string())?;
        sum.serialize_field("reserve", &self.reserve.to_string())?;
        sum.serialize_field("ceilings", &self.ceilings.to_string())?;
        sum.serialize_field("lease", &self.lease.to_string())?;
        sum.serialize_field("servers", &self.servers)?;
        sum.serialize_field("is_bounded", &self.is_bounded)?;
        sum.serialize_field("may_be_spread", &self.may_be_spread())?;
        sum.end()
    }
}

impl Body {
    /// How many numbers a key has in a layout, and how many of them may be skipped. Each part is computed as the code
    /// that limits it does.
    pub fn capacity(&self, layout: Layout, at_risk: AtRisk) -> Capacity {
        let span = self.span();
        let numbers = span.capacity();
        let reservoir = ReservoirConfig { at_risk_max: at_risk.held_max, ..ReservoirConfig::default() };
        let reservoir = self.reservoir(reservoir);
        // Refills come in whole raw ids.
        let rounded = layout.numbers_per_id() - 1;
        Capacity {
            numbers,
            is_bounded: self.bound().is_some(),
            reserve: reservoir.at_risk_limit(Some(numbers)).saturating_add(rounded),
            ceilings: ceiling_ahead_max(0, span.raw_max(layout)).saturating_mul(layout.origin()),
            lease: lease_max_of(numbers).min(at_risk.lease_max).min(reservoir.at_risk_max).max(1),
            servers: at_risk.servers.max(1),
        }
    }
}
