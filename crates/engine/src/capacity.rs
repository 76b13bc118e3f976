//! How many numbers a key has, and how many of them may be skipped where they are spread.

use sequent_core::Layout;
use serde::Serialize;

use crate::{Body, SPREAD_CAPACITY_MIN, live::LEASE_PARTS};

/// The sum that decides whether a bounded sequence may be spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
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
