//! Leases of one sequence, as the source of its reservoir.

pub(crate) mod grant;
pub(crate) mod high_water;
pub(crate) mod request_scope;

use std::{
    process,
    sync::{
        Arc, OnceLock, Weak,
        atomic::{AtomicU32, Ordering},
    },
};

use sequent_buffer::Reservoir;
use sequent_core::{BLOCKS_MAX, Block, Blocks, BoxFuture, Clock, ErrorKind, Source, SourceError};

use crate::{
    client::options::Options,
    error::{Error, SERVER_UNAVAILABLE},
    lease::{grant::Grant, high_water::HighWater, request_scope::RequestScope},
    sequence::SequenceInner,
    telemetry::client_metrics,
    transport::{Verb, endpoints::Endpoints},
};

/// Source that leases numbers of one sequence.
pub(crate) struct Leases {
    scope: RequestScope,
    high_water: Arc<HighWater>,
    endpoints: Arc<Endpoints>,
    options: Arc<Options>,
    /// Clock for the age of leases.
    ages: Arc<dyn Clock>,
    /// Id of the process that leased the numbers held.
    process: AtomicU32,
    /// Owner of the reservoir that is filled from here.
    owner: OnceLock<Weak<SequenceInner>>,
}

impl Leases {
    pub(crate) fn new(
        (scope, high_water): (RequestScope, Arc<HighWater>),
        endpoints: Arc<Endpoints>,
        options: Arc<Options>,
        ages: Arc<dyn Clock>,
    ) -> Self {
        let process = AtomicU32::new(process::id());
        Self { scope, high_water, endpoints, options, ages, process, owner: OnceLock::new() }
    }

    /// Sets the owner, once.
    pub(crate) fn set_reservoir_owner(&self, shared: Weak<SequenceInner>) {
        drop(self.owner.set(shared));
    }

    /// Discards the numbers held if the process id has changed. Fork detection may have missed a copy of the process,
    /// and the numbers belong to the parent.
    fn forget_after_fork(&self) {
        let here = process::id();
        if self.process.swap(here, Ordering::Relaxed) != here
            && let Some(shared) = self.owner.get().and_then(Weak::upgrade)
        {
            Reservoir::forget_all(&shared.reservoir);
        }
    }

    /// Refuses numbers of another version or period than the texts to render.
    fn check_period(&self, grant: &Grant) -> Result<(), Error> {
        let Some(expected) = &self.scope.template_input().expected else { return Ok(()) };
        if (grant.version, grant.period()) == (expected.version, expected.period.as_str()) {
            return Ok(());
        }
        let (name, version, period) = (self.scope.name(), grant.version, grant.period());
        let text = format!(
            "{name} is of version {version} and period {period:?} now, not of version {} and period {:?}",
            expected.version, expected.period
        );
        Err(Error::outdated(text))
    }

    async fn lease(&self, want: u64) -> Result<Blocks, Error> {
        self.forget_after_fork();
        let count = u32::try_from(want.max(1)).unwrap_or(u32::MAX);
        // The age counts from the request: the response may have waited in a suspended process.
        let requested_at = self.ages.now();
        let grant = self.endpoints.ask(Verb::Lease, (&self.scope, &self.high_water), count).await?;
        self.check_period(&grant)?;
        let until = requested_at + self.options.lease_age(grant.max_age.unwrap_or_default());
        if until <= self.ages.now() {
            let text = format!("a lease of {} came when it had aged", self.scope.name());
            return Err(Error::new(SERVER_UNAVAILABLE, text));
        }
        let mut blocks = grant.into_blocks();
        let beyond = blocks.split_off(blocks.len().min(BLOCKS_MAX));
        client_metrics::burnt(client_metrics::PIECES, count_of(&beyond));
        client_metrics::leased(count_of(&blocks));
        Ok(Blocks::from_unsorted(blocks).until(Some(until)))
    }
}

impl Source for Leases {
    fn take(&self, want: u64) -> BoxFuture<'_, Result<Blocks, SourceError>> {
        Box::pin(async move {
            // The kind is for the layers below. Callers get the error itself.
            self.lease(want)
                .await
                .map_err(|error| SourceError::new(ErrorKind::Unavailable, "lease").because(error))
        })
    }
}

fn count_of(blocks: &[Block]) -> u64 {
    blocks.iter().map(Block::count).sum()
}
