//! The registry of active keys: a key is loaded once for concurrent requests, found without waiting, and dropped when
//! idle.

use std::{
    borrow::Borrow,
    collections::HashMap,
    hash::{BuildHasher, Hash, Hasher, RandomState},
    sync::{
        Arc, Mutex, RwLock,
        atomic::{AtomicUsize, Ordering},
    },
};

use sequent_core::{Key, sync};
use tokio::sync::watch;

use crate::{
    engine::SWEEP_EVERY,
    error::{EngineError, QuotaFault, reason::Reason},
};

#[cfg(test)]
mod tests;

/// Number of parts with a lock each, so that the load of one key delays few others.
const PARTS: usize = 64;

/// The result of a load. All that wait get the same key, or the same error.
type Made<T> = Option<Result<Arc<T>, EngineError>>;

type Part<T> = HashMap<ByText, Entry<T>>;

enum Entry<T> {
    ActiveKey(Arc<T>),
    Making(watch::Receiver<Made<T>>),
}

impl<T> Entry<T> {
    fn live(&self) -> Option<&Arc<T>> {
        match self {
            Self::ActiveKey(live) => Some(live),
            Self::Making(_) => None,
        }
    }
}

/// A key that is found by its text alone, so that the hot path allocates no key.
#[derive(PartialEq, Eq)]
struct ByText(Key);

impl Borrow<str> for ByText {
    fn borrow(&self) -> &str {
        self.0.as_str()
    }
}

impl Hash for ByText {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.as_str().hash(state);
    }
}

/// Active keys. A value is in use while its `Arc` is held outside the registry.
pub(crate) struct Registry<T> {
    parts: Vec<RwLock<Part<T>>>,
    hasher: RandomState,
    count: AtomicUsize,
    most: usize,
    /// How many keys each sequence has.
    of_sequences: Mutex<HashMap<Box<str>, usize>>,
}

/// What a caller must do about a key that was not found active.
pub(crate) enum Claim<T> {
    /// The key has become active meanwhile.
    ActiveKey(Arc<T>),
    /// Another caller loads it: wait for the result.
    Wait(watch::Receiver<Made<T>>),
    /// This caller must load it, and report the result.
    Make(watch::Sender<Made<T>>),
}

impl<T> Registry<T> {
    pub(crate) fn new(most: usize) -> Self {
        let parts = (0..PARTS).map(|_| RwLock::new(HashMap::new())).collect();
        Self {
            parts,
            hasher: RandomState::new(),
            count: AtomicUsize::new(0),
            most,
            of_sequences: Mutex::default(),
        }
    }

    /// An active key, by its text. This is the hot path.
    pub(crate) fn get(&self, key: &str) -> Option<Arc<T>> {
        let part = sync::read(self.part(key));
        part.get(key).and_then(Entry::live).map(Arc::clone)
    }

    /// Claims the load of a key: exactly one of the callers that find it missing loads it. The key's sequence has at most
    /// `most` keys.
    pub(crate) fn claim(&self, key: &Key, most: u64) -> Result<Claim<T>, EngineError> {
        let mut part = sync::write(self.part(key.as_str()));
        match part.get(key.as_str()) {
            Some(Entry::ActiveKey(live)) => return Ok(Claim::ActiveKey(Arc::clone(live))),
            // An aborted load leaves its sender closed without a result. The next caller then takes over.
            Some(Entry::Making(made)) if made.has_changed().is_ok() || made.borrow().is_some() => {
                return Ok(Claim::Wait(made.clone()));
            }
            Some(Entry::Making(_)) => {}
            None if self.count.load(Ordering::Relaxed) >= self.most => {
                let text = format!(
                    "this server has {} keys in use: its memory is enough for no more (8 KB each, half of it)",
                    self.most
                );
                return Err(EngineError::new(Reason::QuotaExceeded, text));
            }
            None => self.count_in(key, most)?,
        }
        let (sender, receiver) = watch::channel(None);
        part.insert(ByText(key.clone()), Entry::Making(receiver));
        Ok(Claim::Make(sender))
    }

    /// Reports the result of a load to all that wait.
    pub(crate) fn made(
        &self,
        key: &Key,
        result: Result<Arc<T>, EngineError>,
        waiting: &watch::Sender<Made<T>>,
    ) {
        let mut part = sync::write(self.part(key.as_str()));
        match &result {
            Ok(live) => drop(part.insert(ByText(key.clone()), Entry::ActiveKey(Arc::clone(live)))),
            Err(_) => self.forget(&mut part, key),
        }
        drop(part);
        waiting.send_replace(Some(result));
    }

    /// Removes the active keys that are not held elsewhere and for which `idle` is true.
    pub(crate) fn sweep(&self, idle: impl Fn(&Key, &T) -> bool) -> Vec<Arc<T>> {
        self.remove_if(|key, live| Arc::strong_count(live) == 1 && idle(key, live))
    }

