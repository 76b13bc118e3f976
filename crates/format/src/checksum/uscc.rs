//! GB 32100: the 18th character of a unified social credit code, modulo 31. The alphabet has no I, O, S, V and Z.

use super::algorithm::{Algorithm, decimal, one};

const LETTERS: &str = "0123456789ABCDEFGHJKLMNPQRTUWXY";

/// The state holds the next weight, and the sum.
pub(super) fn uscc(name: &'static str) -> Algorithm {
    Algorithm {
        body: LETTERS.into(),
        characters: LETTERS.into(),
        body_length: Some(17),
        start: 1 << 16,
        fold: |of, state, piece| {
            of.values(piece).fold(state, |state, value| {
                let (weight, sum) = (state >> 16, state & 0xffff);
                ((weight * 3 % 31) << 16) | ((sum + weight * value) % 31)
            })
        },
        finish: |_, state| one(LETTERS, (31 - (state & 0xffff)) % 31),
        ..decimal(name)
    }
}

#[cfg(test)]
mod tests {
    use super::super::checksum;

    #[test]
    fn published_vectors() {
        for number in ["91350100M000100Y43", "91110000600037341L"] {
            assert_eq!(checksum("uscc", &number[..17]), number[17..], "{number}");
        }
        let zero = (0..100).find(|n| checksum("uscc", &format!("9111000060003{n:04}")) == "0");
        assert!(zero.is_some(), "a sum of 0 gives 0");
    }
}
