//! The engine in this process as a target.

use std::time::Instant;

use sequent_buffer::TakeError;
use sequent_core::SequenceName;
use sequent_engine::{EngineError, Keyed, Reason};

use super::load::{Got, Missed, Target};

/// The sequence under load.
#[derive(Clone)]
pub(crate) struct Live {
    pub(crate) keyed: Keyed,
    pub(crate) name: SequenceName,
}

impl Target for Live {
    async fn take(&self, count: u64, deadline: Option<Instant>) -> Result<Got, Missed> {
        let reservoir = self.keyed.reservoir();
        let got = match count {
            1 => reservoir.next(deadline).await.map(Got::One),
            count => reservoir.take(count, deadline).await.map(Got::Many),
        };
        got.map_err(|error| self.missed(error))
    }
}

impl Live {
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
