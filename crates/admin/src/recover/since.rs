//! Possible loss since a copy of the ledger was made: elapsed time, times the highest rate that the operator
//! states.

use std::time::Duration;

use serde::Serialize;

use sequent_engine::{EngineError, Reason, Timestamp};

use crate::admin::Admin;

/// The highest loss that can be computed or named. Beyond it the jump rule would refuse what follows.
pub const BUMP_MAX: u64 = 1 << 36;

/// Assumed restarts of a counter's databases (its shard's and the ledger's), independent of the time …
const RESTARTS: u64 = 16;

/// … and one more for each hour, begun hours included.
const RESTARTS_EACH: Duration = Duration::from_hours(1);

/// The delay until ids taken just before the copy are reported.
const REPORTED_WITHIN: Duration = Duration::from_secs(10);

/// The operator's statement about a copy.
#[derive(Debug, Clone, Copy)]
pub struct CopyMade {
    /// When it was made, in milliseconds since 1970.
    pub since_ms: u64,
    /// The most numbers a second that the busiest sequence was asked for since, by all callers together.
    pub at_most_per_s: u64,
    /// How much consumption ceilings are raised ahead, as a time.
    pub ahead: Duration,
}

/// A computed loss.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LossEstimate {
    /// When the copy was made, in milliseconds since 1970.
    pub since_ms: u64,
    /// The time since then, in seconds, including the delay of reports of what was taken just before.
    pub elapsed_s: u64,
    /// The rate used. Each number counts as a raw id of its own, all of them of one slot.
    pub at_most_per_s: u64,
    /// The assumed number of database restarts: each begins a new epoch, above a ceiling that was raised
    /// ahead.
    pub restarts: u64,
    /// How much consumption ceilings are raised ahead, in seconds.
    pub ahead_s: u64,
    /// How far any counter may have come since the copy was made, in raw ids. At least what the cells prove.
    pub bump: u64,
}

impl Admin {
    /// The possible loss since the copy was made. At least what the cells prove.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT` if the copy's time is in the future, or if the loss is more than may be named;
    /// those of the ledger.
    pub async fn loss_since(&self, copy: CopyMade) -> Result<LossEstimate, EngineError> {
        let clock_ms = self.0.inspected().await?.clock_ms;
        let worked_out = LossEstimate::of(copy, clock_ms.max(self.0.env.clock.wall_ms()))?;
        let extent = self.extent().await.map_err(|error| {
            let text = format!("the cells can't be compared with the ledger: {error}");
            EngineError::new(Reason::LedgerUnavailable, text)
        })?;
        Ok(LossEstimate { bump: worked_out.bump.max(extent.least()), ..worked_out })
    }
}

impl LossEstimate {
    fn of(copy: CopyMade, now_ms: u64) -> Result<Self, EngineError> {
        let CopyMade { since_ms, at_most_per_s, ahead } = copy;
        let refused = |bound: String| EngineError::invalid("since", shown(since_ms), bound);
        let Some(passed_ms) = now_ms.checked_sub(since_ms) else {
            return Err(refused("no copy is of a later instant than now".to_owned()));
        };
        let elapsed_s = (Duration::from_millis(passed_ms) + REPORTED_WITHIN).as_secs();
        let restarts = RESTARTS + elapsed_s.div_ceil(RESTARTS_EACH.as_secs());
        let ahead_s = ahead.as_secs();
        let seconds = elapsed_s.saturating_add(restarts.saturating_mul(ahead_s)).max(1);
        let bump = at_most_per_s.saturating_mul(seconds);
        if bump > BUMP_MAX {
            let most = BUMP_MAX / seconds;
            return Err(refused(format!(
                "{at_most_per_s} numbers a second make {bump} raw ids of each counter, and at most {BUMP_MAX} can be named at once: \
                 --at-most-per-second {most} is the most for that time"
            )));
        }
        Ok(Self { since_ms, elapsed_s, at_most_per_s, restarts, ahead_s, bump })
    }

    /// For people: the computation.
    pub fn lines(&self) -> Vec<String> {
        let Self { elapsed_s, at_most_per_s, restarts, ahead_s, bump, .. } = self;
        let restarted = format!(
            "{at_most_per_s} a second x ({elapsed_s} s since the copy + {restarts} restarts of {ahead_s} s ahead each)"
        );
        vec![
            format!("{restarted}, and no less than the cells prove: {bump} raw ids of each counter"),
            "If a sequence was asked for more, or the databases were restarted more often, numbers repeat: then name a larger --bump"
                .to_owned(),
        ]
    }
}

fn shown(ms: u64) -> String {
    let instant = i64::try_from(ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
    instant.map_or_else(|| format!("{ms} ms since 1970"), |instant| instant.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW_MS: u64 = 1_800_000_000_000;

    fn worked_out(before_s: u64, at_most_per_s: u64) -> Result<LossEstimate, String> {
        let copy =
            CopyMade { since_ms: NOW_MS - before_s * 1000, at_most_per_s, ahead: Duration::from_secs(600) };
        LossEstimate::of(copy, NOW_MS).map_err(|error| error.to_string())
    }

    #[test]
    fn it_is_the_time_times_the_rate_and_what_restarts_left_out() {
        let found = worked_out(3590, 10).unwrap();
        assert_eq!((found.elapsed_s, found.restarts, found.bump), (3600, 17, 10 * (3600 + 17 * 600)));
        assert_eq!(worked_out(3591, 10).unwrap().restarts, 18, "an hour that has begun counts");
    }

    #[test]
    fn a_later_instant_and_too_large_a_loss_are_refused() {
        let later = CopyMade { since_ms: NOW_MS + 1, at_most_per_s: 1, ahead: Duration::ZERO };
        assert!(LossEstimate::of(later, NOW_MS).unwrap_err().to_string().contains("later instant"));
        let error = worked_out(3590, BUMP_MAX).unwrap_err();
        let most = BUMP_MAX / (3600 + 17 * 600);
        assert!(error.contains(&format!("--at-most-per-second {most} ")), "{error}");
        assert!(worked_out(3590, most).is_ok());
    }
}
