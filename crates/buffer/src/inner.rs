//! What a reservoir is made of: the gate, and under one mutex everything that only a turn touches.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Instant,
};

use sequent_core::{Event, Source, SourceError};

use crate::{
    appetite::{Appetite, Needs},
    burnt::DROPPED,
    config::Setting,
    gate::Gate,
    queue::Queue,
    stock::Stock,
    tickets::Tickets,
};

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) gate: Gate,
    pub(crate) source: SourceHandle,
    pub(crate) setting: Arc<Setting>,
    /// For the refill's task, which must outlive the caller that began it.
    pub(crate) me: Weak<Inner>,
    state: Mutex<Box<State>>,
}

pub(crate) struct SourceHandle(pub(crate) Arc<dyn Source>);

impl std::fmt::Debug for SourceHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Source")
    }
}

/// Everything but the gate. The gate is opened and closed only with this in hand.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) tickets: Tickets,
    pub(crate) stock: Stock,
    pub(crate) queue: Queue,
    pub(crate) appetite: Appetite,
    pub(crate) tally: Tally,
    /// When what handles of their own may have carved from closed ranges begins to age.
    pub(crate) lent_until: Option<Instant>,
    /// One refill is out.
    pub(crate) refilling: bool,
    /// Someone who does not wait found nothing since the last refill.
    pub(crate) passed_by: bool,
    pub(crate) closed: bool,
}

/// Counts since the beginning.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Numbers handed out under the mutex.
    pub(crate) served: u64,
    /// Numbers that had left through the gate and came back.
    pub(crate) returned: u64,
    pub(crate) burnt: u64,
    pub(crate) refills: u64,
    pub(crate) refills_failed: u64,
    pub(crate) waits: u64,
    pub(crate) last_error: Option<SourceError>,
}

impl Inner {
    pub(crate) fn new(source: Arc<dyn Source>, setting: Arc<Setting>) -> Arc<Self> {
        Arc::new_cyclic(|me| Self {
            gate: Gate::new(),
            source: SourceHandle(source),
            setting,
            me: Weak::clone(me),
            state: Mutex::default(),
        })
    }

    /// A panic under the mutex can only have been a bug in this crate; what it guards never repeats a number all the same.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Box<State>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Numbers ready.
    pub(crate) fn held(&self, gate: &Gate) -> u64 {
        self.stock.total() + self.tickets.left(gate)
    }

    /// Numbers handed out for good since the beginning.
    pub(crate) fn dealt(&self, gate: &Gate) -> u64 {
        (self.tickets.dealt(gate) + self.tally.served).saturating_sub(self.tally.returned)
    }

    pub(crate) fn needs(&self, inner: &Inner) -> Needs {
        let most = self.queue.first_wants().max(inner.setting.config.at_risk_max);
        Needs {
            held: self.held(&inner.gate),
            lent: inner.gate.lent(),
            waiting: self.queue.wanted().min(most).max(u64::from(self.passed_by)),
            remaining: inner.source.0.remaining(),
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        let count = state.held(&self.gate);
        if count > 0 {
            self.setting.env.events.emit(Event::Dropped { slot: None, count, why: DROPPED });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_costs_little() {
        let (always, state) = (size_of::<Inner>(), size_of::<State>());
        println!("a reservoir is {always} bytes, its state {state}");
        assert!(always <= 256, "{always}");
        assert!(state <= 512, "{state}");
    }
}
