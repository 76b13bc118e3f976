//! The plain remainder of older rule engines: `n * 9 % 31 % 10`.
//!
//! It exists for compatibility. 31 remainders share ten digits, so it misses more errors than any other algorithm.

use super::algorithm::{Algorithm, DIGITS, decimal, digits, one};

pub(super) fn plain(name: &'static str) -> Algorithm {
    Algorithm {
        fold: |_, state, piece| digits(piece).fold(state, |rest, digit| (rest * 10 + digit) % 31),
        finish: |_, state| one(DIGITS, state * 9 % 31 % 10),
        ..decimal(name)
    }
}

#[cfg(test)]
mod tests {
    use super::super::checksum;

    #[test]
    fn it_is_the_remainder() {
        for n in [0_u64, 1, 4, 31, 1234, 9_876_543_210] {
            assert_eq!(checksum("plain", &n.to_string()), (n * 9 % 31 % 10).to_string());
        }
        assert_eq!(checksum("n*9%31%10", "4"), "5");
    }
}
