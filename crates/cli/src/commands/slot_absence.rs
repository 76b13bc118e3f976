//! Arguments of commands that take a slot out: the duration, and whether it may be the last one.

use std::time::Duration;

use clap::Args;

/// The arguments besides the slot command itself.
#[derive(Debug, Args)]
pub(super) struct SlotAbsence {
    /// How long it lasts: 90s, 30m, 2h, 1day [default: until another slot command]
    #[arg(long = "for", value_name = "DURATION", value_parser = humantime::parse_duration)]
    pub(super) duration: Option<Duration>,
    /// Take it out even if no other slot can give: only dense sequences give numbers then, until a slot is
    /// back
    #[arg(long)]
    pub(super) leave_none: bool,
}
