//! Crockford's check symbol of base 32: the number modulo 37, with five additional symbols.

use super::algorithm::{Algorithm, Characters, one};

#[derive(Debug)]
pub(super) struct Crockford;

const LETTERS: &str = "0123456789ABCDEFGHJKMNPQRSTVWXYZ*~$=U";

impl Algorithm for Crockford {
    fn name(&self) -> &'static str {
        "crockford"
    }

    fn body(&self) -> &'static str {
        &LETTERS[..32]
    }

    fn characters(&self) -> &'static str {
        LETTERS
    }

    fn fold(&self, state: u32, piece: &[u8]) -> u32 {
        let values = piece.iter().filter_map(|byte| self.body().bytes().position(|letter| letter == *byte));
        values.filter_map(|at| u32::try_from(at).ok()).fold(state, |rest, value| (rest * 32 + value) % 37)
    }

    fn finish(&self, state: u32) -> Characters {
        one(LETTERS, state)
    }
}

#[cfg(test)]
mod tests {
    use super::super::checksum;

    #[test]
    fn published_vectors() {
        assert_eq!(checksum("crockford", "16J"), "D");
        assert_eq!(checksum("crockford", "62RK3"), "C", "the integer 0x616263");
        assert_eq!(checksum("crockford", "10"), "*");
    }
}
