//! The registry of keys in use: a key is loaded once for concurrent requests, found without waiting, and dropped when idle.

use std::{
    borrow::Borrow,
    collections::HashMap,
    hash::{BuildHasher, Hash, Hasher, RandomState},
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicUsize, Ordering},
    },
};

use sequent_core::Key;
use tokio::sync::watch;

use crate::error::{EngineError, reason::Reason};

#[cfg(test)]
mod tests;

/// Parts with a lock each, so that a key that is being made holds up few others.
const PARTS: usize = 64;

/// The most keys that one process holds at a time.
pub(crate) const LIVE_KEYS_MAX: usize = 1 << 20;

/// What a key that is being made will be: everybody who asks meanwhile gets the same, also the same failure.
type Made<T> = Option<Result<Arc<T>, EngineError>>;

enum Entry<T> {
    ActiveKey(Arc<T>),
    Making(watch::Receiver<Made<T>>),
}

/// A key that is found by its text alone, so that the hot path makes no key of its own.
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

/// Live keys. A value is in use while anybody but the registry holds its `Arc`.
pub(crate) struct Registry<T> {
    parts: Vec<RwLock<HashMap<ByText, Entry<T>>>>,
    hasher: RandomState,
    count: AtomicUsize,
    most: usize,
}

/// What a caller does about a key that is not live.
pub(crate) enum Claim<T> {
    /// Somebody was faster.
    ActiveKey(Arc<T>),
    /// Somebody is making it.
    Wait(watch::Receiver<Made<T>>),
    /// The caller must make it, and say what became of it.
    Make(watch::Sender<Made<T>>),
}

impl<T> Registry<T> {
    pub(crate) fn new(most: usize) -> Self {
        let parts = (0..PARTS).map(|_| RwLock::new(HashMap::new())).collect();
        Self { parts, hasher: RandomState::new(), count: AtomicUsize::new(0), most }
    }

    /// A live key, by its text: the hot path.
    pub(crate) fn get(&self, key: &str) -> Option<Arc<T>> {
        let part = self.part(key).read().unwrap_or_else(PoisonError::into_inner);
        match part.get(key) {
            Some(Entry::ActiveKey(live)) => Some(Arc::clone(live)),
            _ => None,
        }
    }

    /// Who makes the key: exactly one caller of those that find it missing.
    pub(crate) fn claim(&self, key: &Key) -> Result<Claim<T>, EngineError> {
        let mut part = self.part(key.as_str()).write().unwrap_or_else(PoisonError::into_inner);
        match part.get(key.as_str()) {
            Some(Entry::ActiveKey(live)) => return Ok(Claim::ActiveKey(Arc::clone(live))),
            // A maker that is gone without a word has left its sender closed; then the next caller takes over.
            Some(Entry::Making(made)) if made.has_changed().is_ok() || made.borrow().is_some() => {
                return Ok(Claim::Wait(made.clone()));
            }
            Some(Entry::Making(_)) => {}
            None if self.count.load(Ordering::Relaxed) >= self.most => {
                let text = format!("this server holds {} keys: at most {} are allowed", self.most, self.most);
                return Err(EngineError::new(Reason::QuotaExceeded, text));
            }
            None => drop(self.count.fetch_add(1, Ordering::Relaxed)),
        }
        let (sender, receiver) = watch::channel(None);
        part.insert(ByText(key.clone()), Entry::Making(receiver));
        Ok(Claim::Make(sender))
    }

    /// The maker's word, to all who wait.
    pub(crate) fn made(
        &self,
        key: &Key,
        result: Result<Arc<T>, EngineError>,
        waiting: &watch::Sender<Made<T>>,
    ) {
        let mut part = self.part(key.as_str()).write().unwrap_or_else(PoisonError::into_inner);
        match &result {
            Ok(live) => drop(part.insert(ByText(key.clone()), Entry::ActiveKey(Arc::clone(live)))),
            Err(_) => self.forget(&mut part, key),
        }
        drop(part);
        waiting.send_replace(Some(result));
    }

    /// Takes out live keys that nobody holds and for which `idle` is true.
    pub(crate) fn sweep(&self, idle: impl Fn(&Key, &T) -> bool) -> Vec<Arc<T>> {
        let mut gone = Vec::new();
        for part in &self.parts {
            let mut part = part.write().unwrap_or_else(PoisonError::into_inner);
            let unused = |key: &Key, live: &Arc<T>| Arc::strong_count(live) == 1 && idle(key, live);
            gone.extend(
                part.extract_if(|key, entry| matches!(entry, Entry::ActiveKey(live) if unused(&key.0, live))),
            );
            // A table does not shrink by itself: a million keys that were idle would be paid for ever.
            if part.len() < part.capacity() / 4 {
                part.shrink_to_fit();
            }
        }
        self.count.fetch_sub(gone.len(), Ordering::Relaxed);
        live_of(gone)
    }

