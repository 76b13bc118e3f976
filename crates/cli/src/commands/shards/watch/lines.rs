//! Lines for who reads no screen: what changed from look to look, and the whole now and then.

use std::collections::BTreeMap;

use serde_json::Value;

use super::words::{head, row, slots};

/// So many looks may pass without a line, where each change is one: then a line says how many can serve, and the rate.
pub(super) const QUIET_LOOKS_MAX: u32 = 10;

/// What lines have said.
#[derive(Default)]
pub(super) struct Said {
    /// The last about each slot.
    facts: BTreeMap<String, String>,
    /// Looks since the last line.
    quiet: u32,
}

impl Said {
    /// What changed, below a line about the whole: at first, with each change, and after [`QUIET_LOOKS_MAX`].
    pub(super) fn lines(&mut self, look: &Value) -> Vec<String> {
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

/// A line for the whole where something could not be had, and one for each slot that is another than before.
pub(super) fn news(said: &mut BTreeMap<String, String>, look: &Value) -> Vec<String> {
    let at = look["at"].as_str().unwrap_or_default();
    let is_news =
        |(of, line): &(String, String)| said.get(of).map_or(!line.is_empty(), |before| before != line);
    let news: Vec<(String, String)> = facts(look).filter(is_news).collect();
    let line = |(_, line): &(String, String)| {
        let line = if line.is_empty() { "answers again" } else { line };
        format!("{at}  {line}")
    };
    let lines = news.iter().map(line).collect();
    said.extend(news);
    lines
}

/// What there is to say, and of what; an empty line where all is well.
fn facts(look: &Value) -> impl Iterator<Item = (String, String)> {
    let whole = ["error", "trouble"]
        .into_iter()
        .map(|field| (field.to_owned(), look[field].as_str().unwrap_or_default().to_owned()));
    whole.chain(slots(look).map(fact))
}

fn fact(slot: &Value) -> (String, String) {
    let [number, _, store, evictions, rescues, cause] = row(slot);
    // For how long is no news: it goes on from second to second.
    let state = slot["state"].as_str().unwrap_or_default();
    let moves =
        if evictions == "-" { String::new() } else { format!("  evictions {evictions}  rescues {rescues}") };
    let line = format!("slot {number}  {state}  {store}{moves}  {cause}");
    (number, line.trim_end().to_owned())
}
