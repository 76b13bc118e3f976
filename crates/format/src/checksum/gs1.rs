//! GS1's check digit modulo 10 for GTIN, SSCC and others: weights 3 and 1 from the right.

use super::algorithm::{Algorithm, DIGITS, decimal, digits, one};

/// The state holds two sums: one with weight 3 for the last digit, one with weight 1.
pub(super) fn gs1(name: &'static str) -> Algorithm {
    Algorithm {
        fold: |_, state, piece| {
            digits(piece).fold(state, |sums, digit| {
                let (three, one) = (sums >> 16, sums & 0xffff);
                ((one + 3 * digit) % 10) << 16 | ((three + digit) % 10)
            })
        },
        finish: |_, state| one(DIGITS, (10 - (state >> 16)) % 10),
        ..decimal(name)
    }
}

#[cfg(test)]
mod tests {
    use super::super::checksum;

    #[test]
    fn published_vectors() {
        let numbers =
            ["6291041500213", "73513537", "7501031311309", "095287654321012346", "106141412345678908"];
        for number in numbers {
            let (body, check) = number.split_at(number.len() - 1);
            assert_eq!(checksum("gs1", body), check, "{number}");
        }
    }
}
