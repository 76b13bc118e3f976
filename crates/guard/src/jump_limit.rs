//! Jump limits: how far a counter may jump before nothing follows it.

/// The widest jump ever followed, in raw ids.
pub(crate) const JUMP_CAP: u64 = 1 << 36;

/// The share of the remaining range (1/1000) that bounds three things: how far a ceiling may be ahead, a lift, and an advance
/// that is not named a jump.
const SHARE: u64 = 1000;

/// The share of the remaining range (1/50) that a jump may cover: twice what all servers together may hold of a bounded key
/// that is spread.
const FOLLOWED_SHARE: u64 = 50;

/// The jump allowed in a short range, in raw ids: what six of the greatest requests (10,000 numbers) take if a single slot
/// serves them all.
const FOLLOWED_MIN: u64 = 1 << 16;

/// The jump allowed to a counter at `at` of `raw_max` that takes blocks of `block` ids. It is the least of 2^36 and 1/50 of the
/// remaining range, but at least four blocks and 2^16 ids.
///
/// Ids that other servers have just taken and not reported must not look like a jump to a server that takes little: it would
/// quarantine a sound counter. All servers together hold at most 1 % of a bounded key, or a few thousand ids of a very
/// short one. Processes that died hold ids too, taken and never released.
///
/// Such ids pass the end of an exhausted range, where the counter has not jumped. If a jump in a short range is followed by
/// mistake, only that counter ends.
pub(crate) fn jump_max(at: u64, raw_max: u64, block: u64) -> u64 {
    let share = (raw_max.saturating_sub(at) / FOLLOWED_SHARE).min(JUMP_CAP);
    share.max(FOLLOWED_MIN).max(block.saturating_mul(4))
}

/// How far a counter is lifted at once, for order's sake: half of 1/1000 of the remaining range (at most 2^36), or two blocks
/// if that is more. This is far below a jump, so that later takes do not look like one.
pub(crate) fn lift_max(at: u64, raw_max: u64, block: u64) -> u64 {
    (raw_max.saturating_sub(at) / SHARE).min(JUMP_CAP).max(block.saturating_mul(4)) / 2
}

/// How far an operator may advance a counter at `at` of `raw_max` without naming it a jump. It is the least of 2^36 and 1/1000
/// of the remaining range, but at least four ids. A mistyped digit is thus noticed; no server decides by this.
pub(crate) fn advance_max(at: u64, raw_max: u64) -> u64 {
    (raw_max.saturating_sub(at) / SHARE).clamp(ADVANCE_MIN, JUMP_CAP)
}

/// The lower bound of [`advance_max`].
const ADVANCE_MIN: u64 = 4;

/// The bound that decides how far an operator may advance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JumpBound {
    /// Four raw ids, however little of the range remains.
    Blocks,
    /// A thousandth of the remaining range.
    Share,
    /// 2^36 raw ids, however much of the range remains.
    Cap,
}

/// The bound that decides [`advance_max`].
pub(crate) fn advance_bound(at: u64, raw_max: u64) -> JumpBound {
    match raw_max.saturating_sub(at) / SHARE {
        share if share < ADVANCE_MIN => JumpBound::Blocks,
        share if share > JUMP_CAP => JumpBound::Cap,
        _ => JumpBound::Share,
    }
}

/// How far a row's `ceiling` is followed above `at`, the highest id known of its counter. An epoch that ended by a crash leaves
/// its ceiling ahead of what was seen, and that is no jump.
///
/// No ceiling was ever requested more than 2^36 ahead. A higher one was set by hand or by a broken disk.
pub(crate) fn left_ahead(at: u64, ceiling: u64) -> u64 {
    ceiling.saturating_sub(at).min(JUMP_CAP)
}

/// The most that a ceiling may be ahead of a counter at `at`: 0.1 % of the remaining range, but at least one raw id. A ceiling
/// belongs to the row, so this bounds all servers together.
pub fn ahead_max(at: u64, raw_max: u64) -> u64 {
    (raw_max.saturating_sub(at) / SHARE).clamp(1, JUMP_CAP)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_range_is_followed_past_its_end_and_a_long_one_by_a_share() {
        assert_eq!(jump_max(2400, 2500, 5), 1 << 16);
        assert_eq!(jump_max(0, 1_000_000, 5), 1 << 16);
        assert_eq!(jump_max(0, 1_000_000_000, 5), 20_000_000);
        assert_eq!(jump_max(0, u64::MAX >> 1, 5), JUMP_CAP);
        assert_eq!(jump_max(200, 100, 1), 1 << 16, "past the end nothing is left");
        assert_eq!(jump_max(0, 100_000, 50_000), 200_000, "four blocks");
    }

    #[test]
    fn what_servers_hold_of_a_bounded_key_is_no_jump_to_one_that_takes_little() {
        for raw_max in [1000, 62_500, 6_250_000, 1 << 40] {
            // Each of four servers holds a reserve and a lease, all from one slot, under a ceiling that nobody has raised yet.
            let in_hand = 4 * 2 * (raw_max / 1000);
            assert!(in_hand <= jump_max(raw_max / 2, raw_max, 1), "{raw_max}");
        }
    }

    #[test]
    fn a_lift_moves_half_of_a_jump_at_most() {
        for (raw_max, block) in [(100, 1), (100, 1000), (1_000_000, 5), (1 << 40, 5), (1 << 53, 1 << 40)] {
            assert!(lift_max(0, raw_max, block) <= jump_max(0, raw_max, block) / 2, "{raw_max}");
        }
        assert_eq!(lift_max(0, 1_000_000_000, 5), 500_000);
    }

    #[test]
    fn the_bound_that_decides_how_far_one_may_advance_is_named() {
        let of = |raw_max| (advance_max(0, raw_max), advance_bound(0, raw_max));
        assert_eq!(of(100), (4, JumpBound::Blocks));
        assert_eq!(of(4000), (4, JumpBound::Share), "both are four");
        assert_eq!(of(1_000_000_000), (1_000_000, JumpBound::Share));
        assert_eq!(of(JUMP_CAP * SHARE), (JUMP_CAP, JumpBound::Share), "both are 2^36");
        assert_eq!(of(u64::MAX >> 1), (JUMP_CAP, JumpBound::Cap));
    }

    #[test]
    fn a_ceiling_far_above_what_was_seen_is_followed_so_far_and_no_further() {
        assert_eq!(left_ahead(10, 15), 5);
        assert_eq!(left_ahead(15, 10), 0);
        assert_eq!(left_ahead(15, 1 << 62), JUMP_CAP);
    }

    #[test]
    fn a_ceiling_is_ahead_by_one_id_at_least() {
        assert_eq!(ahead_max(0, 10), 1);
        assert_eq!(ahead_max(0, 100_000), 100);
        assert_eq!(ahead_max(100, 10), 1);
    }
}
