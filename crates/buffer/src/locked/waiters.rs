//! The queue of waiting callers, first come, first served.

use std::{
    collections::{BTreeMap, VecDeque},
    pin::Pin,
    task::Waker,
    time::Instant,
};

use tokio::time::Sleep;

use super::block_queue;
use crate::{error::TakeError, expiring_block::ExpiringBlock};

/// The most callers that may wait at one reservoir. A caller above it fails with an error.
///
/// Servers admit fewer requests than this.
pub(crate) const WAITERS_MAX: usize = 65_536;

/// What a waiting caller gets.
pub(crate) type Answer = Result<Vec<ExpiringBlock>, TakeError>;

/// Wakes a waiting caller when its deadline passes.
pub(crate) type Timer = Pin<Box<Sleep>>;

/// What polling a waiting caller found.
#[derive(Debug)]
pub(crate) enum WaiterPoll {
    Answered(Answer),
    /// Nothing yet. The timer, if there is one, is to be polled and given back.
    Waiting(Option<Timer>),
}

#[derive(Debug)]
struct Waiter {
    id: u64,
    want: u64,
    waker: Waker,
}

/// The waiting callers in order of arrival, and the answers that they have not fetched yet.
#[derive(Debug, Default)]
pub(crate) struct WaiterQueue {
    waiters: VecDeque<Waiter>,
    wanted: u64,
    answers: BTreeMap<u64, Answer>,
    timers: BTreeMap<u64, Timer>,
    next_id: u64,
}

impl WaiterQueue {
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

    /// What the first waiter wants; 0 if nobody waits.
    pub(crate) fn first_want(&self) -> u64 {
        self.waiters.front().map_or(0, |waiter| waiter.want)
    }

    /// Adds a waiter at the end and returns its id. `None` if too many wait.
    pub(crate) fn push(&mut self, want: u64, waker: Waker) -> Option<u64> {
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
    pub(crate) fn answer_first(&mut self, answer: Answer) -> Option<Waker> {
        let waiter = self.waiters.pop_front()?;
        self.wanted = self.wanted.saturating_sub(waiter.want);
        self.answers.insert(waiter.id, answer);
        Some(waiter.waker)
    }

    /// Fetches the answer, or goes on waiting with the newest waker.
    pub(crate) fn poll(&mut self, id: u64, waker: &Waker) -> WaiterPoll {
        if let Some(answer) = self.answers.remove(&id) {
            self.timers.remove(&id);
            return WaiterPoll::Answered(answer);
        }
        if let Some(index) = self.index_of(id)
            && let Some(waiter) = self.waiters.get_mut(index)
        {
            waiter.waker.clone_from(waker);
        }
        WaiterPoll::Waiting(self.timers.remove(&id))
    }

    /// Takes back an answer that expired before it was fetched. The caller waits again, at its old position.
    pub(crate) fn requeue_if_expired(
        &mut self,
        id: u64,
        now: Instant,
        waker: &Waker,
    ) -> Option<Vec<ExpiringBlock>> {
        let answer = self.answers.get(&id)?.as_ref().ok()?;
        if !answer.iter().any(|block| block.is_expired(now)) {
            return None;
        }
        let blocks = self.answers.remove(&id)?.ok()?;
        let want = block_queue::count(&blocks);
        let index = self.waiters.partition_point(|waiter| waiter.id < id);
        self.wanted = self.wanted.saturating_add(want);
        self.waiters.insert(index, Waiter { id, want, waker: waker.clone() });
        Some(blocks)
    }

    /// Keeps the timer of a caller that goes on waiting.
    pub(crate) fn keep_timer(&mut self, id: u64, timer: Timer) {
        self.timers.insert(id, timer);
    }

    /// Removes a caller; returns its answer if it was not fetched yet.
    pub(crate) fn remove(&mut self, id: u64) -> Option<Answer> {
        if let Some(waiter) = self.index_of(id).and_then(|index| self.waiters.remove(index)) {
            self.wanted = self.wanted.saturating_sub(waiter.want);
        }
        self.timers.remove(&id);
        self.answers.remove(&id)
    }

    /// Frees the memory that a burst needed.
    pub(crate) fn shrink(&mut self) {
        self.waiters.shrink_to_fit();
    }

    fn index_of(&self, id: u64) -> Option<usize> {
        self.waiters.binary_search_by_key(&id, |waiter| waiter.id).ok()
    }
}
