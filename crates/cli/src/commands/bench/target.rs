//! Target of a bench: the engine in this process, or servers through the SDK.

use std::time::Duration;

use sequent_buffer::TakeError;
use sequent_client::Sequence;
use sequent_core::{Clock, SequenceName, SystemClock};
use sequent_engine::{EngineError, Keyed, Reason};

use crate::remote;

/// A source that answers requests.
pub(super) trait Target: Send + Sync + 'static {
    /// Appends `count` numbers, or none.
    fn take(&self, count: u64, to: &mut Vec<u64>) -> impl Future<Output = Result<(), Missed>> + Send;
}

/// A request that failed.
#[derive(Debug)]
pub(super) struct Missed {
    /// The reason in the table of errors.
    pub(super) reason: &'static str,
    /// The message for people.
    pub(super) text: String,
}

/// The engine's own sequence.
pub(super) struct InProcess {
    pub(super) keyed: Keyed,
    pub(super) name: SequenceName,
    /// Time limit for a request.
    pub(super) patience: Duration,
}

/// A sequence at servers. The SDK sets the time limit of a request.
pub(super) struct Remote(pub(super) Sequence);

impl Target for InProcess {
    async fn take(&self, count: u64, to: &mut Vec<u64>) -> Result<(), Missed> {
        let reservoir = self.keyed.reservoir();
        let deadline = SystemClock.now().checked_add(self.patience);
        let taken = match count {
            1 => reservoir.next(deadline).await.map(|number| to.push(number)),
            _ => reservoir.take(count, deadline).await.map(|blocks| to.extend(blocks.numbers())),
        };
        taken.map_err(|error| self.missed(error))
    }
}

impl InProcess {
    fn missed(&self, error: TakeError) -> Missed {
        let text = error.to_string();
        let reason = match error {
            TakeError::Source(error) => EngineError::of_source(&self.name, error).reason(),
            TakeError::Deadline => Reason::DeadlineExceeded,
            TakeError::Closed => Reason::Draining,
        };
        Missed { reason: reason.as_str(), text }
    }
}

impl Target for Remote {
    async fn take(&self, count: u64, to: &mut Vec<u64>) -> Result<(), Missed> {
        // A separate call for each request: nothing is leased, and nothing is merged.
        match self.0.next_batch(u32::try_from(count).unwrap_or(u32::MAX)).await {
            Ok(batch) => {
                to.extend(batch.numbers.into_iter().map(u64::from));
                Ok(())
            }
            Err(error) => Err(Missed { reason: remote::reason(&error).0, text: error.to_string() }),
        }
    }
}
