//! Counters compared with their rows, after faults and manual changes.

use std::collections::BTreeMap;

use sequent_core::{
    Condition, Epoch, InstanceId, Key, Sight, SlotIndex,
    ledger::{Counter, PeriodUnit, Periods, Row},
};
use sequent_engine::data::jump_advice;

use super::{
    Kind, Ledgered, Verdict, findings,
    history::{History, high},
    judge::{Fault, Instances, Known},
    keys::{named, select},
    rows::{KeyRows, OtherSlots, Rows},
    terms::{Terms, is_over},
    unlisted_cells::Strays,
};
use crate::doctor::{collect::ROWS_MAX, report::Severity};

const FAR: u64 = 1 << 62;

fn row(epoch: i64, base: u64, seen: u64, ceiling: u64) -> Row {
    let (store, ledger) = (InstanceId::new("run"), InstanceId::new("ledger"));
    Row { epoch: Epoch::from_stored(epoch), store, ledger, base, ceiling, seen, opened_at_ms: 0 }
}

fn held(epoch: i64, open: bool, value: u64) -> Sight {
    Sight::Held { epoch: Epoch::from_stored(epoch), open, value, expires_ms: None }
}

fn expiring(epoch: i64, value: u64) -> Sight {
    Sight::Held { epoch: Epoch::from_stored(epoch), open: true, value, expires_ms: Some(600_000) }
}

fn odd() -> Sight {
    Sight::Odd("x".to_owned())
}

fn known<'a>(before: &'a Row, after: &'a Row) -> Known<'a> {
    Known { before, after, others: None, followed: 1 << 20, bound: None, ended: 0 }
}

fn fault(known: Known<'_>, sight: &Sight, run: &str) -> Option<Fault> {
    let (store, ledger) = (InstanceId::new(run), InstanceId::new("ledger"));
    known.judge(sight, Instances { store: &store, ledger: &ledger })
}

fn kind(row: &Row, sight: &Sight, run: &str) -> Option<Kind> {
    fault(known(row, row), sight, run).map(|fault| fault.kind)
}

#[test]
fn a_counter_between_what_was_given_and_its_ceiling_is_well() {
    let row = row(7, 100, 150, 400);
    // A few blocks above it are what a server leaves that died while it took them.
    for value in [150, 151, 400, 656] {
        assert_eq!(kind(&row, &held(7, true, value), "run"), None, "{value}");
    }
}

#[test]
fn each_fault_is_found() {
    let row = row(7, 100, 150, 400);
    for (sight, expected) in [
        (Sight::Missing, Kind::CounterNewEpoch),
        (odd(), Kind::CounterUnreadable),
        (held(7, true, 149), Kind::CounterBehind),
        (held(7, true, 657), Kind::CounterAboveCeiling),
        (held(7, true, FAR), Kind::CounterFarAhead),
        (held(8, true, 200), Kind::CounterNewEpoch),
        (held(7, false, 200), Kind::CounterNewEpoch),
        (expiring(7, 200), Kind::CounterExpires),
    ] {
        assert_eq!(kind(&row, &sight, "run"), Some(expected), "{sight:?}");
    }
}

#[test]
fn a_cell_without_ids_hides_no_row_that_was_lowered() {
    let others = Some(OtherSlots { reached: 9000, base: 0 });
    let judged = |row: &Row, sight: &Sight, others, followed| {
        fault(Known { others, followed, ..known(row, row) }, sight, "run").map(|fault| fault.kind)
    };
    let (lowered, low) = (row(7, 0, 4000, 100), row(7, 0, 0, 100));
    for sight in [Sight::Missing, held(7, false, 0), held(9, false, 0)] {
        assert_eq!(judged(&lowered, &sight, None, 0), Some(Kind::CounterBehind), "{sight:?}");
        let followed = judged(&low, &sight, others, 1 << 20);
        assert_eq!(followed, Some(Kind::CounterBehindOtherSlots), "{sight:?}");
        assert_eq!(judged(&low, &sight, others, 20), Some(Kind::CounterBehind), "no epoch follows so far");
    }
    let near = Some(OtherSlots { reached: 60, base: 0 });
    let sound = row(7, 0, 50, 100);
    assert_eq!(judged(&sound, &held(7, false, 0), near, 1 << 20), Some(Kind::CounterNewEpoch));
    let above = judged(&lowered, &held(7, false, 4000), None, 0);
    assert_eq!(above, Some(Kind::CounterAboveCeiling), "the next epoch begins above its value");
}

