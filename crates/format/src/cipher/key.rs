//! The key of an obfuscated template.

use std::fmt;

/// An AES key for `obf=ff1:NAME`: 16, 24 or 32 bytes. Its `Debug` output hides the bytes.
#[derive(Clone, PartialEq, Eq)]
pub struct ObfuscationKey(pub(super) Vec<u8>);

impl ObfuscationKey {
    /// A key of 16, 24 or 32 bytes. The error is for people.
    pub fn new(bytes: &[u8]) -> Result<Self, String> {
        match bytes.len() {
            16 | 24 | 32 => Ok(Self(bytes.to_vec())),
            length => Err(format!("key has {length} bytes: 16, 24 or 32 are allowed")),
        }
    }
}

impl fmt::Debug for ObfuscationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ObfuscationKey(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_not_printed_and_names_its_bound() {
        let key = ObfuscationKey::new(&[1; 16]).unwrap();
        assert_eq!(format!("{key:?}"), "ObfuscationKey(…)");
        assert!(ObfuscationKey::new(&[1; 15]).unwrap_err().contains("16, 24 or 32"));
    }
}
