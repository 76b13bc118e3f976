//! The sum: what the fastest counter may have given since the copy was made, and what restarts may have left out.

use std::time::Duration;

use sequent_core::ledger::{Counter, DenseRow, Row};
use sequent_engine::EngineError;

use super::{
    BUMP_MAX, BUMP_MIN, CopyMade, LossEstimate, pace,
    rate::{Assumed, FACTOR},
    record, refused,
};

/// How many restarts of a counter's databases, its shard's and the ledger's, are reckoned with whatever the time …
const RESTARTS: u64 = 16;

/// … and one more for each hour of it, begun hours included.
const RESTARTS_EACH: Duration = Duration::from_secs(3600);

/// What was taken last before a copy is reported a few seconds later.
const REPORTED_WITHIN: Duration = Duration::from_secs(10);

/// A loss as these counters let it be assumed, in a copy that is looked at now.
///
/// # Errors
///
/// `INVALID_ARGUMENT` where it is no copy of then, where nothing tells a rate, or where more comes out than may be named.
pub(super) fn estimate(
    rows: &[(Counter, Row)],
    dense: &[DenseRow],
    copy: CopyMade,
    now_ms: u64,
) -> Result<LossEstimate, EngineError> {
    let CopyMade { since_ms, ahead, servers, at_most_per_s } = copy;
    record::check(rows, dense, since_ms, now_ms).map_err(|bound| refused(since_ms, bound))?;
    let paces = pace::all(rows, dense, since_ms, ahead);
    let counters = paces.len();
    let fastest = paces.into_iter().max_by(|a, b| a.per_s.total_cmp(&b.per_s));
    if fastest.is_none() && at_most_per_s.is_none() {
        return Err(untold(since_ms));
    }
    let assumed = Assumed::of(at_most_per_s, servers, fastest.as_ref());
    let elapsed = Duration::from_millis(now_ms - since_ms) + REPORTED_WITHIN;
    let restarts = RESTARTS + elapsed.as_secs().div_ceil(RESTARTS_EACH.as_secs());
    let given = at_pace(assumed.per_s, elapsed);
    let leaps = at_pace(assumed.per_s, ahead).saturating_mul(restarts);
    let estimate = LossEstimate {
        since_ms,
        elapsed_s: elapsed.as_secs(),
        assumed,
        fastest,
        counters,
        factor: FACTOR,
        given,
        restarts,
        ahead_s: ahead.as_secs(),
        leaps,
        bump: together(given, leaps),
        proof: None,
        uses: Vec::new(),
    };
    estimate.check_bump()?;
    Ok(estimate)
}

/// What was given and what was left out; no less than is named at least.
pub(super) fn together(given: u64, leaps: u64) -> u64 {
    given.saturating_add(leaps).max(BUMP_MIN)
}

/// What a counter goes at this rate in such a time, in raw ids.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "not negative; what is too large saturates"
)]
fn at_pace(per_s: f64, time: Duration) -> u64 {
    (per_s * time.as_secs_f64()).ceil() as u64
}

impl LossEstimate {
    /// More than the leap rule lets pass is not named: the rate that would just do is told.
    fn check_bump(&self) -> Result<(), EngineError> {
        let Self { since_ms, elapsed_s, assumed, restarts, ahead_s, bump, .. } = self;
        if *bump <= BUMP_MAX {
            return Ok(());
        }
        // A second more of each time: what was cut off of it counts, too.
        let most = BUMP_MAX / (elapsed_s + 1 + restarts * (ahead_s + 1));
        let bound = format!(
            "with {:.0} numbers a second it works out to {bump} raw ids of each counter, and at most {BUMP_MAX} are named at once: \
             say how fast the busiest sequence may have been asked, --at-most-per-second N, {most} at most, or name --bump",
            assumed.per_s
        );
        Err(refused(*since_ms, bound))
    }
}

/// Neither the copy nor a person tells any rate.
fn untold(since_ms: u64) -> EngineError {
    let bound = "nothing on record tells how fast any counter went: no number had been reported when it was made; \
                 say how fast the busiest sequence may have been asked since, --at-most-per-second N, or name --bump, as its \
                 help says";
    refused(since_ms, bound.to_owned())
}
