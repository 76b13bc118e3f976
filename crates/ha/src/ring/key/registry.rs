//! A registry of the keys in use, by age.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, Weak},
};

use crate::sync::lock;

/// Weak references to keys, under ids that ascend in order of creation.
pub(crate) struct KeyRegistry<T>(Mutex<Keys<T>>);

struct Keys<T> {
    next_id: u64,
    in_use: BTreeMap<u64, Weak<T>>,
}

impl<T> Default for KeyRegistry<T> {
    fn default() -> Self {
        Self(Mutex::new(Keys { next_id: 0, in_use: BTreeMap::new() }))
    }
}

impl<T> KeyRegistry<T> {
    /// Creates a key under the next id.
    pub(crate) fn insert(&self, create: impl FnOnce(u64) -> T) -> Arc<T> {
        let mut keys = lock(&self.0);
        let id = keys.next_id;
        keys.next_id += 1;
        let key = Arc::new(create(id));
        keys.in_use.insert(id, Arc::downgrade(&key));
        key
    }

    pub(crate) fn remove(&self, id: u64) {
        lock(&self.0).in_use.remove(&id);
    }

    /// At most `max` keys, the newest first.
    ///
    /// The caller upgrades them without the lock: dropping the last reference of a key locks the registry.
    pub(crate) fn newest(&self, max: usize) -> Vec<Weak<T>> {
        lock(&self.0).in_use.values().rev().take(max).cloned().collect()
    }

    /// At most `max` keys with their ids, ascending from this id on.
    pub(crate) fn page(&self, from: u64, max: usize) -> Vec<(u64, Weak<T>)> {
        let keys = lock(&self.0);
        keys.in_use.range(from..).take(max).map(|(id, key)| (*id, Weak::clone(key))).collect()
    }
}
