//! ISBN with ten digits (weights 10 to 2, modulo 11, X for ten) and with thirteen (GS1's).

use super::{Algorithm, Characters, digits, gs1, one};

/// The state holds how many digits were read, and the sum.
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
    use super::super::of;

    #[test]
    fn published_vectors() {
        for number in ["9789024538270", "9781857982183", "9780123456786"] {
            assert_eq!(of("isbn13", &number[..12]), number[12..]);
        }
        for number in ["1857982185", "0123456789", "080442957X"] {
            assert_eq!(of("isbn10", &number[..9]), number[9..]);
        }
    }
}
