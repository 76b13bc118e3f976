//! `[reservoir]`: how much is kept ready in memory.

use std::time::Duration;

use super::Section;

/// `[reservoir]`.
#[derive(Debug, Clone)]
pub struct ReservoirPart {
    /// How long the numbers kept ready would last.
    pub reserve: Duration,
    /// The most numbers of one key that a crash may burn.
    pub at_risk_max: u64,
}

impl ReservoirPart {
    pub(super) fn read(mut section: Section<'_, '_>) -> Self {
        let reserve = section.duration("reserve_ms", 0..=600_000, 10_000);
        let at_risk_max = section.integer("at_risk_max", 1..=1_000_000_000, 1_000_000);
        section.finish();
        Self { reserve, at_risk_max }
    }
}
