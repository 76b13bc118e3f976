//! The numbers left in a key's range, and how long they last.

use sequent_format::Timestamp;

use crate::issue::active_key::ActiveKey;

/// A range that lasts longer counts as endless: a hundred years, in seconds.
pub(crate) const ENDLESS_S: f64 = 36_500.0 * 86_400.0;

/// What is left of a range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Headroom {
    /// Numbers left, at most.
    pub(crate) left: u64,
    /// The fraction of the whole range.
    pub(crate) ratio: f64,
    /// Seconds until the end at the present rate, [`ENDLESS_S`] at most.
    pub(crate) lasts_s: f64,
}

impl Headroom {
    /// What is left of a range of `capacity` numbers of which `rate` are taken a second.
    pub(crate) fn of(left: u64, capacity: u64, rate: f64) -> Self {
        let lasts_s = if rate > 0.0 { (whole(left) / rate).min(ENDLESS_S) } else { ENDLESS_S };
        Self { left, ratio: whole(left) / whole(capacity.max(1)), lasts_s }
    }

    /// The same for a range that resets at `until`: a range that lasts until then counts as endless.
    pub(crate) fn renewed(self, until: Option<Timestamp>, now: Timestamp) -> Self {
        let left_ms = until.map(|until| until.as_millisecond().saturating_sub(now.as_millisecond()));
        #[allow(clippy::cast_precision_loss, reason = "magnitudes")]
        let is_renewed = left_ms.is_some_and(|left_ms| self.lasts_s >= left_ms as f64 / 1000.0);
        if is_renewed { Self { lasts_s: ENDLESS_S, ..self } } else { self }
    }

    /// The lesser of both.
    pub(crate) fn least(self, other: Self) -> Self {
        Self {
            left: self.left.min(other.left),
            ratio: self.ratio.min(other.ratio),
            lasts_s: self.lasts_s.min(other.lasts_s),
        }
    }

    /// Time until the range ends, in whole seconds from now; `None` if that is not within a hundred years.
    pub(crate) fn ends_in_s(&self) -> Option<u64> {
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "at most a hundred years, and not negative"
        )]
        (self.lasts_s < ENDLESS_S).then_some(self.lasts_s as u64)
    }
}

impl ActiveKey {
    /// What is left of the key's range, at the last minute's rate. If its period ends before the range does, the range
    /// counts as endless: the next period has a new range.
    pub(crate) fn headroom(&self, now: Timestamp) -> Headroom {
        let (left, capacity) = self.room();
        let until = self.period().and_then(|period| period.until);
        Headroom::of(left, capacity, self.reservoir().stats().rate_long).renewed(until, now)
    }
}

#[allow(clippy::cast_precision_loss, reason = "magnitudes")]
fn whole(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_lasts_as_long_as_the_present_rate_says_and_not_for_ever() {
        let day = Headroom::of(86_400, 172_800, 1.0);
        assert_eq!((day.ends_in_s(), day.ratio), (Some(86_400), 0.5));
        assert_eq!(Headroom::of(u64::MAX, u64::MAX, 1.0).ends_in_s(), None);
        assert_eq!(Headroom::of(1, 2, 0.0).ends_in_s(), None);
        // A period that ends before the range makes it endless; a period that ends later does not.
        let (noon, at) = (Timestamp::UNIX_EPOCH, |second| Timestamp::from_second(second).ok());
        assert_eq!(day.renewed(at(86_399), noon).ends_in_s(), None);
        assert_eq!(day.renewed(at(86_401), noon).ends_in_s(), Some(86_400));
        assert_eq!(day.renewed(None, noon), day);
        assert_eq!(day.renewed(at(-5), noon).ends_in_s(), None, "over: nothing of it is taken any more");
        let least = day.least(Headroom::of(1, 2, 0.0));
        assert_eq!((least.left, least.ends_in_s()), (1, Some(86_400)));
    }
}
