//! ISO 11649 creditor references: `RF`, two check digits, then the reference.

use super::{
    algorithm::{Algorithm, two},
    iso7064::{mod97_10, modulo_97},
};

pub(super) fn rf(name: &'static str) -> Algorithm {
    Algorithm { finish: |_, state| two(98 - modulo_97(state, b"RF00")), ..mod97_10(name) }
}

#[cfg(test)]
mod tests {
    #[test]
    fn published_vector() {
        assert_eq!(super::super::checksum("rf", "539007547034"), "18");
    }
}
