//! OTRS's date checksum: weights 1 and 2 from the left without a sum of digits. Ten is written as 1, so some errors go
//! undetected.

use super::algorithm::{Algorithm, DIGITS, decimal, digits, one};

/// The state holds the weight of the next digit minus one, and the sum.
pub(super) fn otrs(name: &'static str) -> Algorithm {
    Algorithm {
        fold: |_, state, piece| {
            digits(piece).fold(state, |state, digit| {
                let (second, sum) = (state >> 16, state & 0xffff);
                ((1 - second) << 16) | ((sum + (second + 1) * digit) % 10)
            })
        },
        finish: |_, state| match 10 - (state & 0xffff) {
            10 => one(DIGITS, 1),
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
        assert_eq!(checksum("otrs", "200206231010001"), "1");
        let tens = (0..1000).filter(|n| checksum("otrs", &format!("{n:03}")) == "1").count();
        assert!(tens > 100, "10 gives 1, too: {tens}");
    }
}
