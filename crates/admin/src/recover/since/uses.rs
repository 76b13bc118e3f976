//! How much of each sequence a loss uses up, for who must choose between a guess and a rate.

use sequent_core::Layout;
use sequent_engine::{Body, Placement};
use serde::Serialize;

/// The share of a sequence, in percent, that is used up on an assumption at most; more needs the operator's rate. As much as a
/// spread sequence may skip.
const PERCENT_MAX: f64 = 1.0;

/// The most sequences that are told of in text.
const TOLD_MAX: usize = 20;

/// The share from which on a sequence is told of by itself, in percent.
const TOLD_MIN: f64 = 0.01;

/// What a loss uses up of a sequence.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LossShare {
    /// The sequence.
    pub sequence: String,
    /// How many numbers a key of it has.
    pub numbers: u64,
    /// How many of them the loss uses up.
    pub used: u64,
    /// The same in percent.
    pub percent: f64,
}

impl LossShare {
    /// A loss of so many raw ids, which each slot's counter skips.
    #[allow(clippy::cast_precision_loss, reason = "a share, for people")]
    fn of((sequence, body): &(String, Body), layout: Layout, bump: u64) -> Self {
        let numbers = body.span().capacity();
        let used = match body.placement() {
            Placement::Dense => bump,
            Placement::Spread => {
                bump.saturating_mul(u64::from(layout.slots())).saturating_mul(layout.numbers_per_id())
            }
        };
        let percent = used as f64 / numbers.max(1) as f64 * 100.0;
        Self { sequence: sequence.clone(), numbers, used, percent }
    }
}

/// Of each of these sequences, the shortest first.
pub(super) fn all(bodies: &[(String, Body)], layout: Layout, bump: u64) -> Vec<LossShare> {
    let mut uses: Vec<_> = bodies.iter().map(|body| LossShare::of(body, layout, bump)).collect();
    uses.sort_by(|a, b| b.percent.total_cmp(&a.percent));
    uses
}

/// Whether a rate that nobody has said uses up little enough of the shortest, the first of them.
///
/// # Errors
///
/// What it would use up, and what to say.
pub(super) fn check(uses: &[LossShare], per_s: f64) -> Result<(), String> {
    let Some(share) = uses.first().filter(|share| share.percent > PERCENT_MAX) else { return Ok(()) };
    let LossShare { sequence, numbers, used, percent } = share;
    Err(format!(
        "no rate was said, and with an assumed {per_s:.0} numbers a second it would use up {percent:.1} % of {sequence}, {used} of the \
         {numbers} numbers of a key, where {PERCENT_MAX} % is used up at most: say how fast the busiest sequence may have been \
         asked, --at-most-per-second N, or name the loss, --bump N"
    ))
}

/// For people: those of which much is used up, the shortest first.
pub(super) fn lines(uses: &[LossShare]) -> Vec<String> {
    let much: Vec<&LossShare> = uses.iter().filter(|share| share.percent >= TOLD_MIN).collect();
    let line = |share: &&LossShare| {
        let LossShare { sequence, numbers, used, percent } = share;
        match percent {
            100.0.. => format!(
                "  of {sequence} nothing is left: a key has {numbers} numbers, and {used} are used up"
            ),
            _ => format!(
                "  of {sequence} {percent:.2} % are used up: {used} of the {numbers} numbers of a key"
            ),
        }
    };
    let mut lines: Vec<String> = much.iter().take(TOLD_MAX).map(line).collect();
    if let more @ 1.. = uses.len() - lines.len() {
        let most = uses.get(lines.len()).map_or(0.0, |share| share.percent);
        lines.push(format!("  of {more} other sequences that the ledger knows at most {most:.6} % each"));
    }
    lines
}
