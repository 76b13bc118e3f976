//! Verhoeff's check digit in the dihedral group of order 10. It detects every wrong digit and every swap of neighbours.

use super::algorithm::{Algorithm, DIGITS, decimal, digits, one};

/// The permutation of one position. Applied eight times it is the identity.
const PERMUTATION: [u32; 10] = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4];

const PLACES: u32 = 8;

/// The product in the dihedral group: 0 to 4 are rotations, 5 to 9 are reflections.
fn product(a: u32, b: u32) -> u32 {
    match (a < 5, b < 5) {
        (true, true) => (a + b) % 5,
        (true, false) => 5 + (a + b) % 5,
        (false, true) => 5 + (a - 5 + 5 - b) % 5,
        (false, false) => (a + 5 - b) % 5,
    }
}

fn permuted(digit: u32, place: u32) -> u32 {
    (0..place).fold(digit, |digit, _| PERMUTATION.get(digit as usize).copied().unwrap_or(0))
}

/// The permutation depends on a digit's position from the right, which is unknown while reading from the left. So the state holds
/// eight products of four bits: one for each position that the last digit may have.
pub(super) fn verhoeff(name: &'static str) -> Algorithm {
    Algorithm {
        fold: |_, state, piece| {
            digits(piece).fold(state, |products, digit| {
                let at = |place: u32| products >> (4 * (place % PLACES)) & 0xf;
                let with = |all, place| all | product(permuted(digit, place), at(place + 1)) << (4 * place);
                (0..PLACES).fold(0, with)
            })
        },
        finish: |_, state| {
            // The check digit has position 0, so the body begins at position 1.
            let product = state >> 4 & 0xf;
            one(DIGITS, if product < 5 { (5 - product) % 5 } else { product })
        },
        ..decimal(name)
    }
}

#[cfg(test)]
mod tests {
    use super::super::checksum;

    #[test]
    fn published_vectors() {
        assert_eq!(checksum("verhoeff", "236"), "3");
        assert_eq!(checksum("verhoeff", "12345"), "1");
        assert_eq!(checksum("verhoeff", "1234"), "0");
    }
}
