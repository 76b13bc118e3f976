//! `sequent shards --watch`: the same again and again, until it is told to stop.

use std::{
    collections::BTreeMap,
    io::{self, IsTerminal, Write},
    time::Duration,
};

use sequent_core::{Clock, SystemClock};
use sequent_engine::Desk;
use serde_json::{Value, json};

use super::obey;
use crate::{admin::Admin, cluster::Cluster, failure::Failure, output, peers::Peers};

/// From one look to the next.
const EVERY: Duration = Duration::from_secs(1);

/// So many looks may pass without a line, where each change is one: then a line says how many can serve, and the rate.
const QUIET_LOOKS_MAX: u32 = 10;

/// Where the screen begins.
const HOME: &str = "\x1b[H";

/// What is wider than the window is cut, and moves no line below.
const NO_WRAP: &str = "\x1b[?7l";
const WRAP: &str = "\x1b[?7h";

/// Lines above the rows of a screen: about the whole, an empty one, and what the columns are.
const SCREEN_HEAD: usize = 3;

/// The most keys of a slot that are named as resting.
const RESTING_NAMED_MAX: usize = 3;

/// Clears what is left of a line, and of the screen below.
const REST_OF_LINE: &str = "\x1b[K";
const REST_OF_SCREEN: &str = "\x1b[J";

/// Whom to look at.
enum Watched {
    /// A server: it knows states, evictions and rates.
    Server(Admin),
    /// Each slot's store, looked at from here.
    Stores(Desk),
}

/// Shows slots until ctrl-c, or until nobody reads any more.
pub(super) async fn watch(cluster: &Cluster, peers: &Peers) -> Result<(), Failure> {
    let watched = Watched::pick(cluster, peers).await?;
    let shown = Shown::new(cluster.json());
    tokio::select! {
        ended = forever(&watched, shown) => ended,
        stopped = tokio::signal::ctrl_c() => stopped.map_err(|error| Failure::failed(format!("no signals: {error}"))),
    }
}

async fn forever(watched: &Watched, mut shown: Shown) -> Result<(), Failure> {
    let mut ticks = tokio::time::interval(EVERY);
    // A look that took long is not made up for by looks without a pause.
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        shown.show(&watched.look().await)?;
    }
}

impl Watched {
    /// The server that is named; else the first that answers of those that run on the data directory; else the stores.
    async fn pick(cluster: &Cluster, peers: &Peers) -> Result<Self, Failure> {
        let [first, others @ ..] = peers.admins() else { return Ok(Self::Stores(cluster.desk().await?)) };
        if !others.is_empty() {
            let said = peers.ask().await;
            let answers = said.iter().zip(peers.admins()).find(|(said, _)| said.status().is_some());
            return Ok(Self::Server(answers.map_or(first, |(_, admin)| admin).clone()));
        }
        Ok(Self::Server(first.clone()))
    }

    async fn look(&self) -> Value {
        let mut look = match self {
            Self::Server(admin) => match admin.status().await {
                Ok(status) => of_server(&status),
                Err(error) => json!({ "error": error }),
            },
            Self::Stores(desk) => {
                let mut slots = desk.shards().await;
                slots.iter_mut().for_each(obey);
                json!({ "slots": slots })
            }
        };
        look["at"] = humantime::format_rfc3339_seconds(SystemClock.wall()).to_string().into();
        look["of"] = match self {
            Self::Server(admin) => admin.address().into(),
            Self::Stores(_) => "stores".into(),
        };
        look
    }
}

/// What of a server's status is watched.
fn of_server(status: &Value) -> Value {
    let rates = status["keys"].as_array().into_iter().flatten().filter_map(|key| key["rate"].as_f64());
    json!({
        "cluster": status["cluster"],
        "phase": status["phase"],
        "trouble": status["trouble"],
        "ledger_away_ms": status["ledger_away_ms"],
        // Not `sum`: that of nothing is minus zero.
        "rate": rates.fold(0.0, |sum, rate| sum + rate),
        "slots": status["shards"],
    })
}

/// How looks are shown.
enum Shown {
    /// One object a line.
    Json,
    /// Drawn anew each time.
    Screen,
    /// A line for each slot that changed, and one for the whole now and then.
    Lines(Said),
}

