//! Locks of what keys or tasks share, and a count of writes to it for tests.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks what keys or tasks share. Ignores poisoning: no critical section of this crate stops halfway.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    note_shared_write();
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Marks each place that writes what others read. Tests prove that a success on a healthy slot passes none of them.
pub(crate) fn note_shared_write() {
    #[cfg(test)]
    SHARED_WRITES.with(|writes| writes.set(writes.get() + 1));
}

#[cfg(test)]
thread_local! {
    pub(crate) static SHARED_WRITES: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}
