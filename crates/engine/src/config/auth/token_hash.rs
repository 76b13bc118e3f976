//! The SHA-256 of a token, as the configuration has it.

use std::{fmt, str::FromStr};

/// Bytes of a SHA-256.
const BYTES: usize = 32;

/// The SHA-256 of a token. It is printed nowhere.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TokenHash([u8; BYTES]);

impl TokenHash {
    /// The hash with these bytes.
    pub fn new(bytes: [u8; BYTES]) -> Self {
        Self(bytes)
    }

    /// The hexadecimal digits, for the configuration alone.
    pub fn to_hex(self) -> String {
        let digit = |half: u8| char::from_digit(half.into(), 16).unwrap_or_default();
        self.0.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8; BYTES] {
        &self.0
    }
}

impl fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenHash(***)")
    }
}

impl FromStr for TokenHash {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        let expected = "the SHA-256 of a token, 64 hexadecimal digits, is expected (`sequent token new`)";
        let is_hex = text.len() == 2 * BYTES && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_hex {
            return Err(expected);
        }
        let mut bytes = [0; BYTES];
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).map_err(|_| expected)?;
        }
        Ok(Self(bytes))
    }
}
