//! The rows of the next layout are written by a few keys at a time. A ledger in a database replaces all keys of a call in one
//! transaction, with two or three answers to wait for at each: of too many it would never come to the end, and undo them all.

use std::time::Duration;

use sequent_core::{
    ErrorKind, SourceError,
    ledger::{LayoutPage, Ledger, Rebased},
};

use super::Progress;
use crate::{
    VERSION_LEAP, old_layout_marks,
    timeouts::{away, bearing},
};

/// Keys that one call rebases at most.
const KEYS_MAX: usize = 32;

/// Rows that one call writes at most, unless a single key has more.
const ROWS_MAX: usize = 256;

/// How long one call may take, where an attempt may not take longer. The ring is fenced: nobody waits for a number, and what
/// is given up is done once more.
const REBASE_LIMIT: Duration = Duration::from_secs(30);

/// Keys whose counters of the next layout are being written, and how far that has come.
pub(crate) struct Rebasing<'a> {
    ledger: &'a dyn Ledger,
    page: &'a LayoutPage,
    limit: Duration,
    /// So many keys at once: half as many after each call that was not answered in time.
    most: usize,
    /// The ledger's version before the rows were read that the new ones are made of.
    begun: u64,
    done: usize,
    of: usize,
}

impl<'a> Rebasing<'a> {
    /// Of so many keys, while the page is this one, from rows that were read when the ledger was at version `begun` or later;
    /// `limit` is an attempt's.
    pub(crate) fn new(
        ledger: &'a dyn Ledger,
        page: &'a LayoutPage,
        (of, begun): (usize, u64),
        limit: Duration,
    ) -> Self {
        let slots = page.next.map_or(1, |next| usize::from(next.slots()));
        let most = KEYS_MAX.min((ROWS_MAX / slots).max(1));
        Self { ledger, page, limit: limit.max(REBASE_LIMIT), most, begun, done: 0, of }
    }

    /// Writes the rows of these keys; returns the ledger's version, 0 where there are none. `tell` hears how far it is after
    /// each call, also after one that was in vain.
    pub(crate) async fn write(
        &mut self,
        keys: &[Rebased],
        tell: &(dyn Fn(Progress) + Sync),
    ) -> Result<u64, SourceError> {
        let (mut rest, mut version) = (keys, 0);
        while !rest.is_empty() {
            let (some, others) = rest.split_at(self.most.min(rest.len()));
            self.no_loss_since().await?;
            let call = || self.ledger.rebase(self.page, some);
            match bearing(self.limit, "rebase of counters", call).await {
                Ok(written) => {
                    if self.is_beyond_a_loss(written) {
                        // Between the look and the write: these keys' rows had the loss in them, and have it no more.
                        return Err(old_layout_marks::loss_dropped(self.ledger, written, self.limit).await);
                    }
                    (rest, version) = (others, written);
                    self.done += some.len();
                }
                Err(error) if error.kind() == ErrorKind::Timeout && some.len() > 1 => {
                    self.most = some.len() / 2;
                }
                Err(error) => return Err(away(error).during(self.so_far())),
            }
            tell(Progress::Rebased { done: self.done, of: self.of });
        }
        Ok(version)
    }

    /// Refuses to write what was made of rows from before a loss that was named since.
    async fn no_loss_since(&self) -> Result<(), SourceError> {
        let version = bearing(self.limit, "inspect", || self.ledger.inspect()).await.map_err(away)?.version;
        if !self.is_beyond_a_loss(version) {
            return Ok(());
        }
        let context = format!("a loss was named meanwhile, and counts: {}", self.so_far());
        Err(SourceError::new(ErrorKind::Refused, context))
    }

    fn is_beyond_a_loss(&self, version: u64) -> bool {
        version.saturating_sub(self.begun) >= VERSION_LEAP
    }

    fn so_far(&self) -> String {
        let Self { done, of, .. } = self;
        format!("{done} of {of} keys have their new counters; the same command once more goes on")
    }
}
