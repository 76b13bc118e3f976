//! Waits of a server for another that is about to begin a counter, or has just begun it.

use std::{cmp::Ordering, time::Duration};

use sequent_core::{Epoch, ledger::Row};

use super::Guarded;

/// The longest of the first random waits before a refused join of a young epoch is tried again; four times as long with
/// each further try, so that many servers that meet at one counter part.
const DUEL_WAIT: Duration = Duration::from_millis(50);

/// So often a refused join is tried again while its epoch is young; then once more when it no longer is.
const DUELS_MAX: u32 = 3;

/// So often it is looked, while a claim is young, whether its epoch is there.
const CLAIM_LOOKS_MAX: u32 = 10;

impl Guarded {
    /// Waits for who has opened, or claimed, if that was just now; false when it is time to close the cell.
    pub(super) async fn waits_for_another(&self, row: &Row, clock_ms: u64) -> bool {
        let Some(rest) = self.youth(row, clock_ms) else { return false };
        let waited = self.state().duel.map_or(0, |(epoch, often)| if epoch == row.epoch { often } else { 0 });
        let pause =
            if row.is_claim() { self.look_again(waited, rest) } else { self.join_again(waited, rest) };
        let Some(pause) = pause else { return false };
        tokio::time::sleep(pause).await;
        let mut state = self.state();
        state.duel = Some((row.epoch, waited + 1));
        state.refused = None;
        true
    }

    /// For how long the epoch's opener may still be about to install it, and who claimed about to open one: whoever asks has a deadline
    /// of its own, and a dead claimer's counter is one of several slots that it may have claimed.
    fn youth(&self, row: &Row, clock_ms: u64) -> Option<Duration> {
        let age = Duration::from_millis(clock_ms.saturating_sub(row.opened_at_ms));
        let rest = self.shared.config.attempt_timeout.saturating_sub(age);
        (!rest.is_zero()).then_some(rest)
    }

    /// After how long the join is tried again with a real take; `None` when it has been tried often enough.
    fn join_again(&self, waited: u32, rest: Duration) -> Option<Duration> {
        let jitter = self.longest(waited).mul_f64(self.shared.env.entropy.fraction());
        let jitter = jitter.max(Duration::from_millis(1));
        match waited.cmp(&DUELS_MAX) {
            Ordering::Less => Some(jitter.min(rest)),
            Ordering::Equal => Some(rest + jitter),
            Ordering::Greater => None,
        }
    }

    /// After how long the row is read again, which is a claim as yet: soon, then seldom, and at last when it is no longer young.
    fn look_again(&self, waited: u32, rest: Duration) -> Option<Duration> {
        let half = self.longest(waited) / 2;
        let pause = half + half.mul_f64(self.shared.env.entropy.fraction());
        (waited < CLAIM_LOOKS_MAX).then(|| pause.min(rest))
    }

    /// The longest that a wait lasts which follows so many others.
    fn longest(&self, waited: u32) -> Duration {
        (DUEL_WAIT * 4_u32.pow(waited.min(DUELS_MAX))).min(self.shared.config.attempt_timeout / 2)
    }

    /// Nobody else opens this epoch.
    pub(super) fn waits_no_more(&self, epoch: Epoch) {
        self.state().duel = Some((epoch, DUELS_MAX.max(CLAIM_LOOKS_MAX) + 1));
    }
}
