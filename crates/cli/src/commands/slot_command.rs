//! Slot command of an operator: slot, author, reason and end.

use std::time::{Duration, UNIX_EPOCH};

use clap::Args;
use hyper::Method;
use sequent_admin::{Saying, SlotCommandGiven};
use sequent_core::{Clock, SlotIndex, SystemClock, ledger::SlotVerb};
use sequent_engine::report::SlotCommandReport;
use serde_json::{Value, json};

use crate::{
    admin_client::{Admin, AdminArg},
    failure::Failure,
    open_cluster::Cluster,
    output,
    server_discovery::{Said, Servers},
};

/// Every server that reaches the ledger has read a slot command after two seconds. One more is for its
/// answer.
const HEARD_WITHIN: Duration = Duration::from_secs(3);

/// Pause between two checks of a server that has not obeyed yet.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// The arguments of a slot command.
#[derive(Debug, Args)]
pub(crate) struct SlotCommandArgs {
    /// The slot's index in the ring, from 0
    slot: SlotIndex,
    /// The reason, for later readers
    #[arg(long, value_name = "TEXT")]
    why: String,
    /// The author [default: $SUDO_USER or $USER, at this host]
    #[arg(long, value_name = "NAME")]
    who: Option<String>,
    #[command(flatten)]
    pub(crate) admin: AdminArg,
}

/// The further arguments of a command that takes a slot out.
#[derive(Debug, Args)]
pub(super) struct SlotAbsence {
    /// How long it lasts: 90s, 30m, 2h, 1day [default: until another slot command]
    #[arg(long = "for", value_name = "DURATION", value_parser = humantime::parse_duration)]
    duration: Option<Duration>,
    /// Take it out even if no other slot can give: only dense sequences give numbers then, until a slot is
    /// back
    #[arg(long)]
    leave_none: bool,
}

/// Gives the slot command, by the ledger or by the server that is named, and prints it as the ledger has recorded it.
/// `absence` is for a command that takes the slot out.
pub(super) async fn say(
    cluster: &Cluster,
    verb: SlotVerb,
    speech: SlotCommandArgs,
    absence: Option<&SlotAbsence>,
) -> Result<(), Failure> {
    let slot = speech.slot;
    let (given, peers) = match speech.admin.client(cluster)? {
        Some(admin) => (by_server(&admin, verb, &speech, absence).await?, Servers::at(admin)),
        None => (by_ledger(cluster, verb, speech, absence).await?, Servers::of(cluster, None)?),
    };
    let heard = obeyed(&peers, slot, verb).await;
    if cluster.json() {
        let servers: Vec<Value> = heard.iter().map(|said| heard_as_json(said, slot, verb)).collect();
        let mut report = json!(given);
        report["servers"] = servers.into();
        return output::report(&report);
    }
    let mut lines = vec![format!("slot {slot}: {}", sentence(&given.word))];
    lines.extend(given.tried_at_next_use.as_deref().map(to_be_tried));
    lines.extend(heard.iter().map(|said| heard_line(said, slot, verb)));
    output::lines(lines)
}

/// Opens the ledger, which records the command.
async fn by_ledger(
    cluster: &Cluster,
    verb: SlotVerb,
    SlotCommandArgs { slot, why, who, .. }: SlotCommandArgs,
    absence: Option<&SlotAbsence>,
) -> Result<SlotCommandGiven, Failure> {
    let lasts = absence.and_then(|absence| absence.duration);
    let until_ms = lasts.map(|lasts| SystemClock.wall_ms().saturating_add(whole_ms(lasts)));
    let saying = Saying { slot, verb, who: who.unwrap_or_else(whoever), why, until_ms };
    saying.check()?;
    let leave_none = absence.is_some_and(|absence| absence.leave_none);
    Ok(cluster.admin().await?.command(&saying, leave_none).await?)
}

/// Asks a server, which records the command by the name of this caller's principal.
async fn by_server(
    admin: &Admin,
    verb: SlotVerb,
    SlotCommandArgs { slot, why, who, .. }: &SlotCommandArgs,
    absence: Option<&SlotAbsence>,
) -> Result<SlotCommandGiven, Failure> {
    if let Some(who) = who {
        let bound = "with --admin the server says who it is, by the token or the certificate: leave it out";
        return Err(Failure::argument("--who", who, bound));
    }
    let mut body = json!({ "why": why });
    if let Some(absence) = absence {
        body["leave_none"] = absence.leave_none.into();
        if let Some(lasts) = absence.duration {
            body["for_s"] = whole_ms(lasts).div_ceil(1000).into();
        }
    }
    let path = format!("/v1/slots/{slot}/{}", verb.as_str());
    Ok(given(*slot, verb, &admin.call(Method::POST, &path, &body).await?))
}