/// What lines have said.
#[derive(Default)]
struct Said {
    /// The last about each slot.
    facts: BTreeMap<String, String>,
    /// Looks since the last line.
    quiet: u32,
}

impl Said {
    /// What changed, below a line about the whole: at first, with each change, and after [`QUIET_LOOKS_MAX`].
    fn lines(&mut self, look: &Value) -> Vec<String> {
        let news = news(&mut self.facts, look);
        self.quiet += 1;
        if news.is_empty() && self.quiet < QUIET_LOOKS_MAX {
            return news;
        }
        self.quiet = 0;
        // An error is told once, as one of the news.
        let whole = look["error"].is_null().then(|| head(look));
        whole.into_iter().chain(news).collect()
    }
}

impl Shown {
    fn new(json: bool) -> Self {
        match (json, io::stdout().is_terminal()) {
            (true, _) => Self::Json,
            (false, true) => Self::Screen,
            (false, false) => Self::Lines(Said::default()),
        }
    }

    fn show(&mut self, look: &Value) -> Result<(), Failure> {
        match self {
            Self::Json => output::json(look),
            Self::Screen => output::write(|out| draw(out, look, lines_max())),
            Self::Lines(said) => output::lines(said.lines(look)),
        }
    }
}

/// How many lines the window has room for, where it has a size. The cursor stands on the last one: written on, it would scroll.
fn lines_max() -> usize {
    terminal_size::terminal_size().map_or(usize::MAX, |(_, height)| usize::from(height.0).saturating_sub(1))
}

/// As much as the window has room for: where that is not every slot, those that can't serve come first.
fn draw(out: &mut dyn Write, look: &Value, lines_max: usize) -> io::Result<()> {
    write!(out, "{HOME}{NO_WRAP}")?;
    let mut shown: Vec<&Value> = slots(look).collect();
    let all = shown.len();
    if all.saturating_add(SCREEN_HEAD) > lines_max {
        shown.sort_by_key(|slot| (serves(slot), slot["state"] == "empty"));
        shown.truncate(lines_max.saturating_sub(SCREEN_HEAD + 1));
    }
    let rows: Vec<Vec<String>> = shown.iter().copied().map(row).collect();
    let mut lines = vec![head(look), String::new()];
    if all > 0 {
        lines.extend(output::table(&["slot", "state", "store", "evictions", "rescues", "last cause"], &rows));
    }
    let more = all - rows.len();
    if more > 0 {
        lines.push(format!("… and {more} more"));
    }
    // A window of a few lines has no room for what is above the rows.
    lines.truncate(lines_max);
    for line in lines {
        writeln!(out, "{line}{REST_OF_LINE}")?;
    }
    write!(out, "{REST_OF_SCREEN}{WRAP}")
}

/// One line about the whole.
fn head(look: &Value) -> String {
    let text = |field: &str| look[field].as_str().unwrap_or_default().to_owned();
    let live = slots(look).filter(|slot| serves(slot)).count();
    let stored = slots(look).filter(|slot| slot["state"] != "empty").count();
    let mut parts = vec![text("at"), format!("{} {}", text("cluster"), text("phase")).trim().to_owned()];
    if stored > 0 {
        // A server knows its ring; a look at the stores finds what could be in it.
        let word = if look["phase"].is_null() { "can serve" } else { "live" };
        parts.push(format!("{live} of {stored} {word}"));
    }
    let resting = slots(look).filter(|slot| rests(slot).is_some()).count();
    if resting > 0 {
        parts.push(format!("{resting} of them {}", if resting == 1 { "rests" } else { "rest" }));
    }
    parts.extend(look["rate"].as_f64().map(|rate| format!("{rate:.0} numbers a second")));
    parts.extend(look["ledger_away_ms"].as_u64().map(|ms| format!("ledger away for {}", super::span(ms))));
    parts.extend(look["trouble"].as_str().map(ToOwned::to_owned));
    parts.extend(look["error"].as_str().map(|error| format!("{}: {error}", text("of"))));
    parts.retain(|part| !part.is_empty());
    parts.join("  ")
}

fn serves(slot: &Value) -> bool {
    matches!(slot["state"].as_str(), Some("live" | "open" | "new"))
}

