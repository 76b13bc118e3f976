//! Callers that wait for numbers, first come, first served.

use std::{
    collections::{BTreeMap, VecDeque},
    task::Waker,
    time::Instant,
};

use crate::{
    error::TakeError,
    lot::Lot,
    stock,
    wait::{Found, Timer},
};

/// The most callers that may wait at one reservoir.
///
/// Doors admit fewer; past it, a caller is turned away with an error rather than remembered.
pub(crate) const WAITERS_MAX: usize = 65_536;

/// What a caller that waited gets.
pub(crate) type Answer = Result<Vec<Lot>, TakeError>;

#[derive(Debug)]
struct Waiter {
    id: u64,
    want: u64,
    waker: Waker,
}

/// Who waits, in order of arrival, and what was dealt to those that have not fetched it yet.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    waiters: VecDeque<Waiter>,
    wanted: u64,
    answers: BTreeMap<u64, Answer>,
    timers: BTreeMap<u64, Timer>,
    next_id: u64,
}

impl Queue {
    pub(crate) fn is_empty(&self) -> bool {
        self.waiters.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.waiters.len()
    }

    /// Numbers that all waiters want together.
    pub(crate) fn wanted(&self) -> u64 {
        self.wanted
    }

    /// What the first waiter wants, 0 where nobody waits.
    pub(crate) fn first_wants(&self) -> u64 {
        self.waiters.front().map_or(0, |waiter| waiter.want)
    }

    /// Joins at the end; the number names the place. `None` where too many wait.
    pub(crate) fn join(&mut self, want: u64, waker: Waker) -> Option<u64> {
        if self.waiters.len() >= WAITERS_MAX {
            return None;
        }
        let id = self.next_id;
        self.next_id += 1;
        self.wanted = self.wanted.saturating_add(want);
        self.waiters.push_back(Waiter { id, want, waker });
        Some(id)
    }

    /// Answers the first waiter and returns its waker, to be woken outside the mutex.
    pub(crate) fn answer(&mut self, answer: Answer) -> Option<Waker> {
        let waiter = self.waiters.pop_front()?;
        self.wanted = self.wanted.saturating_sub(waiter.want);
        self.answers.insert(waiter.id, answer);
        Some(waiter.waker)
    }

    /// Fetches the answer, or stays with the newest waker.
    pub(crate) fn look(&mut self, id: u64, waker: &Waker) -> Found {
        if let Some(answer) = self.answers.remove(&id) {
            self.timers.remove(&id);
            return Found::Answer(answer);
        }
        if let Some(index) = self.place(id)
            && let Some(waiter) = self.waiters.get_mut(index)
        {
            waiter.waker.clone_from(waker);
        }
        Found::Waiting(self.timers.remove(&id))
    }

    /// What was dealt to a caller and has aged before it was fetched. The caller waits again, before all that came later.
    pub(crate) fn call_back(&mut self, id: u64, now: Instant, waker: &Waker) -> Option<Vec<Lot>> {
        let dealt = self.answers.get(&id)?.as_ref().ok()?;
        if !dealt.iter().any(|lot| lot.expired(now)) {
            return None;
        }
        let lots = self.answers.remove(&id)?.ok()?;
        let want = stock::count(&lots);
        let place = self.waiters.partition_point(|waiter| waiter.id < id);
        self.wanted = self.wanted.saturating_add(want);
        self.waiters.insert(place, Waiter { id, want, waker: waker.clone() });
        Some(lots)
    }

    /// The timer of a caller that goes on waiting.
    pub(crate) fn keep_timer(&mut self, id: u64, timer: Timer) {
        self.timers.insert(id, timer);
    }

    /// Leaves; returns the answer that was dealt and not fetched, if there is one.
    pub(crate) fn leave(&mut self, id: u64) -> Option<Answer> {
        if let Some(waiter) = self.place(id).and_then(|index| self.waiters.remove(index)) {
            self.wanted = self.wanted.saturating_sub(waiter.want);
        }
        self.timers.remove(&id);
        self.answers.remove(&id)
    }

    /// Gives back memory that a burst took.
    pub(crate) fn shrink(&mut self) {
        self.waiters.shrink_to_fit();
    }

    fn place(&self, id: u64) -> Option<usize> {
        self.waiters.binary_search_by_key(&id, |waiter| waiter.id).ok()
    }
}
