//! FF1 with AES.

use std::sync::Arc;

use aes::{Aes128, Aes192, Aes256};
use fpe::ff1::{FF1, FlexibleNumeralString};

use super::key::ObfuscationKey;

/// A keyed permutation of texts over one radix.
#[derive(Clone)]
pub(crate) enum Permutation {
    Aes128(Arc<FF1<Aes128>>),
    Aes192(Arc<FF1<Aes192>>),
    Aes256(Arc<FF1<Aes256>>),
}

impl Permutation {
    /// The permutation of a key. The error is for people.
    pub(crate) fn new(key: &ObfuscationKey, radix: u64) -> Result<Self, String> {
        let radix = u32::try_from(radix).map_err(|error| error.to_string())?;
        let made = match key.0.len() {
            16 => FF1::new(&key.0, radix).map(|ff1| Self::Aes128(Arc::new(ff1))),
            24 => FF1::new(&key.0, radix).map(|ff1| Self::Aes192(Arc::new(ff1))),
            _ => FF1::new(&key.0, radix).map(|ff1| Self::Aes256(Arc::new(ff1))),
        };
        made.map_err(|error| error.to_string())
    }

    /// The encrypted digits; `None` if they are too few for FF1.
    pub(crate) fn encrypt(&self, tweak: &[u8], digits: Vec<u16>) -> Option<Vec<u16>> {
        let text = FlexibleNumeralString::from(digits);
        let encrypted = match self {
            Self::Aes128(ff1) => ff1.encrypt(tweak, &text),
            Self::Aes192(ff1) => ff1.encrypt(tweak, &text),
            Self::Aes256(ff1) => ff1.encrypt(tweak, &text),
        };
        encrypted.ok().map(Vec::from)
    }

    /// The digits that `encrypt` was given.
    pub(crate) fn decrypt(&self, tweak: &[u8], digits: Vec<u16>) -> Option<Vec<u16>> {
        let text = FlexibleNumeralString::from(digits);
        let decrypted = match self {
            Self::Aes128(ff1) => ff1.decrypt(tweak, &text),
            Self::Aes192(ff1) => ff1.decrypt(tweak, &text),
            Self::Aes256(ff1) => ff1.decrypt(tweak, &text),
        };
        decrypted.ok().map(Vec::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: [u8; 32] = [
        0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6, 0xab, 0xf7, 0x15, 0x88, 0x09, 0xcf, 0x4f, 0x3c, 0xef,
        0x43, 0x59, 0xd8, 0xd5, 0x80, 0xaa, 0x4f, 0x7f, 0x03, 0x6d, 0x6f, 0x04, 0xfc, 0x6a, 0x94,
    ];

    /// NIST's samples of FF1: key length, radix, tweak, plain text, cipher text.
    const SAMPLES: [(usize, u64, &[u8], &str, &str); 9] = [
        (16, 10, b"", "0123456789", "2433477484"),
        (16, 10, b"9876543210", "0123456789", "6124200773"),
        (16, 36, b"7777pqrs777", "0123456789abcdefghi", "a9tv40mll9kdu509eum"),
        (24, 10, b"", "0123456789", "2830668132"),
        (24, 10, b"9876543210", "0123456789", "2496655549"),
        (24, 36, b"7777pqrs777", "0123456789abcdefghi", "xbj3kv35jrawxv32ysr"),
        (32, 10, b"", "0123456789", "6657667009"),
        (32, 10, b"9876543210", "0123456789", "1001623463"),
        (32, 36, b"7777pqrs777", "0123456789abcdefghi", "xs8a0azh2avyalyzuwd"),
    ];

    fn digits(text: &str) -> Vec<u16> {
        text.chars().map(|c| u16::try_from(c.to_digit(36).unwrap()).unwrap()).collect()
    }

    #[test]
    fn nist_samples() {
        for (length, radix, tweak, plain, hidden) in SAMPLES {
            let key = ObfuscationKey::new(&KEY[..length]).unwrap();
            let permutation = Permutation::new(&key, radix).unwrap();
            assert_eq!(
                permutation.encrypt(tweak, digits(plain)).unwrap(),
                digits(hidden),
                "{length} {radix}"
            );
            assert_eq!(permutation.decrypt(tweak, digits(hidden)).unwrap(), digits(plain));
        }
    }
}
