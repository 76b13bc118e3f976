//! ISBN-10 (weights 10 to 2, modulo 11, X for ten) and ISBN-13 (GS1's algorithm).

use super::{
    algorithm::{Algorithm, Characters, digits, one},
    gs1,
};

/// The state holds the number of digits read, and the sum.
#[derive(Debug)]
pub(super) struct Isbn10;

impl Algorithm for Isbn10 {
    fn name(&self) -> &'static str {
        "isbn10"
    }

    fn characters(&self) -> &'static str {
        "0123456789X"
    }

    fn body_length(&self) -> Option<usize> {
        Some(9)
    }

    fn fold(&self, state: u32, piece: &[u8]) -> u32 {
        digits(piece).fold(state, |state, digit| {
            let (read, sum) = (state >> 16, state & 0xffff);
            let weight = 10_u32.saturating_sub(read);
            ((read + 1).min(10) << 16) | ((sum + weight * digit) % 11)
        })
    }

    fn finish(&self, state: u32) -> Characters {
        one(self.characters(), (11 - (state & 0xffff)) % 11)
    }
}

#[derive(Debug)]
pub(super) struct Isbn13;

impl Algorithm for Isbn13 {
    fn name(&self) -> &'static str {
        "isbn13"
    }

    fn body_length(&self) -> Option<usize> {
        Some(12)
    }

    fn fold(&self, state: u32, piece: &[u8]) -> u32 {
        gs1::fold(state, piece)
    }

    fn finish(&self, state: u32) -> Characters {
        gs1::finish(state)
    }
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
