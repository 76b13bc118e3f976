//! Origin of a number of a dense sequence: how far its counter in the ledger has come.

use sequent_core::{
    Key, Span,
    ledger::{DenseRow, NoteSubject},
};
use sequent_engine::{EngineError, dense_number, dense_ordinal};

use crate::{
    admin::Admin,
    explain::report::{DenseOrigin, Origin},
};

/// Reasons why a counter skipped numbers that nobody got.
#[derive(Debug, Clone, Copy, Default)]
struct Skips {
    /// The number up to which `sequent advance` moved it; 0: it did not.
    advanced: u64,
    /// A loss that `sequent recover` named; 0: none.
    loss: u64,
}

impl Admin {
    /// The origin of a number of a key, and the same as a sentence. `None` if the key has no such number.
    pub(super) async fn of_dense(
        &self,
        key: Key,
        span: Span,
        number: u64,
    ) -> Result<Option<(Origin, String)>, EngineError> {
        let ordinal = dense_ordinal(span, number);
        if ordinal == 0 || dense_number(span, ordinal) != number {
            return Ok(None);
        }
        let place = format!("{number} is number {ordinal} of its dense counter");
        let verdict = match self.dense_row(&key).await? {
            None => {
                let why = self.without(&key, ordinal).await?.unbegun();
                (None, format!("{number} is number {ordinal} of its key, {why}"))
            }
            Some(row) if row.value < ordinal => {
                let last = dense_number(span, row.value);
                (Some(row.value), format!("{place}, which has come to {last}: not given"))
            }
            Some(row) => {
                let skips = Skips { advanced: self.advanced(&key).await?, loss: self.named_loss().await };
                (
                    Some(row.value),
                    format!("{place}, {}", skips.verdict(number, dense_number(span, row.value))),
                )
            }
        };
        let (given, verdict) = verdict;
        Ok(Some((Origin::Dense(DenseOrigin { ordinal, given }), verdict)))
    }

    async fn dense_row(&self, key: &Key) -> Result<Option<DenseRow>, EngineError> {
        let read = self.ledger().dense(Some(key.as_str()), 1);
        let rows = self.0.within("read the dense counter", read).await?;
        Ok(rows.into_iter().find(|row| row.key == *key))
    }

    async fn advanced(&self, key: &Key) -> Result<u64, EngineError> {
        let about = NoteSubject::Advanced(key.clone());
        Ok(self.0.within("read how far it was advanced", self.ledger().noted(&about)).await?)
    }
}

impl Skips {
    /// The sentence for a number that the counter has passed.
    fn verdict(self, number: u64, last: u64) -> String {
        let passed = format!("which has come to {last}");
        match self {
            Self { advanced, .. } if number <= advanced => {
                format!(
                    "{passed}, and was moved past {advanced} by `sequent advance`: given before that, or skipped by it"
                )
            }
            Self { loss: 0, .. } => format!("{passed}: given"),
            Self { loss, .. } => format!(
                "{passed}: given, or skipped when `sequent recover` named a loss (--bump {loss} the last time)"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_have_been_skipped_is_not_called_given() {
        let said = |advanced, loss| Skips { advanced, loss }.verdict(5, 90);
        assert!(said(0, 0).ends_with("come to 90: given"), "{}", said(0, 0));
        assert!(said(4, 0).ends_with(": given"), "{}", said(4, 0));
        assert!(said(5, 0).contains("advance") && said(5, 9).contains("or skipped by it"), "{}", said(5, 0));
        assert!(said(4, 9).contains("or skipped when `sequent recover` named a loss"), "{}", said(4, 9));
    }
}
