//! Time limits and retries of ledger calls that the engine makes itself, and the errors that callers get.

use std::time::Duration;

use sequent_core::{ErrorKind, SequenceName, SourceError};

use crate::error::{EngineError, reason::Reason};

/// `call`, abandoned after `limit`; the error names the step.
pub async fn within<T>(
    limit: Duration,
    step: &str,
    call: impl Future<Output = Result<T, SourceError>>,
) -> Result<T, SourceError> {
    let late = |_| {
        let context = format!("{step}: no answer within {} ms", limit.as_millis());
        SourceError::new(ErrorKind::Timeout, context)
    };
    tokio::time::timeout(limit, call).await.map_err(late)?.map_err(|error| error.during(step))
}

/// Upper limit of a start's attempts at data that others keep locked. Each attempt lasts as long as the store waits
/// for a lock.
const CONTENDED_TRIES: usize = 4;

/// Repeats a call while it meets locks of others: a start is not urgent, and many processes may start at once.
pub async fn patiently<T, F>(mut call: impl FnMut() -> F) -> Result<T, SourceError>
where
    F: Future<Output = Result<T, SourceError>>,
{
    for _ in 1..CONTENDED_TRIES {
        match call().await {
            Err(error) if error.kind() == ErrorKind::Contended => {}
            outcome => return outcome,
        }
    }
    call().await
}

/// The error for an unknown sequence.
pub(crate) fn not_found(name: &SequenceName) -> EngineError {
    let text = format!("no sequence {name}: define it, or add a pattern to auto_create");
    let bound = "a defined sequence, or a name that fits a pattern of auto_create, is expected";
    EngineError::new(Reason::SequenceNotFound, text).of_field("sequence", name, bound)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_start_asks_again_while_others_are_in_the_way_and_not_for_ever() {
        for (busy, good) in [(0, true), (3, true), (4, false)] {
            let mut calls = 0;
            let asked = patiently(|| {
                calls += 1;
                let kind = ErrorKind::Contended;
                std::future::ready(if calls > busy { Ok(()) } else { Err(SourceError::new(kind, "locked")) })
            });
            assert_eq!(asked.await.is_ok(), good, "busy for {busy} tries");
            assert!(calls <= CONTENDED_TRIES);
        }
        let refused = || std::future::ready(Err::<(), _>(SourceError::new(ErrorKind::Refused, "no")));
        assert_eq!(patiently(refused).await.unwrap_err().kind(), ErrorKind::Refused);
    }

    #[test]
    fn a_refused_ledger_is_not_one_that_is_away() {
        let of = |kind| EngineError::from(SourceError::new(kind, "read"));
        let exit = |kind| of(kind).exit_code();
        assert_eq!(of(ErrorKind::Refused).reason(), Reason::RecoveryRequired, "at every api");
        assert_eq!(exit(ErrorKind::Refused), 3, "trying again can't help");
        assert_eq!(exit(ErrorKind::LedgerBehind), 3);
        assert_eq!(exit(ErrorKind::Unavailable), 4);
    }
}
