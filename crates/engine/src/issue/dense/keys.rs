//! Keys of dense sequences in use on this server: each sequence has at most `limits.keys_per_sequence_max`, as those of the
//! registry, since each is a row of the ledger.

use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
    sync::Mutex,
    time::Instant,
};

use sequent_core::{Key, sync};

use crate::{
    engine::{IDLE_AFTER, SWEEP_EVERY},
    error::EngineError,
    issue::registry::too_many,
};

/// Upper limit of the keys of all sequences, of 32 bytes each. Further keys are not counted.
const KEYS_MAX: usize = 1 << 20;

/// Keys in use, by sequence.
#[derive(Default)]
pub(crate) struct DenseKeys {
    hasher: RandomState,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    all: usize,
    of_sequences: HashMap<Box<str>, Keys>,
}

/// The keys of one sequence: a hash of each, and when it was used last.
#[derive(Default)]
struct Keys {
    used: HashMap<u64, Instant>,
    swept: Option<Instant>,
}

impl DenseKeys {
    /// Notes that a key is used. Fails for a new key of a sequence that has `most` in use.
    pub(crate) fn claim(&self, key: &Key, most: u64, now: Instant) -> Result<(), EngineError> {
        let hash = self.hasher.hash_one(key.as_str());
        let mut held = sync::lock(&self.held);
        let Held { all, of_sequences } = &mut *held;
        if !of_sequences.contains_key(key.sequence()) {
            of_sequences.insert(key.sequence().into(), Keys::default());
        }
        let Some(keys) = of_sequences.get_mut(key.sequence()) else { return Ok(()) };
        if let Some(used) = keys.used.get_mut(&hash) {
            *used = now;
            return Ok(());
        }
        if keys.used.len() as u64 >= most || *all >= KEYS_MAX {
            *all -= keys.forget_idle(now);
        }
        if keys.used.len() as u64 >= most {
            return Err(too_many(key.sequence(), most));
        }
        if *all < KEYS_MAX {
            keys.used.insert(hash, now);
            *all += 1;
        }
        Ok(())
    }

    /// Whether a key is in use.
    pub(crate) fn has(&self, key: &Key) -> bool {
        let hash = self.hasher.hash_one(key.as_str());
        sync::lock(&self.held)
            .of_sequences
            .get(key.sequence())
            .is_some_and(|keys| keys.used.contains_key(&hash))
    }
}

impl Keys {
    /// Forgets idle keys, at most once each [`SWEEP_EVERY`]; returns how many.
    fn forget_idle(&mut self, now: Instant) -> usize {
        if self.swept.is_some_and(|at| now.saturating_duration_since(at) < SWEEP_EVERY) {
            return 0;
        }
        let before = self.used.len();
        self.used.retain(|_, used| now.saturating_duration_since(*used) < IDLE_AFTER);
        self.swept = Some(now);
        before - self.used.len()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use sequent_core::{Clock, SystemClock};

    use super::*;

    fn key(at: usize) -> Key {
        Key::from_stored(&format!("area|{at}"))
    }

    #[test]
    fn a_sequence_has_no_more_keys_in_use_than_it_may_until_some_are_idle() {
        let (keys, now) = (DenseKeys::default(), SystemClock.now());
        for at in 0..3 {
            keys.claim(&key(at), 3, now).unwrap();
        }
        let error = keys.claim(&key(3), 3, now).unwrap_err().to_string();
        assert!(error.contains("limits.keys_per_sequence_max"), "{error}");
        assert!(keys.has(&key(2)) && !keys.has(&key(3)));
        keys.claim(&Key::from_stored("other"), 3, now).unwrap();
        let later = now + IDLE_AFTER.saturating_sub(Duration::from_secs(1));
        keys.claim(&key(0), 3, later).unwrap();
        keys.claim(&key(3), 3, now + IDLE_AFTER).unwrap();
        assert!(keys.has(&key(0)) && !keys.has(&key(1)), "only the idle ones were forgotten");
    }
}
