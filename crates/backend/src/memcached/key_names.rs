//! Names of memcached items: printable, without whitespace, at most 250 bytes.

use std::fmt::Write;

use sequent_core::Key;
use sha2::{Digest, Sha256};

use crate::net::Owner;

/// The longest name that memcached accepts, in bytes.
const BYTES_MAX: usize = 250;

/// The name of an item, as commands contain it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name(Vec<u8>);

impl Name {
    /// The name of a key's cell. A cluster's name contains no `/`, so the key is all after `cell/`.
    pub(super) fn of_cell(owner: &Owner, key: &Key) -> Self {
        Self::new(&format!("sequent/{owner}/cell/{}", key.as_str()))
    }

    /// The name of the item with the shard's stamp, mark and token.
    pub(super) fn of_shard(owner: &Owner) -> Self {
        Self::new(&format!("sequent/{owner}/shard"))
    }

    /// A name that was stored in an item.
    pub(super) fn from_stored(text: &str) -> Self {
        Self(text.into())
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The name as text. Names are valid UTF-8, since keys are.
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0).into_owned()
    }

    fn new(whole: &str) -> Self {
        let mut name = Vec::with_capacity(whole.len());
        for byte in whole.bytes() {
            match byte {
                0..=b' ' | b'%' | 0x7f => {
                    let [high, low] =
                        [byte >> 4, byte & 15].map(|half| b"0123456789ABCDEF"[usize::from(half)]);
                    name.extend([b'%', high, low]);
                }
                plain => name.push(plain),
            }
        }
        if name.len() <= BYTES_MAX {
            return Self(name);
        }
        let mut short = "sequent#".to_owned();
        for byte in Sha256::digest(whole.as_bytes()) {
            // Writing to a `String` never fails.
            let _ = write!(short, "{byte:02x}");
        }
        Self(short.into_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_a_name_of_its_own_that_fits() {
        let owner = Owner { cluster: "c".repeat(128).parse().unwrap(), slot: 65_535 };
        let long = "x".repeat(Key::LENGTH_MAX);
        let keys = ["a b", "a%20b", "a\u{0}b", "a\r\nb", "号", &long, &(long.clone() + "y")];
        let names: Vec<Name> = keys.iter().map(|key| Name::of_cell(&owner, &Key::from_stored(key))).collect();
        for (at, name) in names.iter().enumerate() {
            assert!(name.bytes().len() <= BYTES_MAX && !names[..at].contains(name), "{}", name.text());
            assert!(name.bytes().iter().all(|byte| *byte > b' '), "{}", name.text());
            assert_eq!(&Name::from_stored(&name.text()), name);
        }
    }

    #[test]
    fn names_of_owners_are_told_apart() {
        let name = |cluster: &str, slot, key| {
            Name::of_cell(&Owner { cluster: cluster.parse().unwrap(), slot }, &Key::from_stored(key)).text()
        };
        assert_eq!(name("shop-eu", 1, "order"), "sequent/shop-eu/1/cell/order");
        assert_ne!(name("a", 1, "2/cell/x"), name("a", 12, "x"));
    }
}
