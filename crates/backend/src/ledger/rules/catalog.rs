//! Rules of definitions, of which the highest version counts, and of slot commands.

use std::cmp::Ordering;

use sequent_core::ledger::{Defined, Definition, SlotCommand};

use crate::ledger::Records;

/// Adds a definition, or returns why it is not added.
pub(crate) fn define(records: &mut Records, definition: &Definition, judged: Option<u32>) -> Defined {
    let held = records.definitions.first().cloned();
    if let Some(held) = &held {
        match definition.version.cmp(&held.version) {
            Ordering::Less => return Defined::Older { held: held.clone() },
            Ordering::Equal if definition.body == held.body => return Defined::Same,
            Ordering::Equal => return Defined::Conflict { held: held.clone() },
            Ordering::Greater => {}
        }
    }
    if held.as_ref().map(|held| held.version) != judged {
        return Defined::Moved { held };
    }
    records.changes.definition = Some(definition.clone());
    records.raise_catalog();
    Defined::Created
}

/// The commands that have not expired.
pub(crate) fn commands_in_force(records: &Records) -> Vec<SlotCommand> {
    let lasts = |word: &&SlotCommand| word.until_ms.is_none_or(|until_ms| records.clock_ms < until_ms);
    records.commands.iter().filter(lasts).cloned().collect()
}

/// Replaces the command of a slot; returns it as written.
pub(crate) fn command(records: &mut Records, word: &SlotCommand) -> SlotCommand {
    let said = SlotCommand { at_ms: records.clock_ms, ..word.clone() };
    records.changes.command = Some(said.clone());
    said
}
