//! How much may have been lost since a copy was made: worked out from what the ledger at hand has on record of how fast its
//! counters went.

use std::time::Duration;

use sequent_core::{
    Key, SlotIndex,
    ledger::{Counter, DenseRow, Row},
};
use serde::Serialize;

use super::{Desk, extent::Reached};
use crate::{
    EngineError, Reason, Timestamp,
    limit::{of_ledger, within},
};

/// The highest loss that is worked out or named: beyond it the leap rule would refuse what follows.
pub const BUMP_MAX: u64 = 1 << 36;

/// How many times the highest rate on record is reckoned with: a copy is made when little is taken, a loss is noticed by day.
const FACTOR: f64 = 4.0;

/// How many restarts of a counter's databases, its shard's and the ledger's, are reckoned with whatever the time …
const RESTARTS: u64 = 16;

/// … and one more for each hour of it, begun hours included.
const RESTARTS_EACH: Duration = Duration::from_secs(3600);

/// The least that is named: what a slow counter takes at once, many times over.
pub const BUMP_MIN: u64 = 10_000;

/// What was taken last before a copy is reported a few seconds later.
const REPORTED_WITHIN: Duration = Duration::from_secs(10);

/// The most counters that are looked at, of each kind: where there are more, the fastest may be among the others.
const COUNTERS_MAX: usize = 1 << 16;

/// A loss as it was worked out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LossEstimate {
    /// When the copy was made, in milliseconds since 1970.
    pub since_ms: u64,
    /// How long ago that is, in seconds, and what was taken just before it and reported after it.
    pub elapsed_s: u64,
    /// The counter with the highest rate on record.
    pub fastest: Pace,
    /// How many counters have a rate on record.
    pub counters: usize,
    /// How many times the highest rate is reckoned with.
    pub factor: f64,
    /// What the fastest counter may have given in that time, in raw ids; of a dense one, in numbers.
    pub given: u64,
    /// How many restarts of databases are reckoned with: each begins a new life, above a ceiling that was raised ahead.
    pub restarts: u64,
    /// How much consumption ceilings are raised ahead, in seconds.
    pub ahead_s: u64,
    /// What the restarts may have left out, all together, in raw ids.
    pub leaps: u64,
    /// How far any counter may have come since the copy was made, in raw ids: what was given and what was left out; and no less
    /// than the cells at hand prove.
    pub bump: u64,
    /// The cell that proves it, where less was worked out: the copy knew of a quieter time.
    pub proof: Option<Proof>,
}

/// A cell that is further above what the ledger permits it than was worked out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Proof {
    /// The slot.
    pub slot: SlotIndex,
    /// The cell's key, as its store has it.
    pub key: String,
    /// Its raw id.
    pub value: u64,
    /// Its ceiling in the ledger; without a row, above what it would begin.
    pub ceiling: u64,
}

/// How fast a counter went before a copy was made.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pace {
    /// The key.
    pub key: String,
    /// The slot; absent for a dense counter.
    pub slot: Option<SlotIndex>,
    /// What it gave in its life, as far as the ledger knows …
    pub taken: u64,
    /// … in so many seconds.
    pub over_s: u64,
    /// Raw ids, or dense numbers, a second: in all of its life, or at the latest raise of its ceiling where that was more.
    pub per_s: f64,
}

impl Desk {
    /// What may have been lost since the copy at hand was made, and no less than the cells at hand prove. `ahead`: how much
    /// consumption ceilings are raised ahead. Stores that tell nothing are told of by [`check_loss`](Self::check_loss).
    pub async fn loss_since(&self, since_ms: u64, ahead: Duration) -> Result<LossEstimate, EngineError> {
        let ledger = self.ledger();
        let rows = within(self.limit(), "read the rows", ledger.list(None, COUNTERS_MAX)).await;
        let dense = within(self.limit(), "read the dense counters", ledger.dense(None, COUNTERS_MAX)).await;
        let now = within(self.limit(), "open the ledger", ledger.inspect()).await;
        let rows = rows.map_err(|error| of_ledger(&error))?;
        let dense = dense.map_err(|error| of_ledger(&error))?;
        let now_ms = now.map_err(|error| of_ledger(&error))?.clock_ms.max(self.0.env.clock.wall_ms());
        let worked_out = estimate(&rows, &dense, (since_ms, now_ms), ahead)?;
        let extent = self.extent().await.map_err(|error| {
            EngineError::new(
                Reason::LedgerUnavailable,
                format!("the cells can't be held against the ledger: {error}"),
            )
        })?;
        Ok(worked_out.proven(extent.furthest()))
    }
}

impl LossEstimate {
    /// The same, and at least what this cell proves.
    fn proven(self, furthest: Option<&Reached>) -> Self {
        let Some(cell) = furthest.filter(|cell| cell.least() > self.bump) else { return self };
        let Reached { slot, key, value, ceiling, .. } = cell;
        let proof = Proof { slot: *slot, key: key.to_string(), value: *value, ceiling: *ceiling };
        Self { bump: cell.least(), proof: Some(proof), ..self }
    }
}

