//! Batch of numbers without a lease, by one request.

use sequent_core::Block;
use tokio::time::timeout;

use crate::{
    error::Error,
    lease::grant::Grant,
    number::Number,
    retry_deadline::RetryDeadline,
    sequence::{Sequence, SequenceInner, fork_safe_wait::fork_safe_call},
    telemetry::client_metrics,
    transport::{TemplateData, Verb},
};

/// Limit on numbers of a batch. A server may allow fewer, and then reports its limit.
const BATCH_MAX: u32 = 1_000_000;

/// Numbers of one request.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Batch {
    /// Ascending.
    pub numbers: Vec<Number>,
    /// The text of each number; empty without a template.
    pub texts: Vec<String>,
    /// Key of their period; empty if the sequence never resets.
    pub period: String,
    /// The instant that the texts show, in RFC 3339; empty without a template.
    pub at: String,
    /// Version of the definition.
    pub version: u32,
}

impl Sequence {
    /// `count` numbers that were never part of a lease, in ascending order, or none. For a caller that takes once and
    /// ends: nothing beyond the batch is burnt.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), sequent_client::Error> {
    /// # use sequent_client::Client;
    /// let batch = Client::in_memory().sequence("order")?.next_batch(3).await?;
    /// assert_eq!(batch.numbers.iter().map(|number| number.get()).collect::<Vec<_>>(), [1, 2, 3]);
    /// # Ok(()) }
    /// ```
    pub async fn next_batch(&self, count: u32) -> Result<Batch, Error> {
        let outcome = fork_safe_call(self, |here| Box::pin(here.batch(count))).await;
        match &outcome {
            Ok(batch) => {
                client_metrics::issued("batch", u64::try_from(batch.numbers.len()).unwrap_or(u64::MAX));
            }
            Err(error) => client_metrics::failed(error),
        }
        outcome
    }

    async fn batch(&self, count: u32) -> Result<Batch, Error> {
        if !(1..=BATCH_MAX).contains(&count) {
            return Err(Error::field("count", count, format!("1 to {BATCH_MAX} are allowed")));
        }
        let mut retry = self.retry_deadline();
        loop {
            match self.one_batch(&retry, count).await {
                Ok(mut grant) => {
                    let TemplateData { texts, period, at, .. } = grant.take_template_data();
                    let (version, blocks) = (grant.version, grant.into_blocks());
                    let numbers = blocks.iter().flat_map(Block::iter).filter_map(Number::of).collect();
                    return Ok(Batch { numbers, texts, period, at, version });
                }
                Err(error) => retry.pause_or_fail(error).await?,
            }
        }
    }

    async fn one_batch(&self, retry: &RetryDeadline<'_>, count: u32) -> Result<Grant, Error> {
        let SequenceInner { scope, high_water, .. } = &*self.shared;
        let ask = self.state().endpoints.ask(Verb::Next, (scope, high_water), count);
        timeout(retry.remaining(), ask).await.unwrap_or_else(|_| Err(self.late()))
    }
}
