//! Clock differences. No number depends on clocks; the end times of slot commands do, and the times that
//! people read.

use super::{
    findings::Kind,
    report::{Finding, Site},
};

/// Tolerated difference between a place's clock and this machine's, in milliseconds: the delay until a
/// heartbeat is seen.
pub(super) const OFF_MAX_MS: u64 = 2000;

/// When a question was sent and when it was answered, by this machine's clock; in milliseconds since 1970.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked {
    pub(super) begun_ms: u64,
    pub(super) ended_ms: u64,
}

impl Asked {
    /// The least error of a clock that showed `clock_ms` in between; positive if it is ahead.
    pub(super) fn off(self, clock_ms: u64) -> i64 {
        let apart = |a: u64, b: u64| i64::try_from(a - b).unwrap_or(i64::MAX);
        match clock_ms {
            ahead if ahead > self.ended_ms => apart(ahead, self.ended_ms),
            behind if behind < self.begun_ms => -apart(self.begun_ms, behind),
            _ => 0,
        }
    }
}

/// The finding for a clock with such an error.
pub(super) fn finding(place: Site, off_ms: i64) -> Option<Finding> {
    if off_ms.unsigned_abs() <= OFF_MAX_MS {
        return None;
    }
    let side = if off_ms > 0 { "ahead of" } else { "behind" };
    let (seconds, tenths) = (off_ms.unsigned_abs() / 1000, off_ms.unsigned_abs() % 1000 / 100);
    let found = format!("its clock is {seconds}.{tenths} s {side} this machine's, expected within 2 s");
    Some(Finding::new(Kind::ClockDiffers, place, found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_answer_took_is_no_difference() {
        let asked = Asked { begun_ms: 10_000, ended_ms: 11_000 };
        assert_eq!([9_000, 10_500, 11_001].map(|clock| asked.off(clock)), [-1_000, 0, 1]);
        assert_eq!(finding(Site::Ledger, -2_000), None);
        let found = finding(Site::Ledger, -2_500).unwrap().found;
        assert!(found.starts_with("its clock is 2.5 s behind"), "{found}");
    }
}