fn estimate(
    rows: &[(Counter, Row)],
    dense: &[DenseRow],
    (since_ms, now_ms): (u64, u64),
    ahead: Duration,
) -> Result<LossEstimate, EngineError> {
    if since_ms > now_ms {
        return Err(refused(since_ms, format!("it is {} now: no copy is of a later instant", shown(now_ms))));
    }
    if rows.len() == COUNTERS_MAX || dense.len() == COUNTERS_MAX {
        let bound = format!(
            "more than {COUNTERS_MAX} counters are on record, too many to find the fastest: name --bump"
        );
        return Err(refused(since_ms, bound));
    }
    let begun = rows.iter().map(|(_, row)| row.opened_at_ms).chain(dense.iter().map(|row| row.begun_at_ms));
    if let Some(latest) = begun.max().filter(|latest| *latest > since_ms) {
        let bound = format!(
            "the ledger at hand has a counter whose life began at {}, so it is no copy of before: name when it was made",
            shown(latest)
        );
        return Err(refused(since_ms, bound));
    }
    let spread = rows.iter().filter_map(|(counter, row)| of_row(counter, row, since_ms, ahead));
    let paces: Vec<Pace> = spread.chain(dense.iter().filter_map(|row| of_dense(row, since_ms))).collect();
    let counters = paces.len();
    let Some(fastest) = paces.into_iter().max_by(|a, b| a.per_s.total_cmp(&b.per_s)) else {
        let bound = "nothing on record tells how fast any counter went: no number had been reported when it was made; \
                     name --bump, as its help says"
            .to_owned();
        return Err(refused(since_ms, bound));
    };
    let elapsed = Duration::from_millis(now_ms - since_ms) + REPORTED_WITHIN;
    let given = at_pace(fastest.per_s, elapsed.as_secs_f64());
    let restarts = RESTARTS + elapsed.as_secs().div_ceil(RESTARTS_EACH.as_secs());
    let leaps = at_pace(fastest.per_s, ahead.as_secs_f64()).saturating_mul(restarts);
    let bump = given.saturating_add(leaps).max(BUMP_MIN);
    if bump > BUMP_MAX {
        let bound = format!(
            "it works out to {bump} raw ids of each counter, and at most {BUMP_MAX} are named at once: name --bump, or more \
             than once"
        );
        return Err(refused(since_ms, bound));
    }
    let (elapsed_s, ahead_s, factor) = (elapsed.as_secs(), ahead.as_secs(), FACTOR);
    Ok(LossEstimate {
        since_ms,
        elapsed_s,
        fastest,
        counters,
        factor,
        given,
        restarts,
        ahead_s,
        leaps,
        bump,
        proof: None,
    })
}

/// What a counter may go in so many seconds, in raw ids.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "not negative; what is too large saturates"
)]
fn at_pace(per_s: f64, seconds: f64) -> u64 {
    (per_s * seconds * FACTOR).ceil() as u64
}

/// A counter of which something was taken.
#[allow(clippy::cast_precision_loss, reason = "an estimate, with a margin of several times")]
fn of_row(Counter { slot, key }: &Counter, row: &Row, since_ms: u64, ahead: Duration) -> Option<Pace> {
    let taken_to = row.seen.max(row.base);
    let above = row.ceiling.saturating_sub(taken_to) as f64 / ahead.as_secs_f64().max(1.0);
    let pace = pace(key, Some(*slot), taken_to - row.base, since_ms.saturating_sub(row.opened_at_ms))?;
    Some(Pace { per_s: pace.per_s.max(above), ..pace })
}

fn of_dense(row: &DenseRow, since_ms: u64) -> Option<Pace> {
    pace(&row.key, None, row.value, since_ms.saturating_sub(row.begun_at_ms))
}

#[allow(clippy::cast_precision_loss, reason = "an estimate, with a margin of several times")]
fn pace(key: &Key, slot: Option<SlotIndex>, taken: u64, lasted_ms: u64) -> Option<Pace> {
    // A second at least: what is taken at once when a life begins is no rate of hours.
    let over_s = lasted_ms.div_ceil(1000).max(1);
    let key = key.to_string();
    (taken > 0).then(|| Pace { key, slot, taken, over_s, per_s: taken as f64 / over_s as f64 })
}

fn refused(since_ms: u64, bound: String) -> EngineError {
    EngineError::invalid("since", shown(since_ms), bound)
}

