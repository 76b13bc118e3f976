//! Names of memcached items: printable, without whitespace, at most 250 bytes.

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use sequent_core::Key;
use sha2::{Digest, Sha256};

use crate::net::{Owner, hex};

/// The longest name that memcached accepts, in bytes.
const BYTES_MAX: usize = 250;

/// What is escaped besides bytes beyond ASCII: what ends a name, and the sign of an escape.
const ESCAPED: &AsciiSet = &CONTROLS.add(b' ').add(b'%');

/// The name of an item, as commands contain it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name(String);

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
        Self(text.to_owned())
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    pub(super) fn text(&self) -> &str {
        &self.0
    }

    fn new(whole: &str) -> Self {
        let name = utf8_percent_encode(whole, ESCAPED).to_string();
        if name.len() <= BYTES_MAX {
            return Self(name);
        }
        Self(format!("sequent#{}", hex(&Sha256::digest(whole.as_bytes()))))
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
            assert_eq!(&Name::from_stored(name.text()), name);
        }
    }

    #[test]
    fn names_of_owners_are_told_apart() {
        let name = |cluster: &str, slot, key| {
            Name::of_cell(&Owner { cluster: cluster.parse().unwrap(), slot }, &Key::from_stored(key))
                .text()
                .to_owned()
        };
        assert_eq!(name("shop-eu", 1, "order"), "sequent/shop-eu/1/cell/order");
        assert_ne!(name("a", 1, "2/cell/x"), name("a", 12, "x"));
    }
}
