//! Split of a take among the slots: each gives its part of the lowest ids not yet taken.

/// The longest lag, in raw ids, that a slot catches up by takes.
///
/// A longer lag counts as this one, so that one slot does not get all requests for long. Longer lags, from before this
/// process, are removed by a lift.
pub(crate) const LAG_MAX: u64 = 1 << 16;

/// The share of each position (ascending by slot) in the `want` lowest numbers above them.
///
/// Slots at the same position share evenly. Slots behind catch up first, and slots far ahead get nothing. The sum is at
/// most `want`.
pub(crate) fn split(positions: &[u64], want: u64) -> Vec<u64> {
    let Some(front) = positions.iter().max() else { return Vec::new() };
    let floor = front.saturating_sub(LAG_MAX);
    let starts: Vec<u64> = positions.iter().map(|position| *position.max(&floor)).collect();
    let below = |row: u64| starts.iter().map(|start| u128::from(row.saturating_sub(*start))).sum::<u128>();
    let (mut full, mut beyond) = (floor, front.saturating_add(want).saturating_add(1));
    while beyond - full > 1 {
        let row = full + (beyond - full) / 2;
        if below(row) <= u128::from(want) { full = row } else { beyond = row }
    }
    // `below(full)` is at most `want`, so the rest fits as well.
    let mut left = want.saturating_sub(u64::try_from(below(full)).unwrap_or(want));
    let mut give = |start: u64| {
        let extra = u64::from(start <= full && left > 0);
        left -= extra;
        full.saturating_sub(start) + extra
    };
    starts.into_iter().map(&mut give).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn slots_at_the_same_position_share_evenly() {
        assert_eq!(split(&[0, 0, 0, 0], 5), [2, 1, 1, 1]);
        assert_eq!(split(&[2, 1, 1, 1], 5), [1, 2, 1, 1]);
        assert_eq!(split(&[7, 7], 1), [1, 0]);
        assert_eq!(split(&[8, 7], 1), [0, 1]);
        assert_eq!(split(&[], 9), [0; 0]);
        assert_eq!(split(&[u64::MAX - 1], 10), [1], "the edge of the range saturates");
    }

    #[test]
    fn a_lagging_slot_gets_at_most_its_bound_first() {
        let far = 10 * LAG_MAX;
        assert_eq!(split(&[far, 0, far], LAG_MAX + 3), [1, LAG_MAX + 1, 1]);
    }

    proptest! {
        #[test]
        fn shares_are_the_lowest_numbers(positions in prop::collection::vec(0..40_u64, 1..9), want in 1..200_u64) {
            let mut lowest: Vec<(u64, usize)> = positions.iter().enumerate()
                .flat_map(|(slot, p)| (p + 1..=p + want).map(move |raw| (raw, slot)))
                .collect();
            lowest.sort_unstable();
            let mut expected = vec![0; positions.len()];
            for (_, slot) in lowest.into_iter().take(usize::try_from(want).unwrap()) {
                expected[slot] += 1;
            }
            prop_assert_eq!(split(&positions, want), expected);
        }

        #[test]
        fn shares_add_up(positions in prop::collection::vec(0..u64::MAX / 2, 1..9), want in 1..u64::MAX / 4) {
            prop_assert_eq!(split(&positions, want).iter().sum::<u64>(), want);
        }
    }
}
