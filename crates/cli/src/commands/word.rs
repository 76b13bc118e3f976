//! An operator's word about a slot: who says it, why, and until when.

use std::time::{Duration, UNIX_EPOCH};

use clap::Args;
use sequent_core::{Clock, SlotIndex, SystemClock, ledger::WordVerb};
use sequent_engine::{Saying, report::WordReport};

use crate::{cluster::Cluster, failure::Failure, output};

/// The longest `--why` and `--who`, in bytes: a sentence for a table, not a report.
const TEXT_MAX: usize = 500;

/// What a word needs.
#[derive(Debug, Args)]
pub(super) struct Speech {
    /// The slot's index in the ring, from 0
    slot: SlotIndex,
    /// Why, for whoever looks later
    #[arg(long, value_name = "TEXT")]
    why: String,
    /// Who says it [default: $SUDO_USER or $USER, at this host]
    #[arg(long, value_name = "NAME")]
    who: Option<String>,
}

/// Says the word, and prints it as the ledger has written it.
pub(super) async fn say(
    cluster: &Cluster,
    verb: WordVerb,
    speech: Speech,
    lasts: Option<Duration>,
) -> Result<(), Failure> {
    let Speech { slot, why, who } = speech;
    check("why", &why)?;
    let who = who.unwrap_or_else(whoever);
    check("who", &who)?;
    let until_ms = lasts.map(|lasts| SystemClock.wall_ms().saturating_add(whole_ms(lasts)));
    let desk = cluster.desk().await?;
    let slots = desk.layout().slots();
    if slot >= slots {
        return Err(Failure::argument("slot", slot, format!("0 to {} are allowed", slots - 1)));
    }
    let said = desk.say(&Saying { slot, verb, who, why, until_ms }).await?;
    if cluster.json() {
        return output::report(&serde_json::json!({ "slot": slot, "word": said }));
    }
    output::lines([format!("slot {slot}: {}", sentence(&said))])
}

/// The word as people read it.
pub(super) fn sentence(said: &WordReport) -> String {
    let WordReport { verb, who, why, at_ms, until_ms } = said;
    let until =
        until_ms.map_or_else(|| "until another word".to_owned(), |until| format!("until {}", time(until)));
    format!("{verb}, said by {who} at {}, {until}: {why}", time(*at_ms))
}

fn check(field: &str, text: &str) -> Result<(), Failure> {
    let fits = !text.trim().is_empty() && text.len() <= TEXT_MAX && !text.contains(char::is_control);
    let bound = || format!("1 to {TEXT_MAX} bytes on one line are allowed");
    if fits { Ok(()) } else { Err(Failure::argument(field, text, bound())) }
}

/// The person behind `sudo`, or this user, and the host.
fn whoever() -> String {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let user = variable("SUDO_USER").or_else(|| variable("USER")).unwrap_or_else(|| "unknown".to_owned());
    let kernel = || std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let host = variable("HOSTNAME").or_else(kernel).unwrap_or_else(|| "unknown".to_owned());
    format!("{user}@{}", host.trim())
}

fn whole_ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn time(ms: u64) -> String {
    let instant = UNIX_EPOCH.checked_add(Duration::from_millis(ms));
    // Beyond the year 9999 the formatter has no text.
    let seconds = ms < 253_402_300_800_000;
    match instant.filter(|_| seconds) {
        Some(instant) => humantime::format_rfc3339_seconds(instant).to_string(),
        None => format!("{ms} ms after 1970"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_a_sentence() {
        let said = WordReport {
            verb: "evict",
            who: "ann@ops".into(),
            why: "disk swap".into(),
            at_ms: 1_700_000_000_000,
            until_ms: None,
        };
        let expected = "evict, said by ann@ops at 2023-11-14T22:13:20Z, until another word: disk swap";
        assert_eq!(sentence(&said), expected);
        assert_eq!(time(u64::MAX), "18446744073709551615 ms after 1970");
    }
}
