//! The instant from which a new version is used, chosen when it is defined.

use std::sync::Arc;

use sequent_core::FieldFault;
use sequent_format::Timestamp;

use super::{Catalog, Entry};
use crate::{
    config::SequencePart,
    definition::{Body, EARLIER_MAX, EFFECTIVE_AHEAD_MIN, Effective},
};

impl Catalog {
    /// The current time by this process's clock.
    pub(crate) fn now(&self) -> Timestamp {
        let now = i64::try_from(self.context.clock.wall_ms()).ok();
        now.and_then(|now| Timestamp::from_millisecond(now).ok()).unwrap_or_default()
    }

    /// The content to write in the place of `held`. It includes the texts of versions before; if it takes effect
    /// later, it includes the version in effect until then.
    pub(super) fn succeeding(&self, part: &SequencePart, held: &Arc<Entry>) -> Result<Body, FieldFault> {
        let Ok(before) = held.known() else { return Ok(part.body.clone()) };
        let body = part.body.after(held.version, before);
        let Some(from) = self.begins(part, held)? else { return Ok(body) };
        let stages: Vec<(u32, &Body)> = before.earlier().chain([(held.version, before)]).collect();
        self.check_room(&stages, from)?;
        let body = body.beginning_at(from, &stages);
        body.check_counters()?;
        Ok(body)
    }

    /// Checks that the version in effect now is among the versions kept. Otherwise a waiting version would be in
    /// effect at once.
    fn check_room(&self, stages: &[(u32, &Body)], from: Timestamp) -> Result<(), FieldFault> {
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
    ) -> Result<Option<Timestamp>, FieldFault> {
        let now = self.now();
        match part.effective {
            Some(Effective::At(instant)) if instant > now => Ok(Some(instant)),
            // A file names the instant as long as it has the definition: a server that starts later applies it at
            // once.
            None | Some(Effective::Now | Effective::At(_)) => Ok(None),
            Some(word @ Effective::NextPeriod) => {
                let running = held.in_effect(now);
                let next = |at| running.known().ok()?.next_period(&part.body, at);
                let soon = now.checked_add(EFFECTIVE_AHEAD_MIN).unwrap_or(now);
                // A period that ends before every server has learned of the version is too near.
                let end = next(now).and_then(|end| if end < soon { next(end) } else { Some(end) });
                let none = || word.fault("neither version has periods: now or an instant is expected");
                end.map(Some).ok_or_else(none)
            }
        }
    }

    /// Checks that a first version takes effect at once: it has no version before it.
    pub(super) fn check_first(&self, part: &SequencePart) -> Result<(), FieldFault> {
        match part.effective {
            Some(word @ Effective::At(instant)) if instant > self.now() => {
                Err(word.fault("no version is before it, which could be in effect until then: leave it out"))
            }
            _ => Ok(()),
        }
    }

    /// Whether a definition names another instant for an existing version than that version has.
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