/// Which keys a slot that could serve is not asked for, until the other slots have come up to it. How far ahead it is changes from
/// second to second.
fn rests(slot: &Value) -> Option<String> {
    let resting = slot["resting"].as_array().filter(|resting| serves(slot) && !resting.is_empty())?;
    let keys: Vec<&str> =
        resting.iter().take(RESTING_NAMED_MAX).filter_map(|rest| rest["key"].as_str()).collect();
    let more = if resting.len() > keys.len() { ", and more" } else { "" };
    Some(format!("rests until the other slots come up to it: {}{more}", keys.join(", ")))
}

fn slots(look: &Value) -> impl Iterator<Item = &Value> {
    look["slots"].as_array().into_iter().flatten()
}

fn row(slot: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let count = |field: &str| slot[field].as_u64().map_or_else(|| "-".to_owned(), |count| count.to_string());
    let since = slot["out_ms"].as_u64().or_else(|| slot["since_ms"].as_u64());
    let since = since.map(|ms| format!(" for {}", super::span(ms / 1000 * 1000)));
    vec![
        slot["slot"].to_string(),
        format!("{}{}", text(&slot["state"]), since.unwrap_or_default()),
        text(&slot["store"]),
        count("evictions"),
        count("rescues"),
        cause(slot),
    ]
}

/// Why a slot does not serve, or is not asked.
fn cause(slot: &Value) -> String {
    let (kind, detail) = (slot["cause"]["kind"].as_str(), slot["cause"]["detail"].as_str());
    let of = |kind: &str| format!("{kind}: {}", output::detail(kind, detail.unwrap_or_default()));
    kind.map(of).or_else(|| rests(slot)).unwrap_or_default()
}

