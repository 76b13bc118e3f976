//! FF1 of NIST SP 800-38G: a keyed permutation of all texts of one length, so that numbers hide among each other.

use std::fmt;

#[cfg(not(feature = "ff1"))]
mod absent;
#[cfg(feature = "ff1")]
mod ff1;

#[cfg(not(feature = "ff1"))]
pub(crate) use absent::Permutation;
#[cfg(feature = "ff1")]
pub(crate) use ff1::Permutation;

/// An AES key for `obf=ff1:NAME`: 16, 24 or 32 bytes. It never prints itself.
#[derive(Clone, PartialEq, Eq)]
pub struct ObfuscationKey(Vec<u8>);

impl ObfuscationKey {
    /// A key of 16, 24 or 32 bytes; the error is for people.
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

impl fmt::Debug for Permutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Permutation(…)")
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
