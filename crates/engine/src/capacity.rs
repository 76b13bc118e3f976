//! How many numbers a key has, and how many of them may be skipped where they are spread.

use sequent_core::Layout;
use serde::{Serialize, Serializer, ser::SerializeStruct};

use crate::{Body, SPREAD_CAPACITY_MIN, live::LEASE_PARTS};

/// The sum that decides whether a bounded sequence may be spread.
///
/// It counts one server: where several of them die at once, or are killed one after the other, each skips its own.
///
/// ```
/// use sequent_engine::Body;
/// # let Ok(layout) = sequent_core::Layout::new(4, 2) else { unreachable!() };
/// let body = Body::check(Some("spread"), 1, 1, Some(5_000_000), None, None)?;
/// let capacity = body.capacity(layout, 1_000_000).with_leases_of(100_000);
/// assert_eq!((capacity.numbers, capacity.lease, capacity.may_be_spread()), (5_000_000, 5000, true));
/// # Ok::<(), sequent_engine::BodyFault>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capacity {
    /// How many numbers a key has.
    pub numbers: u64,
    /// Whether something bounds it below what its type holds.
    pub is_bounded: bool,
    /// What one server may hold ready.
    pub reserve: u64,
    /// What may lie between its ceilings and what was given.
    pub ceilings: u64,
    /// What one lease may hold.
    pub lease: u64,
}

impl Capacity {
    /// The same, where a lease holds at most so many: `limits.lease_max_count`.
    #[must_use]
    pub fn with_leases_of(self, most: u64) -> Self {
        Self { lease: self.lease.min(most).max(1), ..self }
    }

    /// What one server may skip where it dies.
    pub fn skipped(&self) -> u64 {
        self.reserve.saturating_add(self.ceilings).saturating_add(self.lease)
    }

    /// Whether it may be spread: unbounded, or at most 1 % of it can be skipped.
    pub fn may_be_spread(&self) -> bool {
        !self.is_bounded || u128::from(self.skipped()) * 100 <= u128::from(self.numbers)
    }

    /// The placement where a definition names none.
    pub fn placement(&self) -> &'static str {
        if self.is_bounded && self.numbers < SPREAD_CAPACITY_MIN { "dense" } else { "spread" }
    }

    /// For people, one a line.
    pub fn lines(&self) -> Vec<String> {
        let Self { numbers, reserve, ceilings, lease, .. } = self;
        if !self.is_bounded {
            return vec![
                format!("numbers    {numbers} a key: nothing bounds them but what fits"),
                "skipped    at most 0.3 % of what is left, by a server that dies: far less where few are asked for"
                    .to_owned(),
                "spread     allowed".to_owned(),
                format!("placement  {} unless the definition names one", self.placement()),
            ];
        }
        let verdict = if self.may_be_spread() { "allowed: at most 1 %" } else { "refused: more than 1 %" };
        vec![
            format!("numbers    {numbers} a key"),
            format!(
                "skipped    at most {} a server (reserve {reserve}, ceilings {ceilings}, lease {lease})",
                self.skipped()
            ),
            format!("spread     {verdict}"),
            format!("placement  {} unless the definition names one", self.placement()),
        ]
    }
}

/// One shape for every door: numbers are strings, since JSON's readers round them above 2^53.
impl Serialize for Capacity {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut sum = to.serialize_struct("Capacity", 7)?;
        sum.serialize_field("numbers", &self.numbers.to_string())?;
        sum.serialize_field("skipped", &self.skipped().to_string())?;
        sum.serialize_field("reserve", &self.reserve.to_string())?;
        sum.serialize_field("ceilings", &self.ceilings.to_string())?;
        sum.serialize_field("lease", &self.lease.to_string())?;
        sum.serialize_field("is_bounded", &self.is_bounded)?;
        sum.serialize_field("may_be_spread", &self.may_be_spread())?;
        sum.end()
    }
}

impl Body {
    /// How many numbers a key has in a layout, and how many of them may be skipped.
    pub fn capacity(&self, layout: Layout, at_risk_max: u64) -> Capacity {
        let numbers = self.span().capacity();
        let share = numbers / LEASE_PARTS;
        Capacity {
            numbers,
            is_bounded: self.bound().is_some(),
            reserve: share.min(at_risk_max).max(layout.numbers_per_id()),
            ceilings: share.max(layout.origin()),
            lease: share.max(1),
        }
    }
}
