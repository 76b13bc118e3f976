//! How far is too far: a value that nothing follows.

/// The widest leap ever followed, in raw ids.
pub(crate) const LEAP_CAP: u64 = 1 << 36;

/// The share of what is left that a ceiling may be ahead, and that a leap may cover.
const SHARE: u64 = 1000;

/// The leap allowed to a counter at `at` of `raw_max`, when blocks of `block` ids are taken: the greater of four blocks
/// and the least of 2^36 and 1/1000 of what is left.
///
/// On a range of a few thousand ids the four blocks decide, and may be most of it, or more than is left. That is meant:
/// less would take for a leap what processes that died had taken and never let go, a block each, and quarantine a sound
/// counter. What is followed too far there is followed to the end of the range at most, where the counter itself
/// alone stops; a value beyond the range by more than four blocks is a leap however small the range.
pub(crate) fn leap_max(at: u64, raw_max: u64, block: u64) -> u64 {
    let share = raw_max.saturating_sub(at) / SHARE;
    share.min(LEAP_CAP).max(block.saturating_mul(4))
}

/// Which of its three bounds decides how far a leap goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeapBound {
    /// Four blocks, however little is left.
    Blocks,
    /// A thousandth of what is left.
    Share,
    /// 2^36 raw ids, however much is left.
    Cap,
}

/// Which of them it is for [`leap_max`].
pub(crate) fn bound(at: u64, raw_max: u64, block: u64) -> LeapBound {
    let most = leap_max(at, raw_max, block);
    match raw_max.saturating_sub(at) / SHARE {
        share if share.min(LEAP_CAP) < most => LeapBound::Blocks,
        share if share > LEAP_CAP => LeapBound::Cap,
        _ => LeapBound::Share,
    }
}

/// How far a row's `ceiling` is followed above `at`, the highest that is known of its counter: a life that ended by a
/// crash leaves its ceiling ahead of what was seen, and that is no leap. None was ever asked for further ahead than 2^36;
/// what is further was set by a hand, or a broken disk.
pub(crate) fn left_ahead(at: u64, ceiling: u64) -> u64 {
    ceiling.saturating_sub(at).min(LEAP_CAP)
}

/// The most that a ceiling may be ahead of a counter at `at`: 0.1 % of what is left, one raw id at least. A ceiling is its
/// row's, and no server's: so much it is of all of them together.
pub fn ahead_max(at: u64, raw_max: u64) -> u64 {
    (raw_max.saturating_sub(at) / SHARE).clamp(1, LEAP_CAP)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_counters_get_four_blocks_large_ones_a_share() {
        assert_eq!(leap_max(0, 100, 5), 20);
        assert_eq!(leap_max(0, 1_000_000_000, 5), 1_000_000);
        assert_eq!(leap_max(0, u64::MAX >> 1, 5), LEAP_CAP);
        assert_eq!(leap_max(200, 100, 1), 4, "past the end nothing is left");
        assert_eq!(leap_max(0, 3, 1), 4, "a block of each of four processes that died");
    }

    #[test]
    fn the_bound_that_decides_is_named() {
        assert_eq!(bound(0, 100, 5), LeapBound::Blocks);
        assert_eq!(bound(0, 4000, 1), LeapBound::Share, "both are four");
        assert_eq!(bound(0, 1_000_000_000, 5), LeapBound::Share);
        assert_eq!(bound(0, LEAP_CAP * SHARE, 5), LeapBound::Share, "both are 2^36");
        assert_eq!(bound(0, u64::MAX >> 1, 5), LeapBound::Cap);
        assert_eq!(bound(0, u64::MAX >> 1, LEAP_CAP), LeapBound::Blocks);
    }

    #[test]
    fn a_ceiling_far_above_what_was_seen_is_followed_so_far_and_no_further() {
        assert_eq!(left_ahead(10, 15), 5);
        assert_eq!(left_ahead(15, 10), 0);
        assert_eq!(left_ahead(15, 1 << 62), LEAP_CAP);
    }

    #[test]
    fn a_ceiling_is_ahead_by_one_id_at_least() {
        assert_eq!(ahead_max(0, 10), 1);
        assert_eq!(ahead_max(0, 100_000), 100);
        assert_eq!(ahead_max(100, 10), 1);
    }
}
