//! ISO 11649 creditor references: `RF`, two check digits, then the reference.

use super::{
    algorithm::{ALPHANUMERIC, Algorithm, Characters, two},
    iso7064::modulo_97,
};

#[derive(Debug)]
pub(super) struct Rf;

impl Algorithm for Rf {
    fn name(&self) -> &'static str {
        "rf"
    }

    fn body(&self) -> &'static str {
        ALPHANUMERIC
    }

    fn length(&self) -> usize {
        2
    }

    fn fold(&self, state: u32, piece: &[u8]) -> u32 {
        modulo_97(state, piece)
    }

    fn finish(&self, state: u32) -> Characters {
        two(98 - modulo_97(state, b"RF00"))
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn published_vector() {
        assert_eq!(super::super::checksum("rf", "539007547034"), "18");
    }
}