/// What a server answers after a slot command.
fn given(slot: SlotIndex, verb: SlotVerb, told: &Value) -> SlotCommandGiven {
    let word = &told["word"];
    let text = |field: &str| word[field].as_str().unwrap_or_default().to_owned();
    let word = SlotCommandReport {
        verb: verb.as_str(),
        who: text("who"),
        why: text("why"),
        at_ms: word["at_ms"].as_u64().unwrap_or_default(),
        until_ms: word["until_ms"].as_u64(),
    };
    let tried = told["tried_at_next_use"].as_array();
    let keys = |keys: &Vec<Value>| keys.iter().filter_map(|key| Some(key.as_str()?.to_owned())).collect();
    SlotCommandGiven { slot, word, tried_at_next_use: tried.map(keys) }
}

/// The report after a rescue. Whether the cleared counters are in order shows only at their next use.
fn to_be_tried(aside: &[String]) -> String {
    let keys = if aside.is_empty() {
        "the counters that were put aside there".to_owned()
    } else {
        format!("the counters that were put aside there ({})", aside.join(", "))
    };
    format!(
        "{keys} are tried at their next use, and so is the slot; `sequent shards` names again what is not in order"
    )
}

/// Asks the running servers until each obeys or does not answer, within the time that a server needs to read
/// a slot command.
async fn obeyed(peers: &Servers, slot: SlotIndex, verb: SlotVerb) -> Vec<Said> {
    let looks = async {
        loop {
            let said = peers.ask().await;
            let waits = |said: &Said| said.status().is_some_and(|status| !obeys(status, slot, verb));
            if !said.iter().any(waits) {
                return said;
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    };
    match tokio::time::timeout(HEARD_WITHIN, looks).await {
        Ok(said) => said,
        Err(_) => peers.ask().await,
    }
}

/// Whether the slot is in the state that the slot command demands. After a rescue this is only so once it
/// serves, which its store may prevent.
fn obeys(status: &Value, slot: SlotIndex, verb: SlotVerb) -> bool {
    let state = state_of(status, slot);
    match verb {
        SlotVerb::Evict => matches!(state, "evicted" | "quarantined"),
        SlotVerb::Drain => matches!(state, "draining" | "drained" | "quarantined"),
        SlotVerb::Rescue => state == "live",
    }
}

fn state_of(status: &Value, slot: SlotIndex) -> &str {
    let shards = status["shards"].as_array().into_iter().flatten();
    let found = shards.filter(|shard| shard["slot"] == slot).find_map(|shard| shard["state"].as_str());
    found.unwrap_or("unknown")
}

fn heard_line(said: &Said, slot: SlotIndex, verb: SlotVerb) -> String {
    let admin = said.admin();
    match said.status() {
        None => {
            let error = said.silence().unwrap_or_default();
            format!("server {admin} did not answer: {error}; it obeys once it reaches the ledger")
        }
        Some(status) if obeys(status, slot, verb) => {
            format!("server {admin} obeys: slot {slot} is {}", state_of(status, slot))
        }
        Some(status) => {
            let within = HEARD_WITHIN.as_secs();
            let state = state_of(status, slot);
            format!(
                "server {admin}: slot {slot} is {state} {within} s after the word: `sequent shards` says why"
            )
        }
    }
}

fn heard_as_json(said: &Said, slot: SlotIndex, verb: SlotVerb) -> Value {
    let admin = said.admin();
    match said.status() {
        None => json!({ "admin": admin, "answered": false, "error": said.silence() }),
        Some(status) => {
            let (state, obeys) = (state_of(status, slot), obeys(status, slot, verb));
            json!({ "admin": admin, "answered": true, "obeys": obeys, "state": state })
        }
    }
}

/// The slot command as text.
pub(super) fn sentence(said: &SlotCommandReport) -> String {
    let SlotCommandReport { verb, who, why, at_ms, until_ms } = said;
    let until =
        until_ms.map_or_else(|| "until another word".to_owned(), |until| format!("until {}", time(until)));
    format!("{verb}, said by {who} at {}, {until}: {why}", time(*at_ms))
}

/// The user behind `sudo`, or this user, and the host.
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
    // The formatter fails for years after 9999.
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
        let said = SlotCommandReport {
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
    #[test]
    fn a_server_obeys_once_the_slot_is_where_the_word_puts_it() {
        let status = |state: &str| json!({ "shards": [{ "slot": 0, "state": "live" }, { "slot": 1, "state": state }] });
        for (verb, state, is_there) in [
            (SlotVerb::Evict, "evicted", true),
            (SlotVerb::Evict, "live", false),
            (SlotVerb::Drain, "draining", true),
            (SlotVerb::Drain, "drained", true),
            (SlotVerb::Drain, "evicted", false),
            (SlotVerb::Rescue, "live", true),
            (SlotVerb::Rescue, "probation", false),
        ] {
            assert_eq!(obeys(&status(state), 1, verb), is_there, "{verb:?} {state}");
        }
        assert_eq!(state_of(&status("live"), 7), "unknown");
    }
}
