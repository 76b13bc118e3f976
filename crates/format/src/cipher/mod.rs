//! Obfuscation of numbers by FF1 of NIST SP 800-38G: a keyed permutation of all texts of one length.

#[cfg(feature = "ff1")]
mod ff1;
mod key;
#[cfg(not(feature = "ff1"))]
mod not_built;

#[cfg(feature = "ff1")]
pub(crate) use ff1::Permutation;
pub use key::ObfuscationKey;
#[cfg(not(feature = "ff1"))]
pub(crate) use not_built::Permutation;

use std::fmt;

/// The tweak of a key check. A counter's tweak starts with a length, so no number is encrypted with this one.
const CHECK_TWEAK: &[u8] = b"\0sequent key check";

/// The length of a key check, in hexadecimal digits.
const CHECK_DIGITS: usize = 16;

impl ObfuscationKey {
    /// A fingerprint of the key in 16 hexadecimal digits, which reveals nothing else of it: zeros, encrypted with a tweak of
    /// its own. The error is for people: FF1 is not built in.
    pub fn check(&self) -> Result<String, String> {
        let encrypted = Permutation::new(self, 16)?.encrypt(CHECK_TWEAK, vec![0; CHECK_DIGITS]);
        let digit = |digit: u16| char::from_digit(u32::from(digit), 16).unwrap_or('0');
        Ok(encrypted.unwrap_or_default().into_iter().map(digit).collect())
    }
}

impl fmt::Debug for Permutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Permutation(…)")
    }
}

#[cfg(all(test, feature = "ff1"))]
mod tests {
    use super::*;

    #[test]
    fn the_check_of_a_key_is_stable_and_differs_between_keys() {
        let check = |bytes: &[u8]| ObfuscationKey::new(bytes).unwrap().check().unwrap();
        assert_eq!(check(&[1; 16]), "515903b79bbd36a9");
        assert_ne!(check(&[1; 16]), check(&[2; 16]));
        assert_ne!(check(&[1; 16]), check(&[1; 32]));
    }
}
