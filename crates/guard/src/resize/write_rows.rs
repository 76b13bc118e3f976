//! Writing of the rows of the next layout, a few keys per call.
//!
//! A ledger in a database replaces all keys of a call in one transaction, with two or three round trips per key. With too many
//! keys it would never finish in time, and roll all of them back.

use std::time::Duration;

use sequent_core::{
    ErrorKind, SourceError,
    ledger::{LayoutPage, Ledger, Rebased},
};

use super::Progress;
use crate::{
    VERSION_JUMP, old_layout_marks,
    timeouts::{away, bearing},
};

/// The most keys that one call rebases.
const KEYS_MAX: usize = 32;

/// The most rows that one call writes, unless a single key has more.
const ROWS_MAX: usize = 256;

/// Time limit of one call if the attempt limit is shorter. The ring is fenced, so nobody waits for a number, and a call that
/// was given up is repeated.
const REBASE_LIMIT: Duration = Duration::from_secs(30);

/// Writer of the keys' rows in the next layout, with its progress.
pub(super) struct Rebasing<'a> {
    ledger: &'a dyn Ledger,
    page: &'a LayoutPage,
    limit: Duration,
    /// Keys per call, halved after each call that was not answered in time.
    most: usize,
    /// The ledger's version before the old rows were read.
    begun: u64,
    done: usize,
    of: usize,
}

impl<'a> Rebasing<'a> {
    /// For `of` keys, while the page is `page`, from rows read at the ledger's version `begun` or later. `limit` is the attempt
    /// limit.
    pub(crate) fn new(
        ledger: &'a dyn Ledger,
        page: &'a LayoutPage,
        (of, begun): (usize, u64),
        limit: Duration,
    ) -> Self {
        let slots = page.step.next().map_or(1, |next| usize::from(next.slots()));
        let most = KEYS_MAX.min((ROWS_MAX / slots).max(1));
        Self { ledger, page, limit: limit.max(REBASE_LIMIT), most, begun, done: 0, of }
    }

    /// Writes the rows of these keys, and returns the ledger's version, or 0 without keys. `tell` gets the progress after each
    /// call, even after one that timed out.
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
                        // A loss was named between the check and the write: these keys' rows had it, and have lost it.
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

    /// Refuses to write rows made from data older than a loss that was named since.
    async fn no_loss_since(&self) -> Result<(), SourceError> {
        let version = bearing(self.limit, "inspect", || self.ledger.inspect()).await.map_err(away)?.version;
        if !self.is_beyond_a_loss(version) {
            return Ok(());
        }
        let context = format!("a loss was named meanwhile: {}", self.so_far());
        Err(SourceError::new(ErrorKind::Refused, context))
    }

    fn is_beyond_a_loss(&self, version: u64) -> bool {
        version.saturating_sub(self.begun) >= VERSION_JUMP
    }

    fn so_far(&self) -> String {
        let Self { done, of, .. } = self;
        format!("{done} of {of} keys have their new counters; repeat the command to continue")
    }
}
