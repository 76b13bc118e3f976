//! Unbuffered numbers, without a lease: concurrent callers share one request.

use std::sync::{
    Arc, Weak,
    atomic::{AtomicUsize, Ordering},
};

use sequent_core::{Block, BoxFuture, Merge};

use crate::{
    error::{Error, ErrorKind, PROTOCOL},
    lease::{
        grant::{Grant, PendingNumber},
        high_water::HighWater,
        request_scope::RequestScope,
    },
    number::Number,
    telemetry::client_metrics,
    transport::{Verb, endpoints::Endpoints},
};

/// Limit on callers per request.
const MERGE_MAX: usize = 1000;

/// Limit on callers that wait for the next request. Further ones wait for a place in the queue.
const QUEUE_MAX: usize = 65_536;

/// After so many requests of the current size the size is doubled, since the limit of a server may be raised.
const RAISE_AFTER: usize = 100;

/// A waiting caller. It is gone once the pointer can't be upgraded.
pub(crate) type Caller = Weak<()>;

/// Queue of the callers of one scope.
pub(crate) type UnbufferedQueue = Merge<Caller, Result<PendingNumber, Error>>;

/// Makes the queue, and the future that drives it. Spawn the future.
pub(crate) fn unbuffered_queue(
    scope: RequestScope,
    high_water: Arc<HighWater>,
    endpoints: Arc<Endpoints>,
) -> (UnbufferedQueue, impl Future<Output = ()> + Send) {
    let (most, full) = (AtomicUsize::new(MERGE_MAX), AtomicUsize::new(0));
    let batcher = Arc::new(UnbufferedBatcher { scope, high_water, endpoints, most, full });
    Merge::new(QUEUE_MAX, MERGE_MAX, move |callers| -> BoxFuture<'static, _> {
        let batcher = Arc::clone(&batcher);
        // In a task of its own, so that a panic fails only the callers of this request and not the driver.
        let answers = tokio::spawn(async move { batcher.answer(&callers).await });
        Box::pin(async move { answers.await.unwrap_or_default() })
    })
}

/// Batches requests of several callers.
struct UnbufferedBatcher {
    scope: RequestScope,
    high_water: Arc<HighWater>,
    endpoints: Arc<Endpoints>,
    /// How many callers one request may have, as far as servers have reported: their limit may be far below ours.
    most: AtomicUsize,
    /// How many requests of that size were served in a row.
    full: AtomicUsize,
}

impl UnbufferedBatcher {
    /// Serves the callers that still wait, with as few requests as servers allow, one after the other.
    async fn answer(&self, callers: &[Caller]) -> Vec<Result<PendingNumber, Error>> {
        let mut answers = Vec::with_capacity(callers.len());
        let mut rest = callers;
        while !rest.is_empty() {
            let most = self.most.load(Ordering::Relaxed).clamp(1, rest.len());
            let (piece, behind) = rest.split_at(most);
            let waiting = piece.iter().filter(|caller| caller.strong_count() > 0).count();
            match self.ask(waiting).await {
                Ok(grant) => {
                    self.served(waiting);
                    answers.extend(distribute(grant, piece));
                    rest = behind;
                }
                // Each caller wants one number, so the batch is too large, and no caller is at fault.
                Err(error) if waiting > 1 && is_count_refused(&error) => self.refused(waiting),
                Err(error) => {
                    answers.extend(rest.iter().map(|_| Err(error.clone())));
                    rest = &[];
                }
            }
        }
        answers
    }

    async fn ask(&self, waiting: usize) -> Result<Option<Grant>, Error> {
        match u32::try_from(waiting).unwrap_or(u32::MAX) {
            0 => Ok(None),
            count => self.endpoints.ask(Verb::Next, (&self.scope, &self.high_water), count).await.map(Some),
        }
    }

    fn refused(&self, waiting: usize) {
        self.most.store(waiting / 2, Ordering::Relaxed);
        self.full.store(0, Ordering::Relaxed);
    }

    fn served(&self, waiting: usize) {
        let most = self.most.load(Ordering::Relaxed);
        if most >= MERGE_MAX || waiting < most {
            return;
        }
        if self.full.fetch_add(1, Ordering::Relaxed) + 1 >= RAISE_AFTER {
            self.most.store((most * 2).min(MERGE_MAX), Ordering::Relaxed);
            self.full.store(0, Ordering::Relaxed);
        }
    }
}

fn is_count_refused(error: &Error) -> bool {
    error.kind() == ErrorKind::InvalidArgument && error.fields().iter().any(|found| found.field == "count")
}

/// Gives each caller one number while there are some. A caller that is gone may be skipped, and may also get one.
fn distribute(grant: Option<Grant>, callers: &[Caller]) -> Vec<Result<PendingNumber, Error>> {
    let blocks = grant.map(Grant::into_blocks).unwrap_or_default();
    let mut numbers = blocks.iter().flat_map(Block::iter).filter_map(Number::of).map(PendingNumber::new);
    let mut next = |caller: &Caller| {
        let number = (caller.strong_count() > 0).then(|| numbers.next()).flatten();
        number.ok_or_else(|| Error::new(PROTOCOL, "an answer of fewer numbers than were asked for"))
    };
    let dealt: Vec<_> = callers.iter().map(&mut next).collect();
    client_metrics::burnt(client_metrics::UNAWAITED, u64::try_from(numbers.count()).unwrap_or(u64::MAX));
    dealt
}