#[test]
fn what_goes_on_below_the_ceiling_of_an_ended_epoch_was_set_lower() {
    let judged = |row: &Row, sight: &Sight, run: &str| {
        fault(Known { ended: 6000, ..known(row, row) }, sight, run).map(|fault| fault.kind)
    };
    let at = |base, seen, ceiling| row(7, base, seen, ceiling);
    for (row, sight, run) in [
        (at(100, 100, 100), held(7, true, 100), "run"),
        (at(100, 100, 9000), held(7, true, 5999), "run"),
        (at(100, 100, 100), held(7, false, 100), "run"),
        (at(100, 100, 100), held(7, true, 100), "another run"),
        (at(0, 0, 5999), Sight::Missing, "run"),
        (at(0, 0, 5999), odd(), "run"),
    ] {
        assert_eq!(judged(&row, &sight, run), Some(Kind::CounterBehind), "{row:?} {sight:?} {run}");
    }
    for (row, sight, run) in [
        (at(6000, 6000, 6000), held(7, true, 6000), "run"),
        (at(100, 100, 6000), held(7, true, 6000), "run"),
        (at(100, 100, 6000), held(7, false, 100), "run"),
        (at(100, 100, 6000), held(7, true, 100), "another run"),
        (at(100, 100, 6000), Sight::Missing, "run"),
    ] {
        assert_ne!(judged(&row, &sight, run), Some(Kind::CounterBehind), "{row:?} {sight:?} {run}");
    }
}

#[test]
fn a_value_far_ahead_of_all_else_is_found_whichever_was_set() {
    let at = |base, seen, ceiling| row(7, base, seen, ceiling);
    let (row_far, both, ceiling) =
        (Some(Condition::FarRow), Some(Condition::FarRowAndCell), Some(Condition::FarCeiling));
    let judged = |row: &Row, sight: &Sight, bound| fault(Known { bound, ..known(row, row) }, sight, "run");
    for (row, sight, condition) in [
        (at(FAR, FAR, FAR), held(7, true, FAR), both),
        (at(100, FAR, FAR), held(7, false, FAR), both),
        (at(100, 150, FAR), held(7, true, FAR + 900), both),
        (at(100, 150, 1 << 50), held(7, true, 1 << 50), both),
        (at(100, 150, 400), held(7, true, FAR), None),
        (at(FAR, FAR, FAR), held(7, true, 200), row_far),
        (at(FAR, FAR, FAR), Sight::Missing, row_far),
        (at(100, 150, FAR), held(7, true, 200), ceiling),
        (at(100, 150, FAR), Sight::Missing, ceiling),
        (at(100, 150, FAR), held(7, false, 3), ceiling),
    ] {
        let found = judged(&row, &sight, Some(1 << 30)).unwrap();
        assert_eq!(found.kind, Kind::CounterFarAhead, "{row:?} {sight:?}");
        assert_eq!(found.advice, jump_advice(condition), "{row:?} {sight:?}");
    }
    assert_eq!(judged(&at(FAR, FAR, FAR), &held(7, true, FAR), None), None, "its history is not known");
    assert_eq!(judged(&at(FAR, FAR, FAR), &held(7, true, FAR), Some(FAR)), None, "its history shows it");
    let bumped = judged(&at(100, FAR - 9, FAR), &Sight::Missing, None).unwrap();
    assert_eq!(bumped.kind, Kind::CounterNewEpoch, "a loss that was named");
}

#[test]
fn the_history_is_read_of_counters_that_are_far_on_alone() {
    let far = row(7, 100, 1 << 50, 1 << 50);
    let counter = |slot| Counter { slot, key: Key::from_stored("order") };
    let asked = |others: &[(Counter, Row)], sight: &Sight| {
        let rows: Vec<(Counter, Row)> = [&[(counter(2), far.clone())], others].concat();
        let (map, by_key): (Rows, _) = (rows.iter().cloned().collect(), KeyRows::of(&rows));
        high([(&counter(2), sight)].into_iter(), &map, &by_key).count()
    };
    assert_eq!(asked(&[], &Sight::Missing), 1);
    assert_eq!(asked(&[(counter(1), far.clone())], &held(7, true, 1 << 50)), 0);
    assert_eq!(asked(&[(counter(1), far.clone())], &held(7, true, 1 << 60)), 1, "its cell is further");
}

