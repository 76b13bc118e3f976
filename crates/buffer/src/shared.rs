//! The state behind all handles of a reservoir: the fast path, and everything else under one mutex.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use sequent_core::{Event, Source, sync};

use crate::{
    config::ReservoirContext, discard_reason::DROPPED, fast_path::ticket_counter::TicketCounter,
    locked::state::State,
};

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) tickets: TicketCounter,
    pub(crate) source: SourceHandle,
    pub(crate) context: Arc<ReservoirContext>,
    /// For the refill task, which must outlive the caller that started it.
    pub(crate) this: Weak<Shared>,
    state: Mutex<Box<State>>,
}

pub(crate) struct SourceHandle(pub(crate) Arc<dyn Source>);

impl std::fmt::Debug for SourceHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Source")
    }
}

impl Shared {
    pub(crate) fn new(source: Arc<dyn Source>, context: Arc<ReservoirContext>) -> Arc<Self> {
        Arc::new_cyclic(|this| Self {
            tickets: TicketCounter::new(),
            source: SourceHandle(source),
            context,
            this: Weak::clone(this),
            state: Mutex::default(),
        })
    }

    /// Ignores poisoning: only a bug of this crate can panic under the mutex, and the state still repeats no number.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Box<State>> {
        sync::lock(&self.state)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        let count = state.held(&self.tickets);
        if count > 0 {
            self.context.env.events.emit(Event::Dropped { slot: None, count, why: DROPPED });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_per_key_is_bounded() {
        let (always, state) = (size_of::<Shared>(), size_of::<State>());
        println!("a reservoir is {always} bytes, its state {state}");
        assert!(always <= 256, "{always}");
        assert!(state <= 512, "{state}");
    }
}
