//! The time limit of a call to the ledger that the engine makes by itself.

use std::time::Duration;

use sequent_core::{ErrorKind, SequenceName, SourceError};

use crate::{EngineError, Reason};

/// `call`, given up after `limit`; the error names the step.
pub(crate) async fn within<T>(
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

/// What a failed call to the ledger means to a caller: away, unless it says that a person has to act.
pub(crate) fn of_ledger(error: &SourceError) -> EngineError {
    let (reason, text) = match error.kind() {
        ErrorKind::LedgerBehind => (Reason::RecoveryRequired, "the ledger is older than what it gave"),
        ErrorKind::Refused => (Reason::RecoveryRequired, "the ledger is refused: a person must mend it"),
        _ => (Reason::LedgerUnavailable, "the ledger is needed, and can't be used"),
    };
    EngineError::new(reason, text).because(error.clone())
}

/// No such sequence.
pub(crate) fn not_found(name: &SequenceName) -> EngineError {
    let text = format!("no sequence {name}: define it, or add a pattern to auto_create");
    EngineError::new(Reason::SequenceNotFound, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_ledger_is_not_one_that_is_away() {
        let of = |kind| of_ledger(&SourceError::new(kind, "read"));
        let exit = |kind| of(kind).exit_code();
        assert_eq!(of(ErrorKind::Refused).reason(), Reason::RecoveryRequired, "at every door");
        assert_eq!(exit(ErrorKind::Refused), 3, "trying again can't help");
        assert_eq!(exit(ErrorKind::LedgerBehind), 3);
        assert_eq!(exit(ErrorKind::Unavailable), 4);
    }
}
