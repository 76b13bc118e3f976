//! Crockford's check symbol of base 32: the number modulo 37, with five additional symbols.

use super::algorithm::{Algorithm, decimal, one};

const LETTERS: &str = "0123456789ABCDEFGHJKMNPQRSTVWXYZ*~$=U";

pub(super) fn crockford(name: &'static str) -> Algorithm {
    Algorithm {
        body: LETTERS[..32].into(),
        characters: LETTERS.into(),
        fold: |of, state, piece| of.values(piece).fold(state, |rest, value| (rest * 32 + value) % 37),
        finish: |_, state| one(LETTERS, state),
        ..decimal(name)
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
