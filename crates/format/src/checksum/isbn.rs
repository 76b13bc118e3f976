//! ISBN-10 (weights 10 to 2, modulo 11, X for ten) and ISBN-13 (GS1's algorithm).

use super::{
    algorithm::{Algorithm, decimal, digits, one},
    gs1::gs1,
};

/// The state holds the number of digits read, and the sum.
pub(super) fn isbn10(name: &'static str) -> Algorithm {
    Algorithm {
        characters: "0123456789X".into(),
        body_length: Some(9),
        fold: |_, state, piece| {
            digits(piece).fold(state, |state, digit| {
                let (read, sum) = (state >> 16, state & 0xffff);
                let weight = 10_u32.saturating_sub(read);
                ((read + 1).min(10) << 16) | ((sum + weight * digit) % 11)
            })
        },
        finish: |of, state| one(&of.characters, (11 - (state & 0xffff)) % 11),
        ..decimal(name)
    }
}

pub(super) fn isbn13(name: &'static str) -> Algorithm {
    Algorithm { body_length: Some(12), ..gs1(name) }
}

#[cfg(test)]
mod tests {
    use super::super::checksum;

    #[test]
    fn published_vectors() {
        for number in ["9789024538270", "9781857982183", "9780123456786"] {
            assert_eq!(checksum("isbn13", &number[..12]), number[12..]);
        }
        for number in ["1857982185", "0123456789", "080442957X"] {
            assert_eq!(checksum("isbn10", &number[..9]), number[9..]);
        }
    }
}
