//! Where the slots' answers meet the refill that asked, or learn that it has left.

use std::sync::{Mutex, MutexGuard, PoisonError};

use sequent_core::{SlotIndex, SourceError};
use tokio::sync::Notify;

use crate::join::Piece;

/// For how long a refill waits for what it asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Awaited {
    /// To the end: the slot serves, however slowly.
    ToTheEnd,
    /// No longer than a slow answer takes: the slot is out, and silent as far as anybody knows.
    Briefly,
    /// Not at all: others serve.
    Never,
}

/// What one slot said.
pub(super) struct Outcome {
    pub(super) slot: SlotIndex,
    /// Whether the refill waits for it.
    pub(super) awaited: Awaited,
    pub(super) result: Result<Vec<Piece>, SourceError>,
}

/// An outcome that nobody waits for any more.
pub(super) struct Missed {
    pub(super) outcome: Outcome,
    /// Whether its slot was noted as late when the refill left.
    pub(super) late: bool,
}

/// One refill's answers. Never more of them than it asked.
#[derive(Default)]
pub(super) struct Mailbox {
    inbox: Mutex<Inbox>,
    arrival: Notify,
}

#[derive(Default)]
struct Inbox {
    outcomes: Vec<Outcome>,
    expected: Vec<SlotIndex>,
    left: Option<Late>,
}

#[derive(Clone, Copy)]
struct Late(bool);

impl Mailbox {
    /// An answer of this slot is on its way.
    pub(super) fn expect(&self, slot: SlotIndex) {
        self.inbox().expected.push(slot);
    }

    /// Hands an answer in, or back to the caller if the refill has left.
    pub(super) fn deliver(&self, outcome: Outcome) -> Result<(), Missed> {
        let mut inbox = self.inbox();
        if let Some(Late(late)) = inbox.left {
            return Err(Missed { outcome, late });
        }
        if let Some(at) = inbox.expected.iter().position(|slot| *slot == outcome.slot) {
            inbox.expected.swap_remove(at);
        }
        inbox.outcomes.push(outcome);
        drop(inbox);
        self.arrival.notify_one();
        Ok(())
    }

    /// Waits for an answer since the last look.
    pub(super) async fn arrived(&self) {
        self.arrival.notified().await;
    }

    /// The answers since the last look.
    pub(super) fn collect(&self) -> Vec<Outcome> {
        std::mem::take(&mut self.inbox().outcomes)
    }

    /// Waits no more. If that is for lateness, `note` is told of each slot that owes an answer, before it can come.
    pub(super) fn leave(&self, late: bool, note: impl Fn(SlotIndex)) -> Vec<Outcome> {
        let mut inbox = self.inbox();
        if inbox.left.is_none() {
            inbox.left = Some(Late(late));
            inbox.expected.drain(..).filter(|_| late).for_each(note);
        }
        std::mem::take(&mut inbox.outcomes)
    }

    /// Not the crate's `lock`: this one is shared by nobody but one refill and its own asks.
    fn inbox(&self) -> MutexGuard<'_, Inbox> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
