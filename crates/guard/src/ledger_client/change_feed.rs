//! What others said: the rows that they moved since this server listened last.

use sequent_core::{ErrorKind, InstanceId, SourceError, ledger::Moved};

use super::LedgerClient;

/// Rows told at once: more than one call can move, so that each page gets further.
const PAGE: usize = 8192;

impl LedgerClient {
    /// The next rows that calls have moved, and whether there may be more; none where the version says so. Each is told
    /// once, unless `heard` is not called afterwards.
    pub(crate) async fn listen(&self, under: &InstanceId) -> Result<(Vec<Moved>, bool), SourceError> {
        let (since, version) = {
            let state = self.state();
            (state.heard, state.version)
        };
        if version <= since || self.in_reach().is_err() {
            return Ok((Vec::new(), false));
        }
        match self.limited("read of what moved", self.ledger.moved(under, since, PAGE)).await {
            // Another instance: the next call renews.
            Err(error) if error.kind() == ErrorKind::Reborn => Ok((Vec::new(), false)),
            moved => self.outcome(moved).map(|moved| {
                let more = moved.len() == PAGE;
                (moved, more)
            }),
        }
    }

    /// `moved` has been heard under `under`. Of the last version of a full page there may be more.
    pub(crate) fn heard(&self, under: &InstanceId, moved: &[Moved], more: bool) {
        let Some(last) = moved.last() else { return };
        let mut state = self.state();
        if state.instance == *under {
            state.heard = state.heard.max(last.version - u64::from(more));
        }
    }
}
