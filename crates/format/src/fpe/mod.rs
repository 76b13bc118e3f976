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

    /// What tells this key from others and nothing else of it, in 16 hexadecimal digits: what it makes of nothing, under a
    /// tweak that no number is hidden with. The error is for people: FF1 is not built in.
    pub fn check(&self) -> Result<String, String> {
        let hidden = Permutation::new(self, 16)?.hide(CHECK_TWEAK, vec![0; CHECK_DIGITS]);
        let digit = |digit: u16| char::from_digit(u32::from(digit), 16).unwrap_or('0');
        Ok(hidden.unwrap_or_default().into_iter().map(digit).collect())
    }
}

/// A tweak that is no counter's: those begin with a length.
const CHECK_TWEAK: &[u8] = b"\0sequent key check";

/// How many digits tell a key from others.
const CHECK_DIGITS: usize = 16;

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

    #[cfg(feature = "ff1")]
    #[test]
    fn another_key_has_another_check_which_does_not_change() {
        let check = |bytes: &[u8]| ObfuscationKey::new(bytes).unwrap().check().unwrap();
        assert_eq!(check(&[1; 16]), "515903b79bbd36a9");
        assert_ne!(check(&[1; 16]), check(&[2; 16]));
        assert_ne!(check(&[1; 16]), check(&[1; 32]));
    }
}
