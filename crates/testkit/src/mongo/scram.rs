//! SCRAM-SHA-256, the server's side (RFC 5802, 7677): a login that proves the password without sending it.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

/// As few as clients accept: a test logs in often.
const ITERATIONS: u32 = 4096;
const SALT: &[u8; 16] = b"a double's salt.";

/// Who may log in, as a server keeps it.
#[derive(Debug, Clone)]
pub(super) struct Account {
    pub(super) user: String,
    salted: [u8; 32],
}

impl Account {
    pub(super) fn new(user: &str, password: &str) -> Self {
        let mut salted = [0; 32];
        pbkdf2::pbkdf2_hmac::<Sha256>(password.as_bytes(), SALT, ITERATIONS, &mut salted);
        Self { user: user.to_owned(), salted }
    }
}

/// A login that was begun.
#[derive(Debug)]
pub(super) struct Exchange {
    /// Where it began, without the header, and what the server said.
    begun: String,
    nonce: String,
    pub(super) user: String,
}

impl Exchange {
    /// Reads the client's first message; returns the exchange and the server's first.
    pub(super) fn begin(first: &str, server_nonce: &str) -> Option<(Self, String)> {
        let bare = first.strip_prefix("n,,")?;
        let user = bare.strip_prefix("n=")?.split(',').next()?.to_owned();
        let nonce = format!("{}{server_nonce}", bare.split_once(",r=")?.1);
        let reply = format!("r={nonce},s={},i={ITERATIONS}", STANDARD.encode(SALT));
        Some((Self { begun: format!("{bare},{reply}"), nonce, user }, reply))
    }

    /// Reads the client's last message; returns the server's proof if the client's holds.
    pub(super) fn end(&self, last: &str, account: &Account) -> Option<String> {
        let (unproved, proof) = last.split_once(",p=")?;
        if unproved != format!("c=biws,r={}", self.nonce) {
            return None;
        }
        let said = format!("{},{unproved}", self.begun);
        let client_key = keyed(&account.salted, b"Client Key");
        let signature = keyed(&Sha256::digest(client_key), said.as_bytes());
        let expected: Vec<u8> = client_key.iter().zip(signature).map(|(key, part)| key ^ part).collect();
        if STANDARD.decode(proof).ok()? != expected {
            return None;
        }
        let server_key = keyed(&account.salted, b"Server Key");
        Some(format!("v={}", STANDARD.encode(keyed(&server_key, said.as_bytes()))))
    }
}

fn keyed(key: &[u8], message: &[u8]) -> [u8; 32] {
    let mut mac =
        Hmac::<Sha256>::new_from_slice(key).unwrap_or_else(|e| panic!("a key of any length will do: {e}"));
    mac.update(message);
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of RFC 7677's example need its salt; the keys are checked by the driver, which proves the server too.
    #[test]
    fn a_proof_of_another_password_does_not_hold() {
        let account = Account::new("seq", "word");
        let begun = Exchange::begin("n,,n=seq,r=abc", "def");
        let Some((exchange, reply)) = begun else { panic!("not begun") };
        assert!(reply.starts_with("r=abcdef,s=") && exchange.user == "seq");
        let proof = STANDARD.encode([0; 32]);
        assert_eq!(exchange.end(&format!("c=biws,r=abcdef,p={proof}"), &account), None);
        assert_eq!(exchange.end(&format!("c=biws,r=abc,p={proof}"), &account), None);
        assert!(Exchange::begin("y,,n=seq,r=abc", "def").is_none());
    }
}
