//! What is worked out of a copy, and what is refused.

use sequent_core::{
    Epoch, InstanceId, Key,
    ledger::{Counter, DenseRow, Row},
};

use super::rate::SERVER_PER_S;
use super::*;
use crate::cell_scan::Reached;

const HOUR_MS: u64 = 3_600_000;
const SINCE: u64 = 1_000 * HOUR_MS;
const AHEAD: Duration = Duration::from_secs(600);

/// A counter that was opened so many hours before the copy.
fn row(key: &str, hours: u64, base: u64, seen: u64, ceiling: u64) -> (Counter, Row) {
    let (store, ledger) = (InstanceId::new("s"), InstanceId::new("l"));
    let opened_at_ms = SINCE - hours * HOUR_MS;
    let epoch = Epoch::from_stored(9);
    let row = Row { epoch, store, ledger, base, ceiling, seen, opened_at_ms };
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
    // 7200 ids in two hours is one a second; what was before the epoch does not count.
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
        found.lines()[1].contains("a mean of 1.000 a second, and its ceiling was raised ahead for 10.000")
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
    assert!(lines[0].starts_with("assumed: ") && lines[0].contains("--at-most-per-second N"), "{lines:?}");
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
            estimate(&[row("order", hours, 0, taken, taken)], &[], copy, SINCE + HOUR_MS - 10_000).unwrap();
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
    let error = found.shared(&[long.clone(), short.clone()], layout).check_shares().unwrap_err().to_string();
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