    /// Takes out a live key, where it is still this one.
    pub(crate) fn remove_one(&self, key: &Key, live: &Arc<T>) -> bool {
        let mut part = self.part(key.as_str()).write().unwrap_or_else(PoisonError::into_inner);
        let is_it = matches!(part.get(key.as_str()), Some(Entry::ActiveKey(held)) if Arc::ptr_eq(held, live));
        if is_it {
            self.forget(&mut part, key);
        }
        is_it
    }

    /// Takes out the live keys of which `matching` is true, used or not: those who hold them go on with the old ones,
    /// unless the caller ends them.
    pub(crate) fn remove(&self, matching: impl Fn(&Key) -> bool) -> Vec<Arc<T>> {
        let mut gone = Vec::new();
        for part in &self.parts {
            let mut part = part.write().unwrap_or_else(PoisonError::into_inner);
            let before = gone.len();
            gone.extend(
                part.extract_if(|key, entry| matches!(entry, Entry::ActiveKey(_)) && matching(&key.0)),
            );
            self.count.fetch_sub(gone.len() - before, Ordering::Relaxed);
        }
        live_of(gone)
    }

    /// Every live key, ascending.
    pub(crate) fn all(&self) -> Vec<(Key, Arc<T>)> {
        let mut all = Vec::new();
        for part in &self.parts {
            let part = part.read().unwrap_or_else(PoisonError::into_inner);
            all.extend(part.iter().filter_map(|(key, entry)| match entry {
                Entry::ActiveKey(live) => Some((key.0.clone(), Arc::clone(live))),
                Entry::Making(_) => None,
            }));
        }
        all.sort_by(|a, b| a.0.cmp(&b.0));
        all
    }

    /// The live keys of which `wanted` is true: at most `most`, in no order.
    pub(crate) fn some(&self, most: usize, wanted: impl Fn(&Key, &T) -> bool) -> Vec<(Key, Arc<T>)> {
        let mut found = Vec::new();
        for part in &self.parts {
            let part = part.read().unwrap_or_else(PoisonError::into_inner);
            let live = part.iter().filter_map(|(key, entry)| match entry {
                Entry::ActiveKey(live) if wanted(&key.0, live) => Some((key.0.clone(), Arc::clone(live))),
                _ => None,
            });
            found.extend(live.take(most.saturating_sub(found.len())));
        }
        found
    }

    /// How many live keys there are of which `wanted` is true.
    pub(crate) fn count(&self, wanted: impl Fn(&Key, &T) -> bool) -> usize {
        let of = |part: &RwLock<HashMap<ByText, Entry<T>>>| {
            let part = part.read().unwrap_or_else(PoisonError::into_inner);
            let is_wanted = |(key, entry): &(&ByText, &Entry<T>)| match entry {
                Entry::ActiveKey(live) => wanted(&key.0, live),
                Entry::Making(_) => false,
            };
            part.iter().filter(is_wanted).count()
        };
        self.parts.iter().map(of).sum()
    }

    /// What `of` makes of every live key, part by part: each part is locked for itself, and `pause` comes in between.
    pub(crate) async fn sum(&self, of: impl Fn(&T) -> u64, pause: impl AsyncFn()) -> u64 {
        let mut sum = 0_u64;
        for part in &self.parts {
            let values = |entry: &Entry<T>| match entry {
                Entry::ActiveKey(live) => of(live),
                Entry::Making(_) => 0,
            };
            let part = part.read().unwrap_or_else(PoisonError::into_inner).values().map(values).sum();
            sum = sum.saturating_add(part);
            pause().await;
        }
        sum
    }

    /// How many keys there are, those in the making among them.
    pub(crate) fn len(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    fn forget(&self, part: &mut HashMap<ByText, Entry<T>>, key: &Key) {
        if part.remove(key.as_str()).is_some() {
            self.count.fetch_sub(1, Ordering::Relaxed);
        }
    }

    #[allow(clippy::cast_possible_truncation, reason = "the low bits are as good as any")]
    fn part(&self, key: &str) -> &RwLock<HashMap<ByText, Entry<T>>> {
        &self.parts[self.hasher.hash_one(key) as usize % PARTS]
    }
}

fn live_of<T>(gone: Vec<(ByText, Entry<T>)>) -> Vec<Arc<T>> {
    let live = |(_, entry)| match entry {
        Entry::ActiveKey(live) => Some(live),
        Entry::Making(_) => None,
    };
    gone.into_iter().filter_map(live).collect()
}
