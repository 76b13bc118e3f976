//! In place of FF1 where it is not built in: a service that takes in the SDK has no keys, and needs no cipher.

use super::ObfuscationKey;

/// There is none.
#[derive(Clone)]
pub(crate) enum Permutation {}

impl Permutation {
    /// Refused by name.
    pub(crate) fn new(_: &ObfuscationKey, _: u64) -> Result<Self, String> {
        Err("obf=ff1 is not built in: the feature ff1 of sequent-format has it".to_owned())
    }

    pub(crate) fn hide(&self, _: &[u8], _: Vec<u16>) -> Option<Vec<u16>> {
        match *self {}
    }

    pub(crate) fn reveal(&self, _: &[u8], _: Vec<u16>) -> Option<Vec<u16>> {
        match *self {}
    }
}
