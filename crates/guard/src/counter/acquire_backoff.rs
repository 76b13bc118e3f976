//! Backoff of a server while another is about to begin a counter, or has just begun it.

use std::{cmp::Ordering, time::Duration};

use sequent_core::{Epoch, ledger::Row};

use super::Guarded;

/// The upper bound of the first random wait before a refused join of a young epoch is retried. It grows fourfold with each
/// retry, so that servers that meet at one counter disperse.
const CONTENTION_WAIT: Duration = Duration::from_millis(50);

/// How often a refused join is retried while its epoch is young. One more follows when it no longer is.
const CONTENTIONS_MAX: u32 = 3;

/// How often the row is re-read while a claim is young.
const CLAIM_LOOKS_MAX: u32 = 10;

impl Guarded {
    /// Waits for the server that has just opened or claimed. Returns false when it is time to close the cell.
    pub(super) async fn waits_for_another(&self, row: &Row, clock_ms: u64) -> bool {
        let Some(rest) = self.youth(row, clock_ms) else { return false };
        let waited =
            self.state().contention.map_or(0, |(epoch, often)| if epoch == row.epoch { often } else { 0 });
        let pause =
            if row.is_claim() { self.look_again(waited, rest) } else { self.join_again(waited, rest) };
        let Some(pause) = pause else { return false };
        tokio::time::sleep(pause).await;
        let mut state = self.state();
        state.contention = Some((row.epoch, waited + 1));
        state.refused_no_more();
        true
    }

    /// How long the opener may still need to install the epoch, or the claimer to open one. The wait is short, because callers
    /// have deadlines of their own and a dead claimer may have claimed several slots.
    fn youth(&self, row: &Row, clock_ms: u64) -> Option<Duration> {
        let age = Duration::from_millis(clock_ms.saturating_sub(row.opened_at_ms));
        let rest = self.shared.config.attempt_timeout.saturating_sub(age);
        (!rest.is_zero()).then_some(rest)
    }

    /// The wait before the join is retried with a real take; `None` after enough retries.
    fn join_again(&self, waited: u32, rest: Duration) -> Option<Duration> {
        let jitter = self.longest(waited).mul_f64(self.shared.env.entropy.fraction());
        let jitter = jitter.max(Duration::from_millis(1));
        match waited.cmp(&CONTENTIONS_MAX) {
            Ordering::Less => Some(jitter.min(rest)),
            Ordering::Equal => Some(rest + jitter),
            Ordering::Greater => None,
        }
    }

    /// The wait before a row with a claim is read again: short at first, longer later, and at last until the claim is no longer
    /// young.
    fn look_again(&self, waited: u32, rest: Duration) -> Option<Duration> {
        let half = self.longest(waited) / 2;
        let pause = half + half.mul_f64(self.shared.env.entropy.fraction());
        (waited < CLAIM_LOOKS_MAX).then(|| pause.min(rest))
    }

    /// The upper bound of a wait after `waited` others.
    fn longest(&self, waited: u32) -> Duration {
        (CONTENTION_WAIT * 4_u32.pow(waited.min(CONTENTIONS_MAX))).min(self.shared.config.attempt_timeout / 2)
    }

    /// Ends the waiting for this epoch: no other server opens it.
    pub(super) fn waits_no_more(&self, epoch: Epoch) {
        self.state().contention = Some((epoch, CONTENTIONS_MAX.max(CLAIM_LOOKS_MAX) + 1));
    }
}
