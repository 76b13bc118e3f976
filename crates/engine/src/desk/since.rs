//! How much may have been lost since a copy was made: worked out from what may be assumed of how fast its counters went, and no
//! less than from what the ledger at hand has on record.

use std::{collections::BTreeMap, time::Duration};

use sequent_core::{
    Key, Layout, SlotIndex,
    ledger::{Advanced, Counter, DenseRow, Row},
};
use serde::Serialize;

use super::{
    Desk,
    extent::Reached,
    floor::floor,
    since_rate::Assumed,
    since_uses::{self, LossShare, PERCENT_MAX},
};
use crate::{
    Body, EngineError, Reason, Timestamp,
    limit::{of_ledger, within},
};

/// The highest loss that is worked out or named: beyond it the leap rule would refuse what follows.
pub const BUMP_MAX: u64 = 1 << 36;

/// How many times the highest rate on record is reckoned with: a copy is made when little is taken, a loss is noticed by day.
pub(super) const FACTOR: f64 = 4.0;

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

/// What is said of a copy that is at hand.
#[derive(Debug, Clone, Copy)]
pub struct CopyMade {
    /// When it was made, in milliseconds since 1970.
    pub since_ms: u64,
    /// How much consumption ceilings are raised ahead.
    pub ahead: Duration,
    /// How many servers there are.
    pub servers: u64,
    /// The most numbers a second that the busiest sequence may have been asked for since, where the operator says it.
    pub at_most_per_s: Option<u64>,
}

/// A loss as it was worked out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LossEstimate {
    /// When the copy was made, in milliseconds since 1970.
    pub since_ms: u64,
    /// How long ago that is, in seconds, and what was taken just before it and reported after it.
    pub elapsed_s: u64,
    /// The rate that it was worked out with.
    pub assumed: Assumed,
    /// The counter with the highest rate on record, if any has one.
    pub fastest: Option<Pace>,
    /// How many counters have a rate on record.
    pub counters: usize,
    /// How many times the highest rate on record is reckoned with at least.
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
    /// What the bump uses up of each sequence that the ledger knows, the shortest of them first.
    pub uses: Vec<LossShare>,
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
    /// How far it rose in its life, as far as the ledger knows; a recovery's loss may be in it …
    pub taken: u64,
    /// … in so many seconds.
    pub over_s: u64,
    /// Raw ids, or dense numbers, a second: the mean of its life, or at the latest raise of its ceiling where that was more.
    pub per_s: f64,
    /// That mean alone.
    pub mean_per_s: f64,
}

