//! The form of a token: `sqt_<8 characters>_<43 characters>`, of which the second part names it and the third is 256
//! random bits.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use sequent_core::Entropy;
use sequent_engine::config::TokenHash;
use sha2::{Digest, Sha256};

/// The beginning of every token, by which scanners find one that leaked.
const PREFIX: &str = "sqt_";

/// Characters of the part that names a token.
const ID_CHARS: usize = 8;

/// The alphabet of that part.
const ID_ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// Characters of 256 bits in base64url.
const SECRET_CHARS: usize = 43;

/// Length of a token.
const CHARS: usize = PREFIX.len() + ID_CHARS + 1 + SECRET_CHARS;

/// A token. Its text is printed by nothing but [`text`](Self::text).
///
/// ```
/// use sequent_core::OsEntropy;
/// use sequent_server::Token;
/// let token = Token::generate(&OsEntropy);
/// assert_eq!(token.text().len(), 56);
/// assert_eq!(Token::hash_of(token.text()), Some(token.hash()));
/// assert_eq!(Token::hash_of("sqt_guessed"), None);
/// ```
pub struct Token(String);

impl Token {
    /// A new token of 256 random bits.
    pub fn generate(entropy: &dyn Entropy) -> Self {
        let letter = |byte: u8| char::from(ID_ALPHABET[usize::from(byte) % ID_ALPHABET.len()]);
        let id: String = entropy.bits().to_be_bytes().map(letter).into_iter().collect();
        let secret: Vec<u8> = (0..4).flat_map(|_| entropy.bits().to_be_bytes()).collect();
        Self(format!("{PREFIX}{id}_{}", URL_SAFE_NO_PAD.encode(secret)))
    }

    /// The token itself, for its holder alone.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Its hash, for the configuration.
    pub fn hash(&self) -> TokenHash {
        digest(&self.0)
    }

    /// The hash of a text that has the form of a token: the SHA-256 of all its characters.
    pub fn hash_of(text: &str) -> Option<TokenHash> {
        let (id, secret) = text.strip_prefix(PREFIX)?.split_at_checked(ID_CHARS)?;
        let is_id = id.bytes().all(|byte| ID_ALPHABET.contains(&byte));
        let secret = secret.strip_prefix('_')?;
        let is_secret =
            secret.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
        (text.len() == CHARS && is_id && is_secret).then(|| digest(text))
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(***)")
    }
}

fn digest(text: &str) -> TokenHash {
    TokenHash::new(Sha256::digest(text.as_bytes()).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use sequent_core::OsEntropy;

    #[test]
    fn only_the_form_of_a_token_is_hashed() {
        let token = Token::generate(&OsEntropy);
        let text = token.text();
        assert_ne!(text, Token::generate(&OsEntropy).text());
        let (upper, longer, shorter) = (text.replacen("sqt_", "SQT_", 1), format!("{text}a"), &text[..55]);
        for bad in ["", "sqt_", &upper, &longer, shorter, &text.replacen('_', "é", 2), &"é".repeat(28)] {
            assert_eq!(Token::hash_of(bad), None, "{bad}");
        }
        let shown = format!("{token:?}{:?}", token.hash());
        assert!(!shown.contains(&text[13..20]), "{shown}");
    }

    #[test]
    fn the_hash_is_what_sha256sum_prints() {
        let text = format!("sqt_abcdefgh_{}", "A".repeat(43));
        let hash = Token::hash_of(&text).unwrap();
        // printf %s sqt_abcdefgh_AAAA… | sha256sum
        assert_eq!(hash, EXPECTED.parse().unwrap());
    }

    const EXPECTED: &str = "61458df6bea237a6fc7bded6f5eee92f1f4827073965b0524aae86e79b0ee091";
}
