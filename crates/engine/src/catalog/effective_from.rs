//! The instant from which a new version is used, chosen when it is defined.

use std::sync::Arc;

use sequent_format::Timestamp;

use super::{Catalog, Entry};
use crate::{
    catalog::definition::{Body, BodyFault, EARLIER_MAX, EFFECTIVE_AHEAD_MIN, Effective},
    config::SequencePart,
};

impl Catalog {
    /// Now, as this process's clock shows it.
    pub(crate) fn now(&self) -> Timestamp {
        let now = i64::try_from(self.ground.clock.wall_ms()).ok();
        now.and_then(|now| Timestamp::from_millisecond(now).ok()).unwrap_or_default()
    }

    /// What is to be written in the place of `held`: what a version before had of texts is in it, and where it is not in
    /// effect at once, that version too.
    pub(super) fn succeeding(&self, part: &SequencePart, held: &Arc<Entry>) -> Result<Body, BodyFault> {
        let Ok(before) = held.known() else { return Ok(part.body.clone()) };
        let body = part.body.after(held.version, before);
        let Some(from) = self.begins(part, held)? else { return Ok(body) };
        let stages: Vec<(u32, &Body)> = before.earlier().chain([(held.version, before)]).collect();
        self.check_room(&stages, from)?;
        let body = body.beginning_at(from, &stages);
        body.check_counters()?;
        Ok(body)
    }

    /// What is in effect now must be among the versions that are kept, or one that waits would be at once.
    fn check_room(&self, stages: &[(u32, &Body)], from: Timestamp) -> Result<(), BodyFault> {
        let now = self.now();
        let waits = |begins: Timestamp| now < begins && begins < from;
        let waiting = stages.iter().filter(|(_, body)| body.begins().is_some_and(waits)).count();
        if waiting < EARLIER_MAX {
            return Ok(());
        }
        Err(Effective::At(from).fault(format!(
            "{waiting} versions wait already, and at most {EARLIER_MAX} before it are kept, of which one is in effect: now, \
             or an instant before one of theirs, which takes its place, is expected"
        )))
    }

    /// The instant from which a version is in effect; `None`: at once.
    pub(super) fn begins(
        &self,
        part: &SequencePart,
        held: &Arc<Entry>,
    ) -> Result<Option<Timestamp>, BodyFault> {
        let now = self.now();
        match part.effective {
            Some(Effective::At(instant)) if instant > now => Ok(Some(instant)),
            // A file says an instant as long as it has the definition: who comes late takes it up at once.
            None | Some(Effective::Now | Effective::At(_)) => Ok(None),
            Some(word @ Effective::NextPeriod) => {
                let running = held.in_effect(now);
                let next = |at| running.known().ok()?.next_period(&part.body, at);
                let soon = now.checked_add(EFFECTIVE_AHEAD_MIN).unwrap_or(now);
                // One that ends before everybody has heard is too near.
                let end = next(now).and_then(|end| if end < soon { next(end) } else { Some(end) });
                let none = || word.fault("neither version has periods: now or an instant is expected");
                end.map(Some).ok_or_else(none)
            }
        }
    }

    /// Why a version can't be in effect from then on where there is none before it.
    pub(super) fn check_first(&self, part: &SequencePart) -> Result<(), BodyFault> {
        match part.effective {
            Some(word @ Effective::At(instant)) if instant > self.now() => {
                Err(word.fault("no version is before it, which could be in effect until then: leave it out"))
            }
            _ => Ok(()),
        }
    }

    /// Whether a definition says of a version that is there from when on it is in effect, and not what it says itself.
    pub(super) fn begins_otherwise(&self, part: &SequencePart, held: &Body) -> bool {
        let now = self.now();
        let Some(begins) = held.begins().filter(|begins| now < *begins) else { return false };
        match part.effective {
            None | Some(Effective::NextPeriod) => false,
            Some(Effective::Now) => true,
            Some(Effective::At(instant)) => instant != begins,
        }
    }
}
