//! UPU S10: eight digits with fixed weights, modulo 11. Ten is written as 0 and eleven as 5, so some errors go undetected.

use super::algorithm::{Algorithm, Characters, DIGITS, digits, one};

/// The state holds the number of digits read, and the sum.
#[derive(Debug)]
pub(super) struct S10;

const WEIGHTS: [u32; 8] = [8, 6, 4, 2, 3, 5, 9, 7];

impl Algorithm for S10 {
    fn name(&self) -> &'static str {
        "s10"
    }

    fn body_length(&self) -> Option<usize> {
        Some(WEIGHTS.len())
    }

    fn fold(&self, state: u32, piece: &[u8]) -> u32 {
        digits(piece).fold(state, |state, digit| {
            let (read, sum) = (state >> 16, state & 0xffff);
            let weight = WEIGHTS.get(read as usize).copied().unwrap_or(0);
            ((read + 1).min(8) << 16) | ((sum + weight * digit) % 11)
        })
    }

    fn finish(&self, state: u32) -> Characters {
        one(
            DIGITS,
            match 11 - (state & 0xffff) {
                10 => 0,
                11 => 5,
                digit => digit,
            },
        )
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
