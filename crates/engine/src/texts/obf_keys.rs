//! Keys of `obf=ff1:NAME`: this process's, by name.
//!
//! They are the process's and no engine's: whoever reads a definition needs them, wherever it comes from. A name is one
//! key for as long as the process runs, and each definition holds its key's check, so that no other key can give texts
//! of it that are out already.

use std::{
    collections::BTreeMap,
    sync::{Arc, PoisonError, RwLock},
};

use sequent_format::ObfuscationKey;

/// Keys by their names.
pub(crate) type Keys = BTreeMap<String, ObfuscationKey>;

static HELD: RwLock<Option<Arc<Keys>>> = RwLock::new(None);

/// The keys held now.
pub(crate) fn held() -> Arc<Keys> {
    HELD.read().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or_default()
}

/// Holds a key too. False where this process holds another one of that name: it stays.
pub(crate) fn hold(name: &str, key: &ObfuscationKey) -> bool {
    let mut held = HELD.write().unwrap_or_else(PoisonError::into_inner);
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
