//! Availability of the ledger, and events when it changes.

use std::{sync::MutexGuard, time::Instant};

use sequent_core::{ErrorKind, Event, SourceError};
use tokio::sync::futures::Notified;

use super::{LedgerClient, LedgerFault, State};

impl LedgerClient {
    /// Since when the ledger has been away.
    pub(crate) fn away_since(&self) -> Option<Instant> {
        self.state().away_since
    }

    /// The number of the present outage; `None` if the ledger is available.
    pub(crate) fn loss(&self) -> Option<u64> {
        let losses = self.state().losses;
        (losses % 2 == 1).then_some(losses)
    }

    /// Fails at once if the ledger is known to be away. The heartbeat notices when it is back.
    pub(crate) fn in_reach(&self) -> Result<(), SourceError> {
        self.trusted()?;
        match self.loss() {
            None => Ok(()),
            Some(_) => Err(SourceError::new(ErrorKind::NoWitness, "the ledger is away")),
        }
    }

    pub(super) async fn limited<T>(
        &self,
        step: &'static str,
        call: impl Future<Output = Result<T, SourceError>>,
    ) -> Result<T, SourceError> {
        let limit = self.config.attempt_timeout;
        tokio::time::timeout(limit, call).await.unwrap_or_else(|_| {
            let context = format!("ledger {step}: no answer within {} ms", limit.as_millis());
            Err(SourceError::new(ErrorKind::Timeout, context))
        })
    }

    /// Maps errors: an unavailable ledger becomes `NoWitness`, and a refusal `LedgerBehind`, since neither is a shard's fault.
    /// Both are noted as an outage.
    pub(super) fn outcome<T>(&self, result: Result<T, SourceError>) -> Result<T, SourceError> {
        result.map_err(|error| match error.kind() {
            ErrorKind::Timeout | ErrorKind::Unavailable | ErrorKind::Contended => {
                self.lost(&error);
                SourceError::new(ErrorKind::NoWitness, "the ledger is away").because(error)
            }
            ErrorKind::Refused => {
                // A refusal counts as an outage: grants continue to serve, and nobody asks in vain and burns ids.
                self.lost(&error);
                SourceError::new(ErrorKind::LedgerBehind, "the ledger refuses this server").because(error)
            }
            _ => error,
        })
    }

    /// Notes an outage and reports it once. It is reported again if a silent ledger answers with a refusal, since an operator
    /// must act then.
    pub(super) fn lost(&self, error: &SourceError) {
        let is_refused = error.kind() == ErrorKind::Refused;
        let mut state = self.state();
        let is_new = state.away_since.is_none();
        if is_new {
            state.away_since = Some(self.env.clock.now());
            state.losses += 1;
        }
        let is_news = is_new || is_refused && !state.refused;
        state.refused |= is_refused;
        drop(state);
        if is_new {
            self.news_of_loss.notify_waiters();
        }
        if is_news {
            self.env.events.emit(self.loss_of(error));
        }
    }

    /// Waits for the next outage, from when the future is first polled or enabled.
    pub(crate) fn next_loss(&self) -> Notified<'_> {
        self.news_of_loss.notified()
    }

    /// The event for an unusable ledger. A refusal may have a more specific reason than its error.
    pub(super) fn loss_of(&self, error: &SourceError) -> Event {
        let refused = error.kind() == ErrorKind::Refused;
        let says_why = |trouble: &LedgerFault| {
            matches!(trouble, LedgerFault::Relaid { .. } | LedgerFault::Superseded { .. })
        };
        let said = self.trouble().filter(|trouble| refused && says_why(trouble));
        let why = said.map(|trouble| trouble.error());
        let said = why.as_ref().unwrap_or(error);
        let condition = said.condition();
        let detail = why.as_ref().map_or_else(|| error.to_string(), |why| why.context().to_owned());
        Event::LedgerLost { refused, condition, detail }
    }

    /// Ends the outage, if there was one, after the ledger has answered.
    pub(super) fn is_back(&self, mut state: MutexGuard<'_, State>) {
        let Some(since) = state.away_since.take() else { return };
        state.refused = false;
        state.losses += 1;
        drop(state);
        let away = self.env.clock.now().saturating_duration_since(since);
        self.env.events.emit(Event::LedgerBack { away });
    }
}
