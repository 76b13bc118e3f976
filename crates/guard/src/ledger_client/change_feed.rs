//! Change feed: the rows that other servers moved since this server last read it.

use sequent_core::{ErrorKind, InstanceId, SourceError, ledger::Moved};

use super::LedgerClient;

/// Rows per page: more than one call can move, so that each page makes progress.
const PAGE: usize = 8192;

impl LedgerClient {
    /// Reads the next moved rows, and whether there may be more. Empty if the version shows that nothing moved. Each row comes
    /// once, provided that `heard` is called afterwards.
    pub(crate) async fn listen(&self, under: &InstanceId) -> Result<(Vec<Moved>, bool), SourceError> {
        let (since, version) = {
            let state = self.state();
            (state.heard, state.version)
        };
        if version <= since || self.in_reach().is_err() {
            return Ok((Vec::new(), false));
        }
        match self.limited("read of what moved", self.ledger.moved(under, since, PAGE)).await {
            // Another instance: the next call reconnects.
            Err(error) if error.kind() == ErrorKind::InstanceChanged => Ok((Vec::new(), false)),
            moved => self.outcome(moved).map(|moved| {
                let more = moved.len() == PAGE;
                (moved, more)
            }),
        }
    }

    /// Acknowledges `moved`, which was read under `under`. The last version of a full page may be incomplete and is read again.
    pub(crate) fn heard(&self, under: &InstanceId, moved: &[Moved], more: bool) {
        let Some(last) = moved.last() else { return };
        let mut state = self.state();
        if state.instance == *under {
            state.heard = state.heard.max(last.version - u64::from(more));
        }
    }
}
