//! The turn that ends a refill.

use std::{sync::Arc, time::Duration};

use sequent_core::{Blocks, ErrorKind, SourceError};

use super::Turn;
use crate::{burnt::CLOSED_IN_REFILL, error::TakeError, inner::Inner, lot::Lot};

impl Turn<'_> {
    /// A refill has ended. Returns how much the same task is to ask for next.
    pub(crate) fn refilled(mut self, outcome: Result<Blocks, SourceError>, took: Duration) -> Option<u64> {
        self.state.refilling = false;
        self.state.passed_by = false;
        match outcome {
            Ok(blocks) if blocks.is_empty() => {
                let error = SourceError::new(ErrorKind::Unavailable, "the source gave no number");
                return self.refilled(Err(error), took);
            }
            Ok(blocks) => self.deposit(blocks, took),
            Err(error) => {
                // Nobody waits any more, and a source that fails at once would be asked in a ring: the next caller asks.
                self.failed(&error);
                self.open();
                self.release();
                return None;
            }
        }
        self.settle()
    }

    fn deposit(&mut self, blocks: Blocks, took: Duration) {
        let (count, until) = (blocks.count(), blocks.expiry());
        if self.state.closed {
            return self.burn(count, CLOSED_IN_REFILL);
        }
        let state = &mut **self.state;
        state.appetite.feed(self.now, count, took);
        state.tally.refills += 1;
        state.tally.last_error = None;
        for block in blocks {
            state.stock.push_back(Lot { block, until });
        }
    }

    /// Who can be served from what is here is served; the others fail at once.
    fn failed(&mut self, error: &SourceError) {
        self.state.appetite.fail();
        self.state.tally.refills_failed += 1;
        self.state.tally.last_error = Some(error.clone());
        self.expire();
        while !self.state.queue.is_empty() {
            self.serve_queue();
            let waker = self.state.queue.answer(Err(TakeError::Source(error.clone())));
            self.wakers.extend(waker);
        }
    }
}

/// What a refill that was cut off, with its task, leaves its waiters.
pub(crate) fn cut_off(inner: &Arc<Inner>) {
    let error = SourceError::new(ErrorKind::Unavailable, "the refill was cut off");
    // After a failure nothing is asked for, so there is nothing to go on with.
    Turn::begin(inner).refilled(Err(error), Duration::ZERO);
}
