//! The time limit of a ledger call, and patience with a ledger that others keep busy.

use std::time::Duration;

use sequent_core::{ErrorKind, SourceError};

/// How often an opening makes a call that finds the ledger locked by others. Each time the ledger has waited for them as
/// long as it bears to, and has done nothing.
const CONTENDED_TRIES: usize = 4;

/// One call; a ledger that does not answer within `limit`, or that others keep busy, is away.
pub(crate) async fn limited<T>(
    limit: Duration,
    step: &str,
    call: impl Future<Output = Result<T, SourceError>>,
) -> Result<T, SourceError> {
    within(limit, step, call).await.map_err(away)
}

/// The same for an opening, which is in no hurry: many processes may open one cluster at once, and only one of them
/// writes at a time. At most [`CONTENDED_TRIES`] calls of at most `limit` each.
pub(crate) async fn patiently<T, F>(
    limit: Duration,
    step: &str,
    mut call: impl FnMut() -> F,
) -> Result<T, SourceError>
where
    F: Future<Output = Result<T, SourceError>>,
{
    for _ in 1..CONTENDED_TRIES {
        match within(limit, step, call()).await {
            Err(error) if error.kind() == ErrorKind::Contended => {}
            answer => return answer.map_err(away),
        }
    }
    limited(limit, step, call()).await
}

async fn within<T>(
    limit: Duration,
    step: &str,
    call: impl Future<Output = Result<T, SourceError>>,
) -> Result<T, SourceError> {
    tokio::time::timeout(limit, call).await.unwrap_or_else(|_| {
        let context = format!("ledger {step}: no answer within {} ms", limit.as_millis());
        Err(SourceError::new(ErrorKind::Timeout, context))
    })
}

fn away(error: SourceError) -> SourceError {
    match error.kind() {
        ErrorKind::Timeout | ErrorKind::Unavailable | ErrorKind::Contended => {
            SourceError::new(ErrorKind::NoWitness, "the ledger is away").because(error)
        }
        _ => error,
    }
}