impl Desk {
    /// What may have been lost since the copy at hand was made, and no less than the cells at hand prove. Stores that tell nothing
    /// are told of by [`check_loss`](Self::check_loss).
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT` where it is no copy of then, or where a rate must be said for it; those of the ledger.
    pub async fn loss_since(&self, copy: CopyMade) -> Result<LossEstimate, EngineError> {
        let ledger = self.ledger();
        let rows = within(self.limit(), "read the rows", ledger.list(None, COUNTERS_MAX)).await;
        let dense = within(self.limit(), "read the dense counters", ledger.dense(None, COUNTERS_MAX)).await;
        let now = within(self.limit(), "open the ledger", ledger.inspect()).await;
        let rows = rows.map_err(|error| of_ledger(&error))?;
        let dense = dense.map_err(|error| of_ledger(&error))?;
        let now_ms = now.map_err(|error| of_ledger(&error))?.clock_ms.max(self.0.env.clock.wall_ms());
        let bodies = self.bodies().await?;
        let dense = self.given_of(dense, &bodies).await?;
        let worked_out = estimate(&rows, &dense, copy, now_ms)?;
        worked_out.shared(&bodies, self.layout()).check_shares()?;
        let extent = self.extent().await.map_err(|error| {
            EngineError::new(
                Reason::LedgerUnavailable,
                format!("the cells can't be held against the ledger: {error}"),
            )
        })?;
        Ok(worked_out.proven(extent.furthest()).shared(&bodies, self.layout()))
    }

    /// The sequences that the ledger knows, each with what is in effect of it.
    async fn bodies(&self) -> Result<Vec<(String, Body)>, EngineError> {
        let definitions = self.definitions().await?;
        let body = |held: &sequent_core::ledger::Definition| {
            let top = Body::from_text(&held.body).or_else(|_| Body::unproven(&held.body)).ok()?;
            Some((held.name.to_string(), top.in_effect(held.version, self.now()).1.clone()))
        };
        Ok(definitions.iter().filter_map(body).collect())
    }

    /// Dense counters without what a recovery or an `advance` is known to have skipped. Where both did, the greater alone is
    /// left out, for the one may be in the other.
    async fn given_of(
        &self,
        rows: Vec<DenseRow>,
        bodies: &[(String, Body)],
    ) -> Result<Vec<DenseRow>, EngineError> {
        let lost = floor(self.ledger(), self.0.record.epoch, self.limit()).await;
        let notes = within(self.limit(), "read how far keys are advanced", self.ledger().advanced()).await;
        let notes = notes.map_err(|error| of_ledger(&error))?;
        let advanced: BTreeMap<&Key, u64> = notes.iter().map(|Advanced { key, to }| (key, *to)).collect();
        let skipped = |key: &Key| {
            let (_, body) = bodies.iter().find(|(sequence, _)| sequence == key.sequence())?;
            let span = body.span();
            let above = advanced.get(key)?.checked_sub(span.start())?;
            Some(above / span.step() + 1)
        };
        let given = |row: DenseRow| {
            let value = row.value.saturating_sub(skipped(&row.key).unwrap_or(0).max(lost));
            DenseRow { value, ..row }
        };
        Ok(rows.into_iter().map(given).collect())
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

    /// The same, with what it uses up of these sequences.
    fn shared(&self, bodies: &[(String, Body)], layout: Layout) -> Self {
        let mut uses: Vec<_> = bodies.iter().map(|body| LossShare::of(body, layout, self.bump)).collect();
        uses.sort_by(|a, b| b.percent.total_cmp(&a.percent));
        Self { uses, ..self.clone() }
    }

    /// No short sequence is used up on an assumption.
    fn check_shares(&self) -> Result<(), EngineError> {
        let much = self.uses.first().filter(|share| share.percent > PERCENT_MAX);
        let (Some(share), None) = (much, self.assumed.said) else { return Ok(()) };
        let LossShare { sequence, numbers, used, percent } = share;
        let bound = format!(
            "no rate was said, and with an assumed {:.0} numbers a second it would use up {percent:.1} % of {sequence}, {used} of the \
             {numbers} numbers of a key, where {PERCENT_MAX} % is used up at most: say how fast the busiest sequence may have been \
             asked, --at-most-per-second N, or name the loss, --bump N",
            self.assumed.per_s
        );
        Err(refused(self.since_ms, bound))
    }

    /// For people: what it assumes, how it was worked out, what it uses up.
    pub fn lines(&self) -> Vec<String> {
        let Self {
            assumed, elapsed_s, fastest, counters, given, restarts, ahead_s, leaps, bump, proof, ..
        } = self;
        let mut lines = vec![assumed.line()];
        lines.push(match fastest {
            None => "on record: no rate of any counter".to_owned(),
            Some(pace) => {
                format!("on record: {counters} counters with a rate before the copy; {}", pace.line())
            }
        });
        let per_s = assumed.per_s;
        lines.push(format!("{per_s:.3} a second x {elapsed_s} s = {given} raw ids of each counter"));
        lines.push(format!(
            "and {restarts} restarts of {ahead_s} s ahead each: {leaps}; where databases were restarted more often, name a larger \
             --bump"
        ));
        lines.push(format!("together {}, {BUMP_MIN} at least", given.saturating_add(*leaps).max(BUMP_MIN)));
        lines.extend(proof.as_ref().map(|Proof { slot, key, value, ceiling }| {
            format!(
                "raised to {bump}: in slot {slot} the cell of key {key} is at raw id {value}, and the ledger at hand permits \
                 {ceiling}: more than was worked out, so a counter that can't be seen may have come further, too"
            )
        }));
        lines.extend(since_uses::lines(&self.uses));
        lines
    }
}

impl Pace {
    fn line(&self) -> String {
        let Self { key, slot, taken, over_s, per_s, mean_per_s } = self;
        let place = slot.map_or_else(|| "dense".to_owned(), |slot| format!("slot {slot}"));
        let raised = if per_s > mean_per_s {
            format!(", and its ceiling was raised ahead for {per_s:.3} a second")
        } else {
            String::new()
        };
        format!(
            "the fastest is {key} ({place}), which rose by {taken} in {over_s} s: a mean of {mean_per_s:.3} a second{raised}"
        )
    }
}

fn estimate(
    rows: &[(Counter, Row)],
    dense: &[DenseRow],
    copy: CopyMade,
    now_ms: u64,
) -> Result<LossEstimate, EngineError> {
    let CopyMade { since_ms, ahead, servers, at_most_per_s } = copy;
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
    let fastest = paces.into_iter().max_by(|a, b| a.per_s.total_cmp(&b.per_s));
    if fastest.is_none() && at_most_per_s.is_none() {
        let bound = "nothing on record tells how fast any counter went: no number had been reported when it was made; \
                     say how fast the busiest sequence may have been asked since, --at-most-per-second N, or name --bump, as its \
                     help says"
            .to_owned();
        return Err(refused(since_ms, bound));
    }
    let assumed = Assumed::of(at_most_per_s, servers, fastest.as_ref());
    let elapsed = Duration::from_millis(now_ms - since_ms) + REPORTED_WITHIN;
    let given = at_pace(assumed.per_s, elapsed);
    let restarts = RESTARTS + elapsed.as_secs().div_ceil(RESTARTS_EACH.as_secs());
    let leaps = at_pace(assumed.per_s, ahead).saturating_mul(restarts);
    let bump = given.saturating_add(leaps).max(BUMP_MIN);
    if bump > BUMP_MAX {
        let most = BUMP_MAX / (elapsed.as_secs() + 1 + restarts * (ahead.as_secs() + 1));
        let bound = format!(
            "with {:.0} numbers a second it works out to {bump} raw ids of each counter, and at most {BUMP_MAX} are named at once: \
             say how fast the busiest sequence may have been asked, --at-most-per-second N, {most} at most, or name --bump",
            assumed.per_s
        );
        return Err(refused(since_ms, bound));
    }
    let (elapsed_s, ahead_s, factor) = (elapsed.as_secs(), ahead.as_secs(), FACTOR);
    Ok(LossEstimate {
        since_ms,
        elapsed_s,
        assumed,
        fastest,
        counters,
        factor,
        given,
        restarts,
        ahead_s,
        leaps,
        bump,
        proof: None,
        uses: Vec::new(),
    })
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
    let mean_per_s = taken as f64 / over_s as f64;
    (taken > 0).then_some(Pace { key, slot, taken, over_s, per_s: mean_per_s, mean_per_s })
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
    use crate::desk::since_rate::{AssumedBy, SERVER_PER_S};
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
        estimate(rows, dense, copy(AHEAD), now).map_err(|error| error.to_string())
    }

    /// A copy of which one a second is said, less than is on record below.
    fn copy(ahead: Duration) -> CopyMade {
        CopyMade { since_ms: SINCE, ahead, servers: 1, at_most_per_s: Some(1) }
    }

    fn unsaid(servers: u64) -> CopyMade {
        CopyMade { servers, at_most_per_s: None, ..copy(AHEAD) }
    }

    #[test]
    fn the_fastest_counter_decides_and_is_reckoned_with_several_times() {
        // 7200 ids in two hours is one a second; what was before the life does not count.
        let rows = [row("slow", 10, 0, 3600, 3700), row("fast", 2, 50_000, 57_200, 57_300)];
        let found = of(&rows, &[], 10).unwrap();
        let fastest = found.fastest.unwrap();
        assert_eq!((fastest.key.as_str(), fastest.slot, found.counters), ("fast", Some(2), 2));
        assert_eq!((fastest.taken, fastest.over_s, found.elapsed_s), (7200, 7200, 36_000));
        assert_eq!((found.given, found.bump), (4 * 36_000, 4 * 36_000 + found.leaps));
        let found = of(&rows, &[dense("invoice", 1, 7200)], 10).unwrap();
        let fastest = found.fastest.unwrap();
        assert_eq!((fastest.key.as_str(), fastest.slot), ("invoice", None));
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
        let none = estimate(&rows, &[], copy(Duration::ZERO), SINCE).unwrap();
        assert_eq!((none.leaps, none.bump), (0, BUMP_MIN));
    }

    #[test]
    fn a_ceiling_far_above_tells_of_a_rate_that_has_grown() {
        let found = of(&[row("order", 100, 0, 360_000, 366_000)], &[], 1).unwrap();
        let fastest = found.fastest.as_ref().unwrap();
        assert!((fastest.per_s - 10.0).abs() < 1e-9, "6000 in ten minutes: {found:?}");
        assert!(
            found.lines()[1]
                .contains("a mean of 1.000 a second, and its ceiling was raised ahead for 10.000")
        );
        assert_eq!(found.bump, 10 * 4 * (3600 + 17 * 600));
    }

    #[test]
    fn it_is_no_less_than_a_cell_proves() {
        let quiet =
            || estimate(&[row("order", 10, 0, 1, 1)], &[], copy(Duration::ZERO), SINCE + HOUR_MS).unwrap();
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
        let rows = [row("order", 10, 0, 1, 1)];
        assert_eq!(estimate(&rows, &[], copy(Duration::ZERO), SINCE + HOUR_MS).unwrap().bump, BUMP_MIN);
        let error = of(&[row("order", 1, 0, 1 << 40, 1 << 40)], &[], 1000).unwrap_err();
        assert!(error.contains(&BUMP_MAX.to_string()) && error.contains("--bump"), "{error}");
    }

    #[test]
    fn where_nothing_gives_a_rate_it_is_said_plainly() {
        for rows in [vec![], vec![row("order", 10, 500, 500, 900)]] {
            let error = estimate(&rows, &[], unsaid(1), SINCE + HOUR_MS).unwrap_err().to_string();
            assert!(error.contains("nothing on record") && error.contains("--bump"), "{error}");
            assert!(error.contains("--at-most-per-second"), "{error}");
            assert_eq!(of(&rows, &[], 1).unwrap().given, 3600, "one a second was said");
        }
        let (counter, mut young) = row("order", 1, 0, 500, 900);
        young.opened_at_ms = SINCE + 1;
        let error = of(&[(counter, young)], &[], 1).unwrap_err();
        assert!(error.contains("no copy of before"), "{error}");
        let error = estimate(&[], &[], unsaid(1), SINCE - 1).unwrap_err().to_string();
        assert!(error.contains("no copy is of a later instant"), "{error}");
    }

    #[test]
    fn a_quiet_time_before_the_copy_tells_nothing_of_the_time_after_it() {
        // Ten numbers in a minute, as of a dense sequence that was busy afterwards.
        let rows = [DenseRow { begun_at_ms: SINCE - 60_000, ..dense("inv", 0, 10) }];
        let found = estimate(&[], &rows, unsaid(1), SINCE + 60_000).unwrap();
        assert!(found.given >= 70 * SERVER_PER_S && found.assumed.by == AssumedBy::Servers, "{found:?}");
        let lines = found.lines();
        assert!(
            lines[0].starts_with("assumed: ") && lines[0].contains("--at-most-per-second N"),
            "{lines:?}"
        );
        assert!(lines[1].contains("rose by 10 in 60 s: a mean of 0.167 a second"), "{lines:?}");
        assert!(!lines.concat().contains("at its fastest"), "{lines:?}");
        assert_eq!(estimate(&[], &rows, unsaid(3), SINCE + 60_000).unwrap().given, 3 * found.given);
        let said = CopyMade { at_most_per_s: Some(5000), ..unsaid(3) };
        let said = estimate(&[], &rows, said, SINCE + 60_000).unwrap();
        assert_eq!((said.given, said.assumed.by), (70 * 5000, AssumedBy::Word));
    }

    #[test]
    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a sum of before"
    )]
    fn it_is_never_less_than_what_the_record_says_four_times_over() {
        for (hours, taken, said) in
            [(1, 7, None), (3, 90_000, Some(1)), (2, 9_000_000, Some(40)), (1, 3_600_000_000, None)]
        {
            let copy = CopyMade { at_most_per_s: said, ..unsaid(1) };
            let found =
                estimate(&[row("order", hours, 0, taken, taken)], &[], copy, SINCE + HOUR_MS - 10_000)
                    .unwrap();
            let mean = taken as f64 / (hours * 3600) as f64;
            let before = (mean * 3600.0 * 4.0).ceil() as u64 + (mean * 600.0 * 4.0).ceil() as u64 * 17;
            assert!(found.bump >= before.max(BUMP_MIN), "{before}: {found:?}");
        }
    }

    #[test]
    fn a_short_sequence_is_used_up_on_an_operators_word_alone() {
        let body = |end| Body::check(Some("dense"), 1, 1, Some(end), None, None).unwrap();
        let layout = Layout::new(2, 0).unwrap();
        let long = ("long".to_owned(), body(1 << 50));
        let short = ("short".to_owned(), body(1_000_000_000));
        let rows = [dense("short", 1, 10)];
        let found = estimate(&[], &rows, unsaid(1), SINCE + HOUR_MS).unwrap();
        found.shared(std::slice::from_ref(&long), layout).check_shares().unwrap();
        let error =
            found.shared(&[long.clone(), short.clone()], layout).check_shares().unwrap_err().to_string();
        for words in ["of short", "1000000000", "--at-most-per-second N", "--bump N"] {
            assert!(error.contains(words), "{words}: {error}");
        }
        let said = CopyMade { at_most_per_s: Some(10_000), ..unsaid(1) };
        let said = estimate(&[], &rows, said, SINCE + HOUR_MS).unwrap().shared(&[long, short], layout);
        said.check_shares().unwrap();
        assert_eq!((said.uses[0].sequence.as_str(), said.uses[0].used), ("short", said.bump));
        assert!(
            said.lines().iter().any(|line| line.contains("of short ") && line.contains(" % are used up")),
            "{said:?}"
        );
    }
}
