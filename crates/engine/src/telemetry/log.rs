//! Events as log lines.

use std::time::Duration;

use sequent_core::{Durability, DurabilityClass, Event, Key, SlotIndex};

/// Logs an event. ERROR means that an operator should look; WARN means that the cluster handles it.
pub(crate) fn log(event: &Event) {
    match event {
        Event::Evicted { slot, kind, detail, retry_after } => {
            // Absent if the slot is not retried automatically: a slot command keeps it out.
            let retry_ms = retry_after.map(millis);
            tracing::warn!(slot, %kind, detail, retry_ms, "slot evicted");
        }
        Event::Rescued { slot, out } => tracing::info!(slot, out_ms = millis(*out), "slot rescued"),
        Event::Drained { slot, after } => {
            let after_ms = millis(*after);
            tracing::info!(
                slot,
                after_ms,
                "slot drained; once all servers say so its store can be taken away"
            );
        }
        Event::ProbeFailed { slot, kind, retry_after } => {
            tracing::debug!(slot, %kind, retry_ms = millis(*retry_after), "rescue tried and failed");
        }
        Event::Quarantined { slot, key, kind, detail, .. } => {
            let what = if key.is_some() { "counter quarantined" } else { "slot quarantined" };
            tracing::error!(slot, key = shown(key.as_ref()), %kind, detail, "{what}");
        }
        Event::Retired { slot, key } => tracing::warn!(slot, %key, "counter is at the end of its range"),
        Event::EpochOpened { slot, key, epoch, base, skipped } => {
            tracing::debug!(slot, %key, %epoch, base, skipped, "counter began a new epoch");
        }
        Event::Lifted { slot, key, to, skipped } => {
            tracing::debug!(slot, %key, to, skipped, "counter was moved to where the ring's others are");
        }
        Event::Regressed { slot, key, detail } => tracing::error!(slot, %key, detail, "counter went back"),
        Event::StoreReborn { slot, was, is } => {
            let was = was.as_ref().map(ToString::to_string);
            tracing::info!(slot, was, %is, "store speaks as another instance");
        }
        Event::StampedAgain { slot } => {
            tracing::error!(
                slot,
                "known store came back empty: stamped again, numbers go on above its ceilings"
            );
        }
        Event::DurabilityChanged { slot, was, is } => settings(*slot, *was, is),
        Event::Founded => tracing::info!("a new ledger got its layout: the cluster begins here"),
        Event::LedgerLost { refused: true, detail, .. } => {
            tracing::error!(detail, "ledger refuses this server");
        }
        Event::LedgerLost { refused: false, detail, .. } => {
            tracing::error!(detail, "ledger can't be reached");
        }
        Event::LedgerBack { away } => tracing::warn!(away_ms = millis(*away), "ledger answers again"),
        Event::LedgerReborn { was, is } => tracing::info!(%was, %is, "ledger speaks as another instance"),
        Event::LedgerBehind { detail } => {
            tracing::error!(detail, "ledger is older than its marks: nothing is opened before `recover`");
        }
        Event::DenseBehind { key, given, found } => {
            tracing::error!(
                %key,
                given,
                found,
                "a dense counter is behind what this server has given: it gives nothing before `recover`"
            );
        }
        Event::ClusterBehind { key, above, permitted } => {
            tracing::error!(
                %key,
                above,
                permitted,
                "a caller was given a number that this cluster can't have given: it is older than its caller, or another"
            );
        }
        Event::NearEnd { key, number, last } => {
            tracing::warn!(%key, number, last, "numbers run out: give the definition room, or a new period");
        }
        Event::GivenAbove { slot, key, given, begun_at } => {
            tracing::error!(
                slot,
                %key,
                given,
                begun_at,
                "raw ids were given above where the counter's next epoch began: numbers may have been given twice; it goes on above them"
            );
        }
        Event::Unreported { counters } => {
            tracing::error!(
                counters,
                "stopped without a last report to the ledger: leave the shards' files as they are until it was used again"
            );
        }
        Event::Unmarked { version, elsewhere, home } => unmarked(*version, *elsewhere, *home),
        Event::Dropped { slot, count, why } => tracing::info!(slot, count, why, "numbers burnt"),
        Event::Obeyed { slot, verb, who, why } => {
            tracing::info!(slot, verb, who, why, "operator's word obeyed");
        }
        other => tracing::info!(event = ?other, "event"),
    }
}

/// Logs a change of a store's durability. A lower class needs an operator's attention; a restored class is logged like
/// any other return.
fn settings(slot: SlotIndex, was: DurabilityClass, is: &Durability) {
    let (was, class, settings) = (was.as_str(), is.class.as_str(), &is.settings);
    if is.class == DurabilityClass::Durable {
        tracing::info!(
            slot,
            was,
            is = class,
            ?settings,
            "store's settings were changed: it is durable again"
        );
    } else {
        tracing::error!(
            slot,
            was,
            is = class,
            ?settings,
            "store's settings were changed: it may forget what it acknowledges"
        );
    }
}

/// Logs an unmarked version. A version without any mark is worse than one marked in the data directory alone.
fn unmarked(version: u64, elsewhere: bool, home: bool) {
    match (elsewhere, home) {
        (false, false) => tracing::error!(
            version,
            "neither another shard nor the data directory took the ledger's mark: a ledger that goes back now goes unnoticed"
        ),
        (true, false) => tracing::error!(version, "the data directory did not take the ledger's mark"),
        (_, true) => tracing::warn!(version, "no other shard took the ledger's mark"),
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

fn shown(key: Option<&Key>) -> Option<&str> {
    key.map(Key::as_str)
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use sequent_core::ErrorKind;
    use tracing::{
        Metadata, Subscriber,
        field::{Field, Visit},
        span,
    };

    use super::*;

    /// Collects the fields of each line.
    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<String>>>);

    impl Visit for Kept {
        fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
            self.0.lock().unwrap().push(format!("{field}={value:?}"));
        }
    }

    impl Subscriber for Kept {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }

        fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
            span::Id::from_u64(1)
        }

        fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

        fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

        fn event(&self, event: &tracing::Event<'_>) {
            event.record(&mut self.clone());
        }

        fn enter(&self, _: &span::Id) {}

        fn exit(&self, _: &span::Id) {}
    }

    fn fields(event: &Event) -> Vec<String> {
        let kept = Kept::default();
        tracing::subscriber::with_default(kept.clone(), || log(event));
        let fields = kept.0.lock().unwrap();
        fields.clone()
    }

    #[test]
    fn a_slot_that_a_person_put_out_has_no_time_of_its_next_try() {
        let evicted = |retry_after| Event::Evicted {
            slot: 1,
            kind: ErrorKind::Refused,
            detail: "by hand".to_owned(),
            retry_after,
        };
        let by_itself = fields(&evicted(Some(Duration::from_millis(500))));
        assert!(by_itself.contains(&"retry_ms=500".to_owned()), "{by_itself:?}");
        let by_hand = fields(&evicted(None));
        assert!(by_hand.contains(&"slot=1".to_owned()), "{by_hand:?}");
        assert!(!by_hand.iter().any(|field| field.starts_with("retry_ms")), "{by_hand:?}");
    }
}
