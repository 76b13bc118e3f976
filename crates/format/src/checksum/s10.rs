//! UPU S10: eight digits with fixed weights, modulo 11. Ten is written as 0 and eleven as 5, so some errors go undetected.

use super::algorithm::{Algorithm, DIGITS, decimal, digits, one};

const WEIGHTS: [u32; 8] = [8, 6, 4, 2, 3, 5, 9, 7];

/// The state holds the number of digits read, and the sum.
pub(super) fn s10(name: &'static str) -> Algorithm {
    Algorithm {
        body_length: Some(WEIGHTS.len()),
        fold: |_, state, piece| {
            digits(piece).fold(state, |state, digit| {
                let (read, sum) = (state >> 16, state & 0xffff);
                let weight = WEIGHTS.get(read as usize).copied().unwrap_or(0);
                ((read + 1).min(8) << 16) | ((sum + weight * digit) % 11)
            })
        },
        finish: |_, state| match 11 - (state & 0xffff) {
            10 => one(DIGITS, 0),
            11 => one(DIGITS, 5),
            digit => one(DIGITS, digit),
        },
        ..decimal(name)
    }
}

#[cfg(test)]
mod tests {
    use super::super::checksum;

    #[test]
    fn published_vectors() {
        assert_eq!(checksum("s10", "47312482"), "9");
        assert_eq!(checksum("s10", "28704377"), "5", "a sum of 0 gives 5");
        assert_eq!(checksum("s10", "47312409"), "0", "10 gives 0");
    }
}