/// A line for the whole where something could not be had, and one for each slot that is another than before.
fn news(said: &mut BTreeMap<String, String>, look: &Value) -> Vec<String> {
    let at = look["at"].as_str().unwrap_or_default();
    let mut facts: Vec<(String, String)> = Vec::new();
    for field in ["error", "trouble"] {
        facts.push((field.to_owned(), look[field].as_str().unwrap_or_default().to_owned()));
    }
    for slot in slots(look) {
        let mut cells = row(slot);
        // What goes on from second to second is no news.
        slot["state"].as_str().unwrap_or_default().clone_into(&mut cells[1]);
        let [number, state, store, evictions, rescues, cause] = &cells[..] else { continue };
        let moves = if evictions == "-" {
            String::new()
        } else {
            format!("  evictions {evictions}  rescues {rescues}")
        };
        let line = format!("slot {number}  {state}  {store}{moves}  {cause}");
        facts.push((number.clone(), line.trim_end().to_owned()));
    }
    let is_news =
        |(of, line): &(String, String)| said.get(of).map_or(!line.is_empty(), |before| before != line);
    let news: Vec<(String, String)> = facts.into_iter().filter(is_news).collect();
    let line = |(_, line): &(String, String)| {
        let line = if line.is_empty() { "answers again" } else { line };
        format!("{at}  {line}")
    };
    let lines = news.iter().map(line).collect();
    said.extend(news);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(state: &str, evictions: u64) -> Value {
        json!({
            "at": "2026-04-01T09:00:00Z", "cluster": "x", "phase": "serving", "rate": 12.4,
            "slots": [
                { "slot": 0, "state": "live", "store": "sqlite", "evictions": 0, "rescues": 0, "since_ms": 1234 },
                { "slot": 1, "state": state, "store": "sqlite", "evictions": evictions, "rescues": 0,
                  "since_ms": 1_500, "out_ms": 61_500, "cause": { "kind": "timeout", "detail": "timeout: no answer" } },
            ],
        })
    }

    #[test]
    fn only_what_changed_is_said_again() {
        let mut said = BTreeMap::new();
        assert_eq!(news(&mut said, &look("live", 0)).len(), 2);
        assert_eq!(news(&mut said, &look("live", 0)), Vec::<String>::new());
        assert_eq!(
            news(&mut said, &look("evicted", 1)),
            ["2026-04-01T09:00:00Z  slot 1  evicted  sqlite  evictions 1  rescues 0  timeout: no answer"]
        );
        let away = json!({ "at": "t", "error": "refused" });
        assert_eq!(news(&mut said, &away), ["t  refused"]);
        assert_eq!(news(&mut said, &away), Vec::<String>::new());
        assert_eq!(news(&mut said, &look("evicted", 1)), ["2026-04-01T09:00:00Z  answers again"]);
    }

    #[test]
    fn a_slot_that_rests_is_told_once_and_counted() {
        let resting = |raw_ids: u64| {
            let mut look = look("live", 0);
            look["slots"][0]["resting"] = json!([{ "key": "order", "raw_ids": raw_ids }]);
            look
        };
        let mut said = BTreeMap::new();
        let told = news(&mut said, &resting(110_146));
        let line = "2026-04-01T09:00:00Z  slot 0  live  sqlite  evictions 0  rescues 0  rests until the other slots come up to it: \
                    order";
        assert_eq!(told[0], line);
        assert_eq!(news(&mut said, &resting(90_000)), Vec::<String>::new(), "it goes on");
        assert!(head(&resting(9)).contains("2 of 2 live  1 of them rests"), "{}", head(&resting(9)));
        assert_eq!(news(&mut said, &look("live", 0)).len(), 1, "they came up");
    }

    #[test]
    fn a_line_about_the_whole_comes_with_each_change_and_now_and_then() {
        let whole = "2026-04-01T09:00:00Z  x serving  2 of 2 live  12 numbers a second";
        let mut said = Said::default();
        let first = said.lines(&look("live", 0));
        assert_eq!((first.len(), first[0].as_str()), (3, whole));
        for _ in 1..QUIET_LOOKS_MAX {
            assert_eq!(said.lines(&look("live", 0)), Vec::<String>::new());
        }
        assert_eq!(said.lines(&look("live", 0)), [whole]);
        let changed = said.lines(&look("evicted", 1));
        assert!(changed[0].contains("1 of 2 live  12 numbers a second"), "{changed:?}");
        assert!(changed[1].contains("slot 1  evicted"), "{changed:?}");
        assert_eq!(said.lines(&json!({ "at": "t", "error": "refused" })), ["t  refused"]);
    }

    #[test]
    fn an_idle_server_gives_no_numbers_rather_than_minus_none() {
        let idle = of_server(&json!({ "cluster": "x", "phase": "serving", "keys": [], "shards": [] }));
        assert!(head(&idle).contains("  0 numbers a second"), "{}", head(&idle));
    }

    #[test]
    fn a_screen_has_a_head_and_a_row_a_slot() {
        let mut out = Vec::new();
        draw(&mut out, &look("evicted", 1), usize::MAX).unwrap();
        let text = String::from_utf8(out).unwrap();
        let cut = text.strip_prefix(HOME).unwrap().strip_prefix(NO_WRAP).unwrap().strip_suffix(WRAP).unwrap();
        let plain = cut.replace(REST_OF_LINE, "").replace(REST_OF_SCREEN, "");
        let lines: Vec<&str> = plain.lines().collect();
        assert_eq!(lines[0], "2026-04-01T09:00:00Z  x serving  1 of 2 live  12 numbers a second");
        assert_eq!(lines[4], "1     evicted for 1m 1s  sqlite  1          0        timeout: no answer");
    }

    #[test]
    fn a_screen_is_no_taller_than_its_window_and_shows_what_is_out_first() {
        let slot = |slot: u16| {
            let state = if slot == 77 { "evicted" } else { "live" };
            json!({ "slot": slot, "state": state, "store": "sqlite", "evictions": 0, "rescues": 0 })
        };
        let look = json!({ "at": "t", "slots": (0..100).map(slot).collect::<Vec<_>>() });
        let drawn = |lines_max: usize| -> Vec<String> {
            let mut out = Vec::new();
            draw(&mut out, &look, lines_max).unwrap();
            let text = String::from_utf8(out).unwrap().replace(REST_OF_LINE, "").replace(REST_OF_SCREEN, "");
            text.replace(HOME, "").replace(NO_WRAP, "").replace(WRAP, "").lines().map(str::to_owned).collect()
        };
        let lines = drawn(23);
        assert_eq!((lines.len(), lines[0].as_str()), (23, "t  99 of 100 can serve"));
        assert!(lines[3].starts_with("77    evicted") && lines[4].starts_with("0     live"), "{lines:?}");
        assert_eq!(lines[22], "… and 81 more");
        assert_eq!((drawn(103).len(), drawn(usize::MAX).len()), (103, 103), "every slot has room");
        assert!((1..=5).all(|lines_max| drawn(lines_max).len() <= lines_max));
    }
}
