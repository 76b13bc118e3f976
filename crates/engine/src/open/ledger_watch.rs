//! The watch over the ledger's instance and version. If either goes back or changes, all prefetched numbers are
//! discarded, because a recovery may have begun below them.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use sequent_core::{Condition, Event, InstanceId, Key, SequenceName, SourceError};
use sequent_guard::LedgerFault;
use tokio::sync::{Notify, watch};

use crate::{engine::Inner, issue::active_key::ActiveKey, telemetry::ledger_in_trouble};

/// Interval of the check without an alarm: not each fault raises an event.
const LOOK_EVERY: Duration = Duration::from_millis(250);

const WHY: &str = "the ledger was restarted, went back, or was recovered: it may repeat";

/// The ledger's current instance, and the reason why it is not trusted, if there is one.
type LedgerState = (InstanceId, Option<LedgerFault>);

/// An alarm raised by events of the ledger, so that the watch need not wait for the next check.
#[derive(Clone, Default)]
pub(crate) struct Alarm {
    rings: Arc<Notify>,
    /// Whether the ledger reports that it was emptied: an operator must act, as after a ledger that went back.
    is_gone: Arc<AtomicBool>,
}

impl Alarm {
    pub(crate) fn hear(&self, event: &Event) {
        match event {
            Event::LedgerLost { condition, .. } => {
                self.is_gone.store(condition.is_some_and(Condition::is_missing), Relaxed);
            }
            Event::LedgerBack { .. } => self.is_gone.store(false, Relaxed),
            Event::LedgerBehind { .. } | Event::LedgerInstanceChanged { .. } => {}
            _ => return,
        }
        self.rings.notify_one();
    }

    fn is_ledger_gone(&self) -> bool {
        self.is_gone.load(Relaxed)
    }
}

/// Watches the guard's view of the ledger, and notifies of each change.
pub(crate) async fn watch(
    engine: Weak<Inner>,
    alarm: Alarm,
    mut stood: LedgerState,
    tell: watch::Sender<()>,
) {
    ledger_in_trouble(stood.1.is_some());
    loop {
        tokio::select! {
            () = alarm.rings.notified() => {}
            () = tokio::time::sleep(LOOK_EVERY) => {}
        }
        let Some(engine) = engine.upgrade() else { return };
        let stands = engine.guard.ledger_state();
        ledger_in_trouble(stands.1.is_some() || alarm.is_ledger_gone());
        if stands != stood {
            if stood.1.is_some() && stands.1.is_none() {
                tracing::warn!("ledger is trusted again");
            }
            stood = stands;
            engine.throw_away();
            tell.send_replace(());
        }
    }
}

impl Inner {
    /// Discards what every active key holds: in its reservoir, being refilled, and carried over in the sources
    /// beneath. Callers that wait for a key are served by its successor.
    fn throw_away(&self) {
        let gone = self.keys.remove(|_| true);
        if gone.is_empty() {
            return;
        }
        tracing::warn!(
            keys = gone.len(),
            "what was ready is burnt: the ledger was restarted, went back, or was recovered"
        );
        for live in gone {
            live.reservoir().close_because(WHY);
        }
    }

    /// Reads the definitions of the ledger: those of `version`, or with `None` whatever the version is. Definitions
    /// that the ledger has lost are written again, unless the ledger is not trusted.
    pub(crate) async fn follow(&self, version: Option<u64>) -> Result<(), SourceError> {
        self.catalog.follow(version).await?;
        self.follow_minimums().await?;
        if self.guard.trouble().is_none() {
            self.catalog.restore().await?;
            if let Err(error) = self.catalog.bring_pending().await {
                tracing::error!(%error, "the configuration's definitions can't be brought: nothing is served before");
            }
        }
        self.let_go();
        Ok(())
    }

    /// Replaces keys whose definition changed. Callers that hold an old key go on with it, unless it may no longer be
    /// used.
    pub(crate) fn let_go(&self) {
        let changed = self.catalog.changed();
        if changed.is_empty() {
            return;
        }
        let names: BTreeSet<&str> = changed.iter().map(SequenceName::as_str).collect();
        for live in self.keys.remove(|key| names.contains(key.sequence())) {
            self.end_where_it_must(&live);
        }
    }

    /// The same for one active key that does not serve the definition in force, before all changed keys are replaced.
    pub(crate) fn let_go_of(&self, key: &Key, live: &Arc<ActiveKey>) {
        if self.keys.remove_one(key, live) {
            self.end_where_it_must(live);
        }
    }

    fn end_where_it_must(&self, live: &ActiveKey) {
        let Some(entry) = self.catalog.find(live.entry().name()) else { return };
        if entry.known().is_err() {
            live.reservoir().close_because("the ledger holds another definition of its sequence");
        } else if entry.is_staged() && !live.entry().is_staged() {
            live.reservoir().close_because("another version of its sequence takes effect at an instant");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use sequent_core::{Condition, Event, ledger::Definition};

    use super::Alarm;
    use crate::{
        config::{Config, Sources},
        engine::Engine,
        error::reason::Reason,
        issue::request_types::NextRequest,
        open::options::Options,
    };

    #[test]
    fn an_emptied_ledger_is_in_trouble_until_it_answers_again() {
        let alarm = Alarm::default();
        let lost = |condition, detail: &str| Event::LedgerLost {
            refused: true,
            condition,
            detail: detail.to_owned(),
        };
        let told = [
            lost(None, "refused: login refused; the tables are gone"),
            lost(Some(Condition::TablesMissing), "refused: write: in other words"),
            Event::LedgerBack { away: Duration::ZERO },
        ];
        let found = told.map(|event| {
            alarm.hear(&event);
            alarm.is_ledger_gone()
        });
        assert_eq!(found, [false, true, false]);
    }

    #[tokio::test]
    async fn a_key_whose_definition_would_repeat_numbers_is_served_no_more() {
        let data = tempfile::tempdir().unwrap();
        let config = Config::load(&Sources::embedded(data.path().join("data"))).unwrap();
        let engine = Engine::open(config, Options::default()).await.unwrap();
        let ask = NextRequest::new("order").unwrap();
        engine.next(&ask).await.unwrap();
        let held = engine.reservoir(&ask.name).await.unwrap();
        let body = r#"{"placement":"spread","start":7,"step":1,"fits":"js"}"#.to_owned();
        let other = Definition { name: ask.name.clone(), version: 2, body };
        engine.0.cluster.ledger.define(&other, Some(1)).await.unwrap();
        engine.0.follow(None).await.unwrap();
        assert_eq!(held.reservoir().stats().reserve, 0, "what was ready is burnt");
        assert!(held.reservoir().next(None).await.is_err(), "whoever holds it");
        let error = engine.next(&ask).await.unwrap_err();
        assert_eq!(error.reason(), Reason::DefinitionConflict, "{error}");
        engine.shutdown().await;
    }
}
