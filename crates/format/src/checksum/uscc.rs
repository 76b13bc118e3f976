//! GB 32100: the 18th character of a unified social credit code, modulo 31. The alphabet has no I, O, S, V and Z.

use super::algorithm::{Algorithm, Characters, one};

/// The state holds the next weight, and the sum.
#[derive(Debug)]
pub(super) struct Uscc;

const LETTERS: &str = "0123456789ABCDEFGHJKLMNPQRTUWXY";

impl Algorithm for Uscc {
    fn name(&self) -> &'static str {
        "uscc"
    }

    fn body(&self) -> &'static str {
        LETTERS
    }

    fn characters(&self) -> &'static str {
        LETTERS
    }

    fn body_length(&self) -> Option<usize> {
        Some(17)
    }

    fn start(&self) -> u32 {
        1 << 16
    }

    fn fold(&self, state: u32, piece: &[u8]) -> u32 {
        let values = piece.iter().filter_map(|byte| LETTERS.bytes().position(|letter| letter == *byte));
        values.filter_map(|at| u32::try_from(at).ok()).fold(state, |state, value| {
            let (weight, sum) = (state >> 16, state & 0xffff);
            ((weight * 3 % 31) << 16) | ((sum + weight * value) % 31)
        })
    }

    fn finish(&self, state: u32) -> Characters {
        one(LETTERS, (31 - (state & 0xffff)) % 31)
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