#[test]
fn a_time_to_live_hides_nothing_that_can_repeat() {
    let row = row(7, 100, 150, 400);
    for (sight, run, expected) in [
        (expiring(7, 149), "run", Kind::CounterBehind),
        (expiring(7, FAR), "run", Kind::CounterFarAhead),
        (expiring(7, 4000), "another run", Kind::CounterAboveCeiling),
        (expiring(7, 3), "another run", Kind::CounterExpires),
    ] {
        assert_eq!(kind(&row, &sight, run), Some(expected), "{sight:?}");
    }
}

#[test]
fn an_epoch_that_is_over_hides_no_cell_above_its_ceiling() {
    let row = row(7, 100, 150, 400);
    for (sight, run) in
        [(held(7, true, 4000), "another run"), (held(8, true, 4000), "run"), (held(7, false, 4000), "run")]
    {
        assert_eq!(kind(&row, &sight, run), Some(Kind::CounterAboveCeiling), "{sight:?}");
    }
    for sight in [held(7, true, 3), held(8, true, 200), held(7, true, 500)] {
        assert_eq!(kind(&row, &sight, "another run"), Some(Kind::CounterNewEpoch), "{sight:?}");
    }
    // After a recovery that named a sufficient loss.
    let covered = Row { ceiling: 4000, seen: 3750, ..row };
    assert_eq!(kind(&covered, &held(7, true, 4000), "another run"), Some(Kind::CounterNewEpoch));
}

#[test]
fn what_servers_did_between_two_reads_is_no_fault() {
    let (before, after) = (row(7, 100, 150, 400), row(7, 100, 390, 900));
    let judged = |after: &Row, sight: &Sight| fault(known(&before, after), sight, "run");
    assert_eq!(judged(&after, &held(7, true, 901)), None, "raised meanwhile");
    let next = row(8, 400, 400, 800);
    assert_eq!(judged(&next, &held(8, true, 401)), None, "a new epoch, begun meanwhile");
    assert_eq!(judged(&next, &held(7, true, 399)), None, "read before it began");
}

#[test]
fn a_row_and_a_cell_that_agree_are_compared_with_the_other_slots() {
    let judged = |row: &Row, sight: &Sight, reached, base| {
        let others = Some(OtherSlots { reached, base });
        fault(Known { others, ..known(row, row) }, sight, "run").map(|fault| fault.kind)
    };
    let at = |reach, ceiling| row(7, 0, reach, ceiling);
    let behind = Some(Kind::CounterBehindOtherSlots);
    for (row, sight) in [
        (at(0, 0), held(7, true, 0)),
        (at(0, 760), held(7, true, 0)),
        (at(100, 100), held(7, true, 100)),
        (at(0, 0), held(7, false, 1)),
        (at(0, 0), held(9, true, 0)),
    ] {
        assert_eq!(judged(&row, &sight, 760, 0), behind, "{row:?} {sight:?}");
    }
    let (young, busy) = (at(0, 0), at(50_000, 945_000));
    assert_eq!(judged(&young, &held(7, true, 0), 256, 0), None, "a few blocks");
    assert_eq!(judged(&at(400, 400), &held(7, true, 400), 800, 0), None, "half of what they gave");
    assert_eq!(judged(&busy, &held(7, true, 50_000), 58_900, 0), None, "they take turns in great blocks");
    assert_eq!(judged(&busy, &held(7, true, 50_000), 59_000, 0), behind);
    assert_eq!(judged(&at(10, 10), &held(7, true, 10), 9000, 8000), None, "they rest until it comes up");
}

/// The verdicts on a cell of slot 2, with these rows and this floor.
fn verdicts(sight: &Sight, before: &[(Counter, Row)], after: &[(Counter, Row)], floor: u64) -> Vec<Verdict> {
    let map = |rows: &[(Counter, Row)]| -> Rows { rows.iter().cloned().collect() };
    let (counter, terms) = (order(2), Terms { floor, ..Terms::default() });
    let (store, ledger) = (InstanceId::new("run"), InstanceId::new("ledger"));
    let known = Ledgered {
        before: &map(before),
        after: &map(after),
        by_key: &KeyRows::of(after),
        history: &History::default(),
        terms: &terms,
    };
    known.judge([(&store, &counter, sight)].into_iter(), &ledger)
}

fn order(slot: SlotIndex) -> Counter {
    Counter { slot, key: Key::from_stored("order") }
}

