//! Slot commands: checked, given to the ledger, and reported.

use sequent_core::{
    SlotIndex,
    ledger::{SlotCommand, SlotVerb},
};
use sequent_engine::{
    EngineError,
    report::{QuarantineReport, ShardReport, SlotCommandReport},
};
use serde::Serialize;

use crate::admin::Admin;

/// The longest reason and author, in bytes: a sentence for a table, not a report.
const TEXT_MAX: usize = 500;

/// A slot command, before the ledger has dated it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saying {
    /// The slot.
    pub slot: SlotIndex,
    /// What is to be done with the slot.
    pub verb: SlotVerb,
    /// The operator who gives it.
    pub who: String,
    /// The reason.
    pub why: String,
    /// The end of its validity, in milliseconds since 1970; `None`: until another slot command.
    pub until_ms: Option<u64>,
}

/// A slot command that was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SlotCommandGiven {
    /// The slot.
    pub slot: SlotIndex,
    /// The command as the ledger has recorded it.
    pub word: SlotCommandReport,
    /// After a rescue: the keys of the counters that were put aside in the slot. Each is tried at its next use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tried_at_next_use: Option<Vec<String>>,
}

impl Saying {
    /// Checks author and reason.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT` for a text that is empty, too long, or would not show as it is.
    pub fn check(&self) -> Result<(), EngineError> {
        check("why", &self.why)?;
        check("who", &self.who)
    }
}

impl Admin {
    /// Gives a slot command, unless it takes out the last slot that can give and `leave_none` does not confirm that.
    /// Every server obeys within two seconds. Examines every store before it takes a slot out.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT` for a text or a slot out of bounds, and for the last slot; errors of the ledger. No command was
    /// given then.
    pub async fn command(&self, saying: &Saying, leave_none: bool) -> Result<SlotCommandGiven, EngineError> {
        saying.check()?;
        self.check_slot(saying.slot)?;
        let (slot, is_rescue) = (saying.slot, saying.verb == SlotVerb::Rescue);
        if !is_rescue && !leave_none {
            self.check_not_last(slot).await?;
        }
        let aside = if is_rescue { self.put_aside(slot).await } else { Vec::new() };
        let word = self.say(saying).await?;
        let tried_at_next_use = is_rescue.then(|| aside.into_iter().map(|counter| counter.key).collect());
        Ok(SlotCommandGiven { slot, word, tried_at_next_use })
    }

    /// Gives a slot command without further checks.
    pub async fn say(&self, saying: &Saying) -> Result<SlotCommandReport, EngineError> {
        self.check_slot(saying.slot)?;
        let Saying { slot, verb, who, why, until_ms } = saying.clone();
        let word = SlotCommand { slot, verb, who, why, at_ms: 0, until_ms };
        let said = self.0.within("give a slot command", self.ledger().say(&word)).await?;
        if verb == SlotVerb::Rescue {
            // If this fails, the new slot command hides the notes until another one replaces it.
            self.0.clear_quarantined(slot);
        }
        Ok(SlotCommandReport::from(&said))
    }

    /// The quarantined counters of a slot, as processes of this data directory noted them: those that only a
    /// [rescue](SlotVerb::Rescue) releases. Empty if the slot commands can't be read.
    pub async fn put_aside(&self, slot: SlotIndex) -> Vec<QuarantineReport> {
        let commands = self.0.slot_commands().await;
        let mut aside = commands.map(|commands| self.0.quarantined(&commands)).unwrap_or_default();
        aside.retain(|counter| counter.slot == slot);
        aside
    }

    fn check_slot(&self, slot: SlotIndex) -> Result<(), EngineError> {
        let slots = self.layout().slots();
        if slot < slots {
            return Ok(());
        }
        Err(EngineError::invalid("slot", slot, format!("0 to {} are allowed", slots - 1)))
    }

    /// Refuses to take out the last slot that can give.
    async fn check_not_last(&self, slot: SlotIndex) -> Result<(), EngineError> {
        let Some(others) = others_away(&self.cluster().shards().await, slot) else { return Ok(()) };
        let others = if others.is_empty() { "there is no other".to_owned() } else { others };
        let bound = format!(
            "the last slot that can give ({others}): without it nobody is given a number, but of dense sequences; \
             --leave-none (leave_none) says it all the same"
        );
        Err(EngineError::invalid_text("slot", &slot.to_string(), bound))
    }
}

/// Whether a character shows nothing itself and changes what is shown around it: control characters would command a
/// terminal, marks of direction would show something else than there is, and the separators of lines and paragraphs end a
/// line for some readers.
pub fn is_hidden(c: char) -> bool {
    let is_direction =
        matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || is_direction || matches!(c, '\u{2028}' | '\u{2029}')
}

fn check(field: &'static str, text: &str) -> Result<(), EngineError> {
    let fits = !text.trim().is_empty() && text.len() <= TEXT_MAX && !text.contains(is_hidden);
    let bound =
        || format!("1 to {TEXT_MAX} bytes on one line, without controls and marks of direction, are allowed");
    if fits { Ok(()) } else { Err(EngineError::invalid_text(field, text, bound())) }
}

/// Why none of the other slots can give; `None` if one can.
fn others_away(shards: &[ShardReport], slot: SlotIndex) -> Option<String> {
    let others: Vec<_> =
        shards.iter().filter(|shard| shard.slot != slot).map(|shard| (shard, state(shard))).collect();
    if others.iter().any(|(_, state)| matches!(*state, "open" | "new")) {
        return None;
    }
    let why = others.iter().map(|(shard, state)| format!("slot {} is {state}", shard.slot));
    Some(why.collect::<Vec<_>>().join(", "))
}

/// The result of the store's examination, or the slot command that keeps it out although it could give.
fn state(shard: &ShardReport) -> &str {
    let is_out = shard.word.as_ref().is_some_and(|word| word.verb == SlotVerb::Evict.as_str());
    if is_out && shard.cause.is_none() { "evicted" } else { &shard.state }
}