fn shown(ms: u64) -> String {
    let instant = i64::try_from(ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
    instant.map_or_else(|| format!("{ms} ms since 1970"), |instant| instant.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use sequent_core::{Incarnation, Life};

    const HOUR_MS: u64 = 3_600_000;
    const SINCE: u64 = 1_000 * HOUR_MS;
    const AHEAD: Duration = Duration::from_secs(600);

    /// A counter that was opened so many hours before the copy.
    fn row(key: &str, hours: u64, base: u64, seen: u64, ceiling: u64) -> (Counter, Row) {
        let (store, ledger) = (Incarnation::new("s"), Incarnation::new("l"));
        let opened_at_ms = SINCE - hours * HOUR_MS;
        let life = Life::from_stored(9);
        let row = Row { life, store, ledger, base, ceiling, seen, opened_at_ms };
        (Counter { slot: 2, key: Key::from_stored(key) }, row)
    }

    fn dense(key: &str, hours: u64, value: u64) -> DenseRow {
        DenseRow { key: Key::from_stored(key), value, begun_at_ms: SINCE - hours * HOUR_MS }
    }

    fn of(rows: &[(Counter, Row)], dense: &[DenseRow], hours: u64) -> Result<LossEstimate, String> {
        let now = SINCE + hours * HOUR_MS - 10_000;
        estimate(rows, dense, (SINCE, now), AHEAD).map_err(|error| error.to_string())
    }

    #[test]
    fn the_fastest_counter_decides_and_is_reckoned_with_several_times() {
        // 7200 ids in two hours is one a second; what was before the life does not count.
        let rows = [row("slow", 10, 0, 3600, 3700), row("fast", 2, 50_000, 57_200, 57_300)];
        let found = of(&rows, &[], 10).unwrap();
        assert_eq!((found.fastest.key.as_str(), found.fastest.slot, found.counters), ("fast", Some(2), 2));
        assert_eq!((found.fastest.taken, found.fastest.over_s, found.elapsed_s), (7200, 7200, 36_000));
        assert_eq!((found.given, found.bump), (4 * 36_000, 4 * 36_000 + found.leaps));
        let found = of(&rows, &[dense("invoice", 1, 7200)], 10).unwrap();
        assert_eq!((found.fastest.key.as_str(), found.fastest.slot), ("invoice", None));
        assert_eq!(found.given, 2 * 4 * 36_000);
    }

    #[test]
    fn each_restart_leaves_out_what_the_ceiling_was_ahead() {
        // One a second: each restart leaves out 600, reckoned with four times.
        let rows = [row("order", 2, 0, 7200, 7300)];
        let found = of(&rows, &[], 1).unwrap();
        assert_eq!((found.restarts, found.ahead_s, found.leaps), (17, 600, 17 * 4 * 600));
        assert_eq!(found.bump, 4 * 3600 + 17 * 4 * 600);
        let found = of(&rows, &[], 48).unwrap();
        assert_eq!((found.restarts, found.bump - found.given), (64, 64 * 4 * 600));
        let none = estimate(&rows, &[], (SINCE, SINCE), Duration::ZERO).unwrap();
        assert_eq!((none.leaps, none.bump), (0, BUMP_MIN));
    }

    #[test]
    fn a_ceiling_far_above_tells_of_a_rate_that_has_grown() {
        let found = of(&[row("order", 100, 0, 360_000, 366_000)], &[], 1).unwrap();
        assert!((found.fastest.per_s - 10.0).abs() < 1e-9, "6000 in ten minutes: {found:?}");
        assert_eq!(found.bump, 10 * 4 * (3600 + 17 * 600));
    }

    #[test]
    fn it_is_no_less_than_a_cell_proves() {
        let quiet = || of(&[row("order", 10, 0, 1, 2)], &[], 1).unwrap();
        let cell = |value| Reached {
            slot: 1,
            key: Key::from_stored("order"),
            value,
            ceiling: 900,
            has_row: true,
            reach: None,
        };
        assert_eq!(quiet().proven(Some(&cell(900 + BUMP_MIN))), quiet());
        let raised = quiet().proven(Some(&cell(901 + BUMP_MIN)));
        assert_eq!((raised.bump, raised.proof.unwrap().value), (BUMP_MIN + 1, 901 + BUMP_MIN));
    }

    #[test]
    fn little_is_named_as_more_and_too_much_is_refused() {
        assert_eq!(of(&[row("order", 10, 0, 1, 2)], &[], 1).unwrap().bump, BUMP_MIN);
        let error = of(&[row("order", 1, 0, 1 << 40, 1 << 40)], &[], 1000).unwrap_err();
        assert!(error.contains(&BUMP_MAX.to_string()) && error.contains("--bump"), "{error}");
    }

    #[test]
    fn where_nothing_gives_a_rate_it_is_said_plainly() {
        for rows in [vec![], vec![row("order", 10, 500, 500, 900)]] {
            let error = of(&rows, &[], 1).unwrap_err();
            assert!(error.contains("nothing on record") && error.contains("--bump"), "{error}");
        }
        let (counter, mut young) = row("order", 1, 0, 500, 900);
        young.opened_at_ms = SINCE + 1;
        let error = of(&[(counter, young)], &[], 1).unwrap_err();
        assert!(error.contains("no copy of before"), "{error}");
        let error = estimate(&[], &[], (SINCE, SINCE - 1), AHEAD).unwrap_err().to_string();
        assert!(error.contains("no copy is of a later instant"), "{error}");
    }
}