#[test]
fn a_cell_without_a_row_is_an_error_where_it_has_given() {
    let row = row(7, 100, 150, 400);
    let [own, other] = [[(order(2), row.clone())], [(order(1), row)]];
    for sight in [held(7, true, 200), held(7, true, 0), held(7, false, 9)] {
        let found = verdicts(&sight, &other, &other, 0);
        assert_eq!(found.iter().map(|own| own.fault.kind).collect::<Vec<_>>(), [Kind::CounterWithoutRow]);
        assert_eq!(findings(2, &found.iter().collect::<Vec<_>>())[0].severity, Severity::Error);
    }
    let covered = |value| verdicts(&held(7, true, value), &other, &other, 200).len();
    assert_eq!((covered(200), covered(201)), (0, 1), "a recovery left a floor of 200");
    for sight in [held(7, false, 0), Sight::Missing] {
        assert!(verdicts(&sight, &other, &other, 0).is_empty(), "{sight:?}");
    }
    let unreadable = verdicts(&odd(), &other, &other, 0);
    assert_eq!(unreadable.iter().map(|own| own.fault.kind).collect::<Vec<_>>(), [Kind::CounterUnreadable]);
    assert!(verdicts(&held(7, true, 200), &other, &own, 0).is_empty(), "begun between the reads");
    assert!(verdicts(&held(7, true, 200), &own, &own, 0).is_empty());
}

#[test]
fn only_what_stays_above_its_ceiling_is_reported() {
    let read = |value, ceiling| {
        let rows = [(order(2), row(7, 100, 150, ceiling))];
        verdicts(&held(7, true, value), &rows, &rows, 0).remove(0)
    };
    let before = [read(4000, 400)];
    assert!(read(4000, 400).stays_above(&before) && read(9000, 400).stays_above(&before));
    assert!(!read(9000, 3900).stays_above(&before), "raised meanwhile");
}

#[test]
fn counters_are_grouped_and_a_few_of_them_named() {
    let counters: Vec<Counter> =
        (0..9).map(|at| Counter { slot: 2, key: Key::from_stored(&format!("k{at}")) }).collect();
    let row = row(7, 100, 150, 400);
    let rows: Rows = counters.iter().map(|counter| (counter.clone(), row.clone())).collect();
    let known = Ledgered {
        before: &rows,
        after: &rows,
        by_key: &KeyRows::default(),
        history: &History::default(),
        terms: &Terms::default(),
    };
    let cells = counters.iter().map(|counter| (&row.store, counter, &Sight::Missing));
    let verdicts = known.judge(cells, &row.ledger);
    let found = findings(2, &verdicts.iter().collect::<Vec<_>>());
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].kind, found[0].keys.len()), (Kind::CounterNewEpoch, 5));
    assert!(found[0].found.starts_with("9 counters (k0, k1, k2, k3, k4, …)"), "{}", found[0].found);
}

#[test]
fn of_each_key_that_any_row_names_every_slot_is_asked() {
    let row = row(7, 100, 150, 400);
    let all = [(2, "order"), (1, "bill")]
        .map(|(slot, key)| (Counter { slot, key: Key::from_stored(key) }, row.clone()));
    let (rows, by_key): (Rows, _) = (all.iter().cloned().collect(), KeyRows::of(&all));
    let terms = Terms { fences: Some(BTreeMap::new()), ..Terms::default() };
    let named = named(&by_key, &terms);
    let asked = |slot, by_key: &KeyRows| {
        let counters = select(slot, (&rows, by_key), (&Strays::default(), &named));
        counters.iter().map(|counter| counter.key.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(asked(0, &by_key), ["bill", "order"]);
    assert_eq!(asked(2, &by_key), ["order", "bill"], "those with a row first: they are what is counted");
    assert_eq!(asked(2, &KeyRows::default()), ["order"], "which rows are there is not known");
    let cut: Vec<_> = std::iter::repeat_n(all[0].clone(), ROWS_MAX).collect();
    assert_eq!(asked(0, &KeyRows::of(&cut)), [""; 0], "there may be more rows than were read");
}

#[test]
fn a_key_behind_a_fence_is_over() {
    let periods = Periods { sequence: "order".to_owned(), unit: PeriodUnit::Day };
    let fences = [(periods, 20_170_304)].into();
    let is_over = |key: &str| is_over(&Key::from_stored(key), &fences);
    assert!(is_over("order|8:20170303") && is_over("order|8:20170304|3:010"));
    assert!(!is_over("order|8:20170305") && !is_over("bill|8:20170303") && !is_over("order"));
}
