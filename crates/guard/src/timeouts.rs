//! Time limits of ledger calls, and retries while other clients lock the ledger.

use std::time::Duration;

use sequent_core::{ErrorKind, SourceError};

/// How many times an opening makes a call while others lock the ledger. Each call has waited for the lock as long as the ledger
/// waits, and has changed nothing.
const CONTENDED_TRIES: usize = 4;

/// How many attempt limits such a call may take. Some ledgers cannot wait less than a second for a lock, which is also the
/// default attempt limit. Within one attempt limit, the call would time out instead of reporting the lock.
const OPENING_FACTOR: u32 = 2;

/// One call. A ledger that does not answer within `limit`, or that others lock, counts as away.
pub(crate) async fn limited<T>(
    limit: Duration,
    step: &str,
    call: impl Future<Output = Result<T, SourceError>>,
) -> Result<T, SourceError> {
    within(limit, step, call).await.map_err(away)
}

/// As [`limited`], with retries for an opening. Many processes may open one cluster at once, and only one writes at a time.
///
/// At most [`CONTENDED_TRIES`] calls, each of at most [`OPENING_FACTOR`] times `limit`.
pub(crate) async fn patiently<T, F>(
    limit: Duration,
    step: &str,
    call: impl FnMut() -> F,
) -> Result<T, SourceError>
where
    F: Future<Output = Result<T, SourceError>>,
{
    bearing(limit * OPENING_FACTOR, step, call).await.map_err(away)
}

/// At most [`CONTENDED_TRIES`] calls of at most `limit` each. Returns the error of the last one.
pub(crate) async fn bearing<T, F>(
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
            answer => return answer,
        }
    }
    within(limit, step, call()).await
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

/// Turns the error of a ledger that does not answer, or that others lock, into `NoWitness`.
pub(crate) fn away(error: SourceError) -> SourceError {
    match error.kind() {
        ErrorKind::Timeout | ErrorKind::Unavailable | ErrorKind::Contended => {
            SourceError::new(ErrorKind::NoWitness, "the ledger is away").because(error)
        }
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    const LIMIT: Duration = Duration::from_secs(1);

    /// A ledger that others lock for the first `busy` calls. Each of these waits slightly longer than an attempt's limit.
    async fn opened(busy: usize) -> Result<(), SourceError> {
        let calls = Cell::new(0);
        patiently(LIMIT, "enlist", async || {
            calls.set(calls.get() + 1);
            if calls.get() > busy {
                return Ok(());
            }
            tokio::time::sleep(LIMIT + LIMIT / 20).await;
            Err(SourceError::new(ErrorKind::Contended, "a lock"))
        })
        .await
    }

    #[tokio::test(start_paused = true)]
    async fn an_opening_bears_with_a_lock_that_is_waited_for_as_long_as_an_attempt() {
        assert!(opened(CONTENDED_TRIES - 1).await.is_ok());
        assert_eq!(opened(CONTENDED_TRIES).await.unwrap_err().kind(), ErrorKind::NoWitness, "not for ever");
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_ledger_is_away_after_one_call() {
        let silent = patiently(LIMIT, "enlist", std::future::pending::<Result<(), SourceError>>);
        let answer = tokio::time::timeout(LIMIT * (OPENING_FACTOR + 1), silent).await;
        assert_eq!(answer.expect("no other call is made").unwrap_err().kind(), ErrorKind::NoWitness);
    }
}
