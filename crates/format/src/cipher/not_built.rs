//! The replacement of FF1 without the feature `ff1`: a service with the SDK alone has no keys and needs no cipher.

use super::key::ObfuscationKey;

/// A permutation that cannot exist.
#[derive(Clone)]
pub(crate) enum Permutation {}

impl Permutation {
    /// An error that names the missing feature.
    pub(crate) fn new(_: &ObfuscationKey, _: u64) -> Result<Self, String> {
        Err("obf=ff1 is not built in: the feature ff1 of sequent-format has it".to_owned())
    }

    pub(crate) fn encrypt(&self, _: &[u8], _: Vec<u16>) -> Option<Vec<u16>> {
        match *self {}
    }

    pub(crate) fn decrypt(&self, _: &[u8], _: Vec<u16>) -> Option<Vec<u16>> {
        match *self {}
    }
}
