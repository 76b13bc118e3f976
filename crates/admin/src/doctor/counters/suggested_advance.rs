//! The least number to which a counter must be advanced so that its row is written again.

use std::collections::BTreeMap;

use sequent_core::{Layout, Span, ledger::Definition};
use sequent_engine::{Body, Timestamp, ledger_timeout::within};

use super::{Kind, Verdict};
use crate::doctor::Doctor;

impl Kind {
    /// Whether an advance rewrites the row that this verdict is about.
    fn is_advanced(self) -> bool {
        let is_behind = matches!(self, Self::FarBehind | Self::Behind | Self::Lagging);
        is_behind || matches!(self, Self::Lowered | Self::BelowPast | Self::StaysAbove | Self::Overtaken)
    }
}

impl Doctor<'_> {
    /// The same verdicts, each with the least number to advance its counter to.
    pub(crate) async fn aimed(&self, mut verdicts: Vec<Verdict>, layout: Layout) -> Vec<Verdict> {
        if !verdicts.iter().any(|verdict| verdict.kind.is_advanced()) {
            return verdicts;
        }
        let spans = self.spans().await;
        for verdict in verdicts.iter_mut().filter(|verdict| verdict.kind.is_advanced()) {
            let span = spans.get(verdict.counter.key.sequence());
            verdict.to = span.and_then(|span| beyond(verdict, *span, layout));
        }
        verdicts
    }

    /// The arithmetic of each sequence as it is in effect. Empty if definitions can't be read.
    async fn spans(&self) -> BTreeMap<String, Span> {
        let limit = self.config.ring.attempt_timeout;
        let read = within(limit, "read definitions", self.ledger.definitions()).await;
        let now = i64::try_from(self.options.env.clock.wall_ms()).ok();
        let now = now.and_then(|now| Timestamp::from_millisecond(now).ok()).unwrap_or_default();
        let of = |held: &Definition| {
            let body = Body::from_text(&held.body).ok()?;
            Some((held.name.to_string(), body.in_effect(held.version, now).1.span()))
        };
        read.map(|(_, defined)| defined.iter().filter_map(of).collect()).unwrap_or_default()
    }
}

/// The last number of the raw id above the row's claim. An advance to less leaves the row as it is, whatever
/// its ceiling, because the row already claims as much.
fn beyond(verdict: &Verdict, span: Span, layout: Layout) -> Option<u64> {
    let place = layout.place_of(verdict.claim.checked_add(1)?, verdict.counter.slot)?;
    let number = place.checked_mul(span.step())?.checked_add(span.start())?;
    (number <= span.limit()).then_some(number)
}
