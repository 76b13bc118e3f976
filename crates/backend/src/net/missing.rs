//! Missing tables or collections.

use sequent_core::Condition;

use super::{Cause, Fault, Purpose};

/// The fault for missing `what` (tables, collections) that may not be created.
pub(crate) fn missing(what: &str, purpose: Purpose) -> Fault {
    let (text, condition) = if purpose == Purpose::Use {
        let text = format!(
            "the {what} were dropped while this process used them, and no new ones are made in their place: restore \
             them; if they are a shard's and lost for good, a `sequent serve` that is started anew makes them, and \
             `sequent rescue SLOT --why TEXT` brings the slot back for those that run"
        );
        (text, Condition::Removed)
    } else {
        let text = format!(
            "no {what} are there, and none may be made here: restore them; where there is nothing to restore, a \
             `sequent serve` that is started anew makes them"
        );
        (text, Condition::NeverMade)
    };
    Fault::refused(Cause::from(text).with(condition))
}
