//! Status of all slots, and the failure of each slot that is out.

use sequent_core::{SlotFailure, SlotIndex};

use super::Membership;
use crate::{
    health::member::{Member, events::Cause},
    status::{SlotState, SlotStatus},
};

impl Membership {
    /// Why the slot is out, if it is.
    pub(crate) fn failure(&self, slot: SlotIndex) -> Option<SlotFailure> {
        let members = self.members();
        let member = members.slots.get(usize::from(slot))?.as_ref()?;
        let Cause { kind, detail, .. } = member.cause()?.clone();
        Some(SlotFailure { slot, kind, why: member.why(), detail })
    }

    pub(crate) fn status(&self) -> Vec<SlotStatus> {
        let members = self.members();
        let slots = members.slots.iter().zip(&self.counts).zip(0..);
        slots
            .map(|((member, counts), slot)| {
                let member = member.as_ref();
                SlotStatus {
                    slot,
                    state: member.map_or(SlotState::Empty, Member::state),
                    cause: member.and_then(Member::cause).map(|cause| (cause.kind, cause.detail.clone())),
                    why: member.and_then(Member::cause).and_then(|cause| cause.why),
                    since: member.map(Member::since),
                    out_since: member.and_then(Member::out_since),
                    retry_at: member.and_then(Member::due),
                    command: member.and_then(Member::command).cloned(),
                    counts: counts.read(),
                }
            })
            .collect()
    }
}
