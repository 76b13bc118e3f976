//! Servers as a target, through the client SDK.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use clap::ValueEnum;
use sequent_client::{Error, Number, Sequence};
use sequent_core::{Clock, SequenceName, SystemClock};

use super::load::{Got, Missed, Target};
use crate::{
    failure::Failure,
    remote::{self, Servers},
};

/// How a server is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Via {
    /// One call a request
    Call,
    /// Requests that wait at the same time share a call
    Fresh,
    /// From a lease in memory, as a service would
    Lease,
}

/// A task's way to the servers: it keeps to one of the connections.
pub(crate) struct Served {
    sequences: Arc<Vec<Sequence>>,
    /// The connection of this task.
    at: usize,
    tasks: Arc<AtomicUsize>,
    via: Via,
}

impl Served {
    /// Opens so many connections to each server.
    pub(crate) async fn open(
        servers: &Servers,
        name: &SequenceName,
        (connections, via, patience): (usize, Via, Duration),
    ) -> Result<Self, Failure> {
        let mut sequences = Vec::with_capacity(connections);
        for _ in 0..connections {
            let Some(client) = servers.connect(Some(patience)).await? else { break };
            let sequence = client.sequence(name.as_str())?;
            if via == Via::Lease {
                sequence.ready().await?;
            }
            sequences.push(sequence);
        }
        Ok(Self { sequences: Arc::new(sequences), at: 0, tasks: Arc::default(), via })
    }

    fn sequence(&self) -> Option<&Sequence> {
        self.sequences.get(self.at)
    }
}

impl Clone for Served {
    /// For one more task: connections are dealt in turn.
    fn clone(&self) -> Self {
        let at = self.tasks.fetch_add(1, Ordering::Relaxed) % self.sequences.len().max(1);
        Self { sequences: Arc::clone(&self.sequences), at, tasks: Arc::clone(&self.tasks), via: self.via }
    }
}

impl Target for Served {
    async fn take(&self, count: u64, deadline: Option<Instant>) -> Result<Got, Missed> {
        let Some(sequence) = self.sequence() else {
            return Err(Missed { reason: remote::SERVER_UNAVAILABLE, text: "no connection".to_owned() });
        };
        let one = |number: Number| Got::One(number.into());
        let each = |numbers: Vec<Number>| Got::Each(numbers.into_iter().map(u64::from).collect());
        // A late start leaves that much less patience.
        let left = deadline.map(|end| end.saturating_duration_since(SystemClock.now()));
        let sequence = left.map_or_else(|| sequence.clone(), |left| sequence.clone().deadline(left));
        let got = match (self.via, count) {
            (Via::Lease, 1) => sequence.next().await.map(one),
            (Via::Lease, count) => {
                sequence.next_many(usize::try_from(count).unwrap_or(usize::MAX)).await.map(each)
            }
            (Via::Fresh, 1) => sequence.next_fresh().await.map(one),
            (Via::Call | Via::Fresh, count) => {
                let batch = sequence.next_batch(u32::try_from(count).unwrap_or(u32::MAX)).await;
                batch.map(|batch| each(batch.numbers))
            }
        };
        got.map_err(|error: Error| Missed { reason: remote::reason(&error).0, text: error.to_string() })
    }
}
