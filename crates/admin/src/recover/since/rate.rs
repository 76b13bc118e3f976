//! How fast the busiest counter may have gone after a copy was made. The copy can't know: a sequence that was quiet before it may
//! have been busy ever since, so a mean of before is a lower bound of what is reckoned with, and no more.

use serde::Serialize;

use super::Pace;

/// How many times the highest rate on record is reckoned with: a copy is made when little is taken, a loss is noticed by day.
pub(super) const FACTOR: f64 = 4.0;

/// The numbers a second that are assumed of each server where nobody says a rate: about as many as the quickest door gave one at
/// a time, and twice what the one row of a dense counter bore (S8 and S13 of `benches/RESULTS.md`).
pub(super) const SERVER_PER_S: u64 = 200_000;

/// The rate that a loss is worked out with.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Assumed {
    /// Numbers a second of any one sequence; each is taken for a raw id of its own, all of them of one slot.
    pub per_s: f64,
    /// What decided it.
    pub by: AssumedBy,
    /// What the operator has said, if anything.
    pub said: Option<u64>,
    /// How many servers there are, as the configuration says.
    pub servers: u64,
}

/// What decides the rate that is assumed: the highest of those that count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AssumedBy {
    /// The operator's word.
    Word,
    /// What servers hardly exceed, for want of a word.
    Servers,
    /// What the copy has on record, several times over.
    Record,
}

impl Assumed {
    /// The operator's word counts in place of what servers can do; what is on record counts whatever was said.
    #[allow(clippy::cast_precision_loss, reason = "an estimate, far below 2^53")]
    pub(super) fn of(said: Option<u64>, servers: u64, fastest: Option<&Pace>) -> Self {
        let (word, by) = match said {
            Some(said) => (said as f64, AssumedBy::Word),
            None => (SERVER_PER_S.saturating_mul(servers.max(1)) as f64, AssumedBy::Servers),
        };
        let recorded = fastest.map_or(0.0, |pace| pace.per_s * FACTOR);
        let (per_s, by) = if recorded > word { (recorded, AssumedBy::Record) } else { (word, by) };
        Self { per_s, by, said, servers: servers.max(1) }
    }

    /// For people.
    pub(super) fn line(&self) -> String {
        let Self { per_s, said, servers, .. } = self;
        let why = match (self.by, said) {
            (AssumedBy::Word, _) => "as --at-most-per-second says".to_owned(),
            (AssumedBy::Servers, _) => {
                format!("{SERVER_PER_S} for each server, of which reservoir.servers tells {servers}")
            }
            (AssumedBy::Record, Some(said)) => {
                format!(
                    "{FACTOR} times the highest rate on record, which is more than the {said} of --at-most-per-second"
                )
            }
            (AssumedBy::Record, None) => format!("{FACTOR} times the highest rate on record"),
        };
        let assumed = format!(
            "assumed: since the copy no sequence was asked for more than {per_s:.0} numbers a second ({why})"
        );
        match said {
            Some(_) => format!("{assumed}; one that was asked for more repeats numbers"),
            None => format!(
                "{assumed}; no record tells, and one that was asked for more (large counts, leases, an engine within a program) \
                 repeats numbers: say how fast the busiest may have been, --at-most-per-second N; where all were slower, a lower \
                 N skips less"
            ),
        }
    }
}
