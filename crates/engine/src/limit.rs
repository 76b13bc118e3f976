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
    let reason = match error.kind() {
        ErrorKind::LedgerBehind => Reason::RecoveryRequired,
        _ => Reason::LedgerUnavailable,
    };
    EngineError::new(reason, "the ledger is needed, and can't be used").because(error.clone())
}

/// No such sequence.
pub(crate) fn not_found(name: &SequenceName) -> EngineError {
    let text = format!("no sequence {name}: define it, or add a pattern to auto_create");
    EngineError::new(Reason::SequenceNotFound, text)
}