    /// Removes an active key if it is still this one.
    pub(crate) fn remove_one(&self, key: &Key, live: &Arc<T>) -> bool {
        let mut part = sync::write(self.part(key.as_str()));
        let is_it = part.get(key.as_str()).and_then(Entry::live).is_some_and(|held| Arc::ptr_eq(held, live));
        if is_it {
            self.forget(&mut part, key);
        }
        is_it
    }

    /// Removes the active keys for which `matching` is true, used or not. Holders keep using the old ones, unless the
    /// caller closes them.
    pub(crate) fn remove(&self, matching: impl Fn(&Key) -> bool) -> Vec<Arc<T>> {
        self.remove_if(|key, _| matching(key))
    }

    fn remove_if(&self, matching: impl Fn(&Key, &Arc<T>) -> bool) -> Vec<Arc<T>> {
        let mut gone = Vec::new();
        for part in &self.parts {
            let mut part = sync::write(part);
            gone.extend(
                part.extract_if(|key, entry| entry.live().is_some_and(|live| matching(&key.0, live))),
            );
            // A table does not shrink by itself: the memory of a million idle keys would never be freed.
            if part.len() < part.capacity() / 4 {
                part.shrink_to_fit();
            }
        }
        self.count_out(gone.iter().map(|(key, _)| &key.0));
        gone.iter().filter_map(|(_, entry)| entry.live().map(Arc::clone)).collect()
    }

    /// All active keys, ascending.
    pub(crate) fn all(&self) -> Vec<(Key, Arc<T>)> {
        let mut all = self.some(usize::MAX, |_, _| true);
        all.sort_by(|a, b| a.0.cmp(&b.0));
        all
    }

    /// The active keys for which `wanted` is true: at most `most`, in no order.
    pub(crate) fn some(&self, most: usize, wanted: impl Fn(&Key, &T) -> bool) -> Vec<(Key, Arc<T>)> {
        let mut found = Vec::new();
        for part in &self.parts {
            let part = sync::read(part);
            let wanted = live_of(&part).filter(|(key, live)| wanted(key, live));
            let room = most.saturating_sub(found.len());
            found.extend(wanted.take(room).map(|(key, live)| (key.clone(), Arc::clone(live))));
        }
        found
    }

    /// The number of active keys for which `wanted` is true.
    pub(crate) fn count(&self, wanted: impl Fn(&Key, &T) -> bool) -> usize {
        let of = |part| live_of(&sync::read(part)).filter(|(key, live)| wanted(key, live)).count();
        self.parts.iter().map(of).sum()
    }

    /// Shows each active key to `add`. Each part is locked on its own, and the task yields in between.
    pub(crate) async fn each(&self, mut add: impl FnMut(&T)) {
        for part in &self.parts {
            live_of(&sync::read(part)).for_each(|(_, live)| add(live));
            tokio::task::yield_now().await;
        }
    }

    /// The number of keys, including those being loaded.
    pub(crate) fn len(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    fn forget(&self, part: &mut Part<T>, key: &Key) {
        if part.remove(key.as_str()).is_some() {
            self.count_out(std::iter::once(key));
        }
    }

    /// Counts one more key, unless its sequence has too many.
    fn count_in(&self, key: &Key, most: u64) -> Result<(), EngineError> {
        let mut of_sequences = sync::lock(&self.of_sequences);
        let name = key.sequence();
        let held = of_sequences.get(name).copied().unwrap_or(0);
        if held as u64 >= most {
            return Err(too_many(name, most));
        }
        of_sequences.insert(name.into(), held + 1);
        self.count.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn count_out<'a>(&self, keys: impl Iterator<Item = &'a Key>) {
        let mut of_sequences = sync::lock(&self.of_sequences);
        for key in keys {
            self.count.fetch_sub(1, Ordering::Relaxed);
            match of_sequences.get_mut(key.sequence()) {
                Some(held) if *held > 1 => *held -= 1,
                _ => drop(of_sequences.remove(key.sequence())),
            }
        }
    }

    #[allow(clippy::cast_possible_truncation, reason = "the low bits are as good as any")]
    fn part(&self, key: &str) -> &RwLock<Part<T>> {
        &self.parts[self.hasher.hash_one(key) as usize % PARTS]
    }
}

/// The refusal of a sequence's further key. Idle keys are looked for at that interval.
pub(crate) fn too_many(sequence: &str, most: u64) -> EngineError {
    let limit = format!("at most {most} keys in use");
    let text = format!(
        "{sequence} has {most} keys in use on this server: {limit} are allowed (limits.keys_per_sequence_max)"
    );
    let fault = QuotaFault { quota: "keys", of: sequence.to_owned(), limit, retry_after: SWEEP_EVERY };
    EngineError::over_quota(text, fault)
}

/// The active keys of a part.
fn live_of<T>(part: &Part<T>) -> impl Iterator<Item = (&Key, &Arc<T>)> {
    part.iter().filter_map(|(key, entry)| entry.live().map(|live| (&key.0, live)))
}
