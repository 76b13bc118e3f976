//! Periods that earlier versions have expired. A version in a zone whose clocks show such a period has no counter, and
//! is refused until its clocks are past it.

use std::time::Duration;

use sequent_core::{FieldFault, Key, SequenceName, SourceError, ledger::Fence};
use sequent_format::{Format, Timestamp};

use super::Catalog;
use crate::{
    config::SequencePart,
    definition::{Body, EFFECTIVE_AHEAD_MIN, Effective},
    issue::retention::last_over,
    ledger_timeout::within,
};

/// How many periods ahead the search goes for an instant at which a version may begin: two days of hours, since zones
/// are at most 26 hours apart.
const PERIODS_AHEAD_MAX: u32 = 48;

/// Least time until such an instant, since an operator has to copy it into a definition.
const WRITTEN_WITHIN: Duration = Duration::from_secs(60);

impl Catalog {
    /// The fault of a version whose clocks show an expired period at the instant when it takes effect.
    pub(super) async fn of_ended_periods(
        &self,
        part: &SequencePart,
    ) -> Result<Option<FieldFault>, SourceError> {
        let (name, now) = (&part.name, self.now());
        let held = self.find(name).filter(|held| held.version < part.version);
        let (Some(held), Some(format)) = (held, part.body.format()) else { return Ok(None) };
        // A version that can't begin at all has another fault, which is reported instead.
        let Ok(begins) = self.begins(part, &held) else { return Ok(None) };
        // For a version that takes effect at once, a clock that is a little behind counts, too. For an instant, each
        // server's own clock counts.
        let from = begins.unwrap_or_else(|| now.checked_sub(EFFECTIVE_AHEAD_MIN).unwrap_or(now));
        let Some((own, shown)) = period_at(name, format, from) else { return Ok(None) };
        let about = own.about();
        let read = self.context.ledger.noted(&about);
        let noted = within(self.context.limit, "read which periods are over", read).await?;
        // Periods that expire before every server knows of the next version count, too.
        let soon = now.checked_add(EFFECTIVE_AHEAD_MIN).unwrap_or(now);
        let ending = last_over(&held.in_effect(now), soon).filter(|(fence, _)| fence.periods == own.periods);
        let over = ending.map_or(noted, |(fence, _)| noted.max(fence.to));
        let running = held.in_effect(now);
        let is_shown =
            |format| period_at(name, format, from).filter(|(shown, _)| shown.periods == own.periods);
        let running = running.known().ok().and_then(Body::format).and_then(is_shown);
        // A clock that is behind is behind in any zone: the definition is not at fault.
        if own.to > over || running.is_some_and(|(shown, _)| shown.to <= over) {
            return Ok(None);
        }
        let earliest = now.checked_add(WRITTEN_WITHIN).unwrap_or(now).max(from);
        let mend = match after(name, format, over, earliest) {
            Some(instant) => format!(
                "{} or later is expected; until then no further period ends",
                format.shown_instant(instant)
            ),
            None => "keep the zone, or define another sequence".to_owned(),
        };
        let word = begins.map_or(Effective::Now, Effective::At);
        Ok(Some(word.fault(format!(
            "clocks of {} show period {shown} then, and periods up to {over} are over for good, by retain_periods of a \
             version before: {mend}",
            format.zone_name(),
        ))))
    }
}

/// The period of an instant: its fence, and its key.
fn period_at(name: &SequenceName, format: &Format, at: Timestamp) -> Option<(Fence, String)> {
    let period = format.period_back(at, 0)?;
    let fence = Fence::of(&Key::new(name, &period, &[]).ok()?)?;
    Some((fence, period))
}

/// The first instant, from `earliest` on, whose period is not expired.
fn after(name: &SequenceName, format: &Format, over: u64, earliest: Timestamp) -> Option<Timestamp> {
    let mut at = earliest;
    for _ in 0..PERIODS_AHEAD_MAX {
        if period_at(name, format, at)?.0.to > over {
            return Some(at);
        }
        at = format.period_until(at)?;
    }
    None
}
