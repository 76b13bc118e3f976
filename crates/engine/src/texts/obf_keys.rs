//! The keys of `obf=ff1:NAME` in this process, by name.
//!
//! They belong to the process and not to an engine, since every reader of a definition needs them, wherever it comes
//! from. A name has one key for as long as the process runs. Each definition holds its key's check value, so that no
//! other key can produce texts of it that have been issued already.

use std::{
    collections::BTreeMap,
    sync::{Arc, RwLock},
};

use sequent_format::ObfuscationKey;

use sequent_core::sync;

/// Keys by their names.
pub(crate) type Keys = BTreeMap<String, ObfuscationKey>;

static HELD: RwLock<Option<Arc<Keys>>> = RwLock::new(None);

/// The keys held now.
pub(crate) fn held() -> Arc<Keys> {
    sync::read(&HELD).clone().unwrap_or_default()
}

/// Adds a key. Returns false if this process holds another key of that name, which stays.
pub(crate) fn hold(name: &str, key: &ObfuscationKey) -> bool {
    let mut held = sync::write(&HELD);
    let mut keys = held.as_deref().cloned().unwrap_or_default();
    match keys.get(name) {
        Some(known) => return known == key,
        None => drop(keys.insert(name.to_owned(), key.clone())),
    }
    *held = Some(Arc::new(keys));
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_key() {
        let key = |byte: u8| ObfuscationKey::new(&[byte; 16]).unwrap();
        assert!(hold("keys-test", &key(1)) && hold("keys-test", &key(1)));
        assert!(!hold("keys-test", &key(2)), "another key of that name");
        assert!(held()["keys-test"] == key(1));
    }
}
