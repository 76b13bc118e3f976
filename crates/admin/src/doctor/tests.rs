//! Counters compared with their rows, after faults and manual changes.

use sequent_core::{
    Epoch, InstanceId, Key, Sight, SlotIndex,
    ledger::{Counter, PeriodUnit, Periods, Row},
};

use super::counters::{Kind, Rows, Speaks, high_water::Reaches, history_bounds::Elsewhere, judge};

fn row(epoch: i64, base: u64, seen: u64, ceiling: u64) -> Row {
    let (store, ledger) = (InstanceId::new("run"), InstanceId::new("ledger"));
    Row { epoch: Epoch::from_stored(epoch), store, ledger, base, ceiling, seen, opened_at_ms: 0 }
}

fn held(epoch: i64, open: bool, value: u64) -> Sight {
    Sight::Held { epoch: Epoch::from_stored(epoch), open, value, expires_ms: None }
}

fn kind(before: &Row, after: &Row, sight: &Sight, speaks: &str) -> Option<Kind> {
    let (store, ledger) = (InstanceId::new(speaks), InstanceId::new("ledger"));
    let speaks = Speaks { store: &store, ledger: &ledger };
    judge(
        Rows { before, after, others: None, least: None, begun: 0, followed: 0, reach: None, ended: 0 },
        sight,
        speaks,
    )
    .map(|(kind, _)| kind)
}

#[test]
fn a_counter_between_what_was_given_and_its_ceiling_is_well() {
    let row = row(7, 100, 150, 400);
    for value in [150, 151, 400] {
        assert_eq!(kind(&row, &row, &held(7, true, value), "run"), None, "{value}");
    }
}

#[test]
fn each_trouble_is_known() {
    let row = row(7, 100, 150, 400);
    let fleeting = Sight::Held { epoch: Epoch::from_stored(7), open: true, value: 200, expires_ms: Some(5) };
    for (sight, expected) in [
        (Sight::Missing, Kind::Vanished),
        (Sight::Odd("x".to_owned()), Kind::Odd),
        (held(7, true, 149), Kind::SetBack),
        (held(7, true, 401), Kind::Above),
        (held(7, true, 1 << 62), Kind::Leapt),
        (held(8, true, 200), Kind::OtherEpoch),
        (held(7, false, 200), Kind::Closed),
        (fleeting, Kind::Fleeting),
    ] {
        assert_eq!(kind(&row, &row, &sight, "run"), Some(expected), "{sight:?}");
    }
}

#[test]
fn a_cell_that_is_closed_at_zero_is_as_good_as_none() {
    let judged = |row: &Row, sight: &Sight, least| {
        let speaks = Speaks { store: &row.store, ledger: &row.ledger };
        let rows = Rows {
            before: row,
            after: row,
            others: Some(9000),
            least,
            begun: 0,
            followed: 1 << 20,
            reach: None,
            ended: 0,
        };
        judge(rows, sight, speaks).map(|(kind, _)| kind)
    };
    let (lowered, behind) = (row(7, 0, 4000, 100), row(7, 0, 0, 100));
    for sight in [Sight::Missing, held(7, false, 0), held(9, false, 0)] {
        assert_eq!(judged(&lowered, &sight, None), Some(Kind::Lowered), "{sight:?}");
        assert_eq!(judged(&behind, &sight, Some(9000)), Some(Kind::Behind), "{sight:?}");
    }
    let sound = row(7, 0, 50, 100);
    assert_eq!(judged(&sound, &held(7, false, 0), Some(60)), Some(Kind::Closed));
    let told = judged(&lowered, &held(7, false, 4000), None);
    assert_eq!(told, Some(Kind::Overtaken), "the next epoch begins above its value");
}

#[test]
fn a_ceiling_that_nobody_asked_for_is_known_whatever_became_of_the_cell() {
    let far = Row { ceiling: 1 << 62, ..row(7, 100, 150, 0) };
    for (sight, speaks) in
        [(held(7, true, 200), "run"), (Sight::Missing, "run"), (held(7, false, 3), "another run")]
    {
        assert_eq!(kind(&far, &far, &sight, speaks), Some(Kind::FarCeiling), "{sight:?}");
    }
    let bumped = Row { ceiling: 1 << 62, seen: (1 << 62) - 9, ..row(7, 100, 0, 0) };
    assert_eq!(kind(&bumped, &bumped, &Sight::Missing, "run"), Some(Kind::Vanished), "a loss that was named");
}

#[test]
fn a_row_that_claims_more_than_anybody_can_have_taken_is_held_against_the_other_slots() {
    let far = Row { ceiling: 1 << 62, seen: 1 << 62, ..row(7, 100, 0, 0) };
    let judged = |row: &Row, sight: &Sight, others| {
        let speaks = Speaks { store: &row.store, ledger: &row.ledger };
        judge(
            Rows {
                before: row,
                after: row,
                others,
                least: None,
                begun: 0,
                followed: 0,
                reach: None,
                ended: 0,
            },
            sight,
            speaks,
        )
        .map(|(kind, _)| kind)
    };
    for sight in [held(7, true, 200), held(7, false, 200), Sight::Missing] {
        assert_eq!(judged(&far, &sight, Some(180)), Some(Kind::FarRow), "{sight:?}");
    }
    assert_eq!(judged(&far, &held(7, true, 1 << 62), Some(180)), None, "its cell says so, too");
    assert_eq!(judged(&far, &held(7, true, 1 << 62), Some(1 << 62)), None, "they were moved by a word");
    assert_eq!(judged(&far, &Sight::Missing, Some((1 << 62) - 9)), Some(Kind::Vanished), "the others say so");
    let reaches = |slots: &[SlotIndex]| {
        let of = |slot: &SlotIndex| (Counter { slot: *slot, key: Key::from_stored("k") }, far.clone());
        Reaches::of(&slots.iter().map(of).collect::<Vec<_>>())
    };
    let own = Counter { slot: 2, key: Key::from_stored("k") };
    assert_eq!((reaches(&[2]).beside(&own), reaches(&[1, 2]).beside(&own)), (None, Some(1 << 62)));
}

#[test]
fn neither_row_nor_cell_bears_witness_for_the_other() {
    const FAR: u64 = 1 << 62;
    let judged = |row: &Row, sight: &Sight, others, reach| {
        let speaks = Speaks { store: &row.store, ledger: &row.ledger };
        judge(
            Rows { before: row, after: row, others, least: None, begun: 0, followed: 0, reach, ended: 0 },
            sight,
            speaks,
        )
        .map(|(kind, _)| kind)
    };
    let at = |base, seen, ceiling| row(7, base, seen, ceiling);
    for (others, reach) in [(Some(180), Some(1 << 30)), (None, Some(1 << 30))] {
        for row in [at(FAR, FAR, FAR), at(100, FAR, FAR), at(100, 150, FAR)] {
            for sight in [held(7, true, FAR), held(7, false, FAR), held(7, true, FAR + 900)] {
                assert_eq!(judged(&row, &sight, others, reach), Some(Kind::FarBoth), "{row:?} {sight:?}");
            }
        }
        // A ceiling of 2^50 and a cell of the same value.
        assert_eq!(
            judged(&at(100, 150, 1 << 50), &held(7, true, 1 << 50), others, reach),
            Some(Kind::FarBoth)
        );
        assert_eq!(judged(&at(100, 150, 400), &held(7, true, FAR), others, reach), Some(Kind::Leapt));
        assert_eq!(judged(&at(FAR, FAR, FAR), &held(7, true, 200), others, reach), Some(Kind::FarRow));
        assert_eq!(judged(&at(FAR, FAR, FAR), &Sight::Missing, others, reach), Some(Kind::FarRow));
        assert_eq!(judged(&at(100, 150, FAR), &held(7, true, 200), others, reach), Some(Kind::FarCeiling));
    }
    let (far, cell) = (at(FAR, FAR, FAR), held(7, true, FAR));
    assert_eq!(judged(&far, &cell, Some(FAR - 9), None), None, "the other slots were moved as far");
    assert_eq!(
        judged(&far, &cell, Some(FAR - 9), Some(1 << 30)),
        Some(Kind::FarBoth),
        "one of them by the same hand"
    );
    assert_eq!(
        judged(&at(100, 150, 400), &cell, Some(FAR - 9), Some(1 << 30)),
        Some(Kind::Leapt),
        "the same"
    );
    assert_eq!(judged(&far, &cell, Some(180), Some(FAR)), None, "its history says so, or an advance");
    // Even a counter that came so far over years, while the other slots were out.
    assert_eq!(judged(&at(100, 1 << 50, 1 << 50), &held(7, true, 1 << 50), Some(180), Some(1 << 50)), None);
}

#[test]
fn of_counters_that_are_far_on_alone_more_is_asked() {
    let far = row(7, 100, 1 << 50, 1 << 50);
    let counter = |slot| Counter { slot, key: Key::from_stored("order") };
    let asked = |others: &[(Counter, Row)], sight: &Sight, most| {
        let rows: Vec<(Counter, Row)> = [&[(counter(2), far.clone())], others].concat();
        let (map, reaches) = (rows.iter().cloned().collect(), Reaches::of(&rows));
        super::counters::jumps::doubted([(&counter(2), sight)].into_iter(), &map, &reaches, most).len()
    };
    assert_eq!(asked(&[], &Sight::Missing, 9), 1);
    assert_eq!(asked(&[], &Sight::Missing, 0), 0, "so many and no more");
    assert_eq!(asked(&[(counter(1), far.clone())], &held(7, true, 1 << 50), 9), 0);
    assert_eq!(asked(&[(counter(1), far.clone())], &held(7, true, 1 << 60), 9), 1, "its cell is further");
}

#[test]
fn what_stays_above_its_ceiling_is_an_error_whatever_the_store_is() {
    use sequent_core::DurabilityClass;
    let counter = Counter { slot: 2, key: Key::from_stored("order") };
    let looked = |value, ceiling| {
        let row = row(7, 100, 150, ceiling);
        let speaks = Speaks { store: &row.store, ledger: &row.ledger };
        let rows = [(counter.clone(), row.clone())].into();
        let (cell, reaches) = (held(7, true, value), Reaches::default());
        let cells = [(&counter, &cell)].into_iter();
        super::counters::judge_all(cells, (&rows, &rows), (&reaches, &Elsewhere::default()), speaks).remove(0)
    };
    let before = [looked(4000, 400)];
    assert!(before[0].is_far_above() && !looked(500, 400).is_far_above(), "a few blocks of one that died");
    let severity = |verdict: super::counters::Verdict, class| {
        super::counters::meaning::findings(2, &[verdict], class)[0].severity.as_str()
    };
    for (class, expected) in [
        (DurabilityClass::Volatile, "error"),
        (DurabilityClass::Lossy, "error"),
        (DurabilityClass::Durable, "error"),
    ] {
        assert_eq!(severity(looked(4000, 400).staying(&before), class), expected);
        assert_eq!(
            severity(looked(9000, 400).staying(&before), class),
            expected,
            "it goes on, and nobody raises"
        );
        assert_eq!(severity(looked(9000, 3900).staying(&before), class), "warning", "raised meanwhile");
        assert_eq!(severity(looked(4000, 400), class), "warning", "seen once");
        assert_eq!(severity(looked(500, 400).staying(&[looked(500, 400)]), class), "warning", "a few blocks");
    }
}

#[test]
fn a_time_to_live_hides_nothing_that_can_repeat() {
    let row = row(7, 100, 150, 400);
    let fleeting = |epoch, value| Sight::Held {
        epoch: Epoch::from_stored(epoch),
        open: true,
        value,
        expires_ms: Some(600_000),
    };
    for (sight, expected) in [
        (fleeting(7, 149), Kind::SetBack),
        (fleeting(7, 1 << 62), Kind::Leapt),
        (fleeting(8, 200), Kind::OtherEpoch),
    ] {
        assert_eq!(kind(&row, &row, &sight, "run"), Some(expected), "{sight:?}");
    }
    assert_eq!(kind(&row, &row, &fleeting(7, 3), "another run"), Some(Kind::Fleeting), "it is over anyway");
}

#[test]
fn of_an_earlier_run_of_the_store_only_a_leap_matters() {
    let row = row(7, 100, 150, 400);
    for sight in [held(7, true, 3), held(8, true, 200), held(7, true, 500)] {
        assert_eq!(kind(&row, &row, &sight, "another run"), Some(Kind::Reborn), "{sight:?}");
    }
    assert_eq!(kind(&row, &row, &held(7, true, 1 << 62), "another run"), Some(Kind::Leapt));
}

#[test]
fn an_epoch_that_is_over_hides_no_cell_that_came_further_than_the_ledger_knows() {
    use sequent_core::DurabilityClass;
    let row = row(7, 100, 150, 400);
    for (sight, speaks) in
        [(held(7, true, 4000), "another run"), (held(8, true, 4000), "run"), (held(7, false, 4000), "run")]
    {
        assert_eq!(kind(&row, &row, &sight, speaks), Some(Kind::Overtaken), "{sight:?}");
        assert!(Kind::Overtaken.passes(), "servers may just be at it: it is looked at again");
    }
    let fleeting = Sight::Held { epoch: Epoch::from_stored(7), open: true, value: 4000, expires_ms: Some(5) };
    assert_eq!(
        kind(&row, &row, &fleeting, "another run"),
        Some(Kind::Overtaken),
        "what it causes comes soon"
    );
    // After a recovery that named a sufficient loss.
    let covered = Row { ceiling: 4000, seen: 3750, ..row.clone() };
    assert_eq!(kind(&covered, &covered, &held(7, true, 4000), "another run"), Some(Kind::Reborn));
    let counter = Counter { slot: 2, key: Key::from_stored("order") };
    let rows = [(counter.clone(), row.clone())].into();
    let speaks = Speaks { store: &InstanceId::new("another run"), ledger: &row.ledger };
    let (cell, reaches) = (held(7, true, 4000), Reaches::default());
    let cells = [(&counter, &cell)].into_iter();
    let found = super::counters::judge_all(cells, (&rows, &rows), (&reaches, &Elsewhere::default()), speaks);
    for (class, expected) in [
        (DurabilityClass::Volatile, "error"),
        (DurabilityClass::Lossy, "error"),
        (DurabilityClass::Durable, "error"),
    ] {
        assert_eq!(super::counters::meaning::findings(2, &found, class)[0].severity.as_str(), expected);
    }
}

#[test]
fn what_servers_did_between_two_looks_is_no_trouble() {
    let (before, after) = (row(7, 100, 150, 400), row(7, 100, 390, 900));
    assert_eq!(kind(&before, &after, &held(7, true, 401), "run"), None, "raised meanwhile");
    let next = row(8, 400, 400, 800);
    assert_eq!(kind(&before, &next, &held(8, true, 401), "run"), None, "a new epoch, begun meanwhile");
    assert_eq!(kind(&before, &next, &held(7, true, 399), "run"), None, "seen before it began");
}

#[test]
fn counters_are_grouped_and_a_few_of_them_named() {
    use sequent_core::DurabilityClass;
    let row = row(7, 100, 150, 400);
    let speaks = Speaks { store: &row.store, ledger: &row.ledger };
    let counters: Vec<Counter> =
        (0..9).map(|at| Counter { slot: 2, key: Key::from_stored(&format!("k{at}")) }).collect();
    let rows = counters.iter().map(|counter| (counter.clone(), row.clone())).collect();
    let sights = vec![Sight::Missing; 9];
    let reaches = Reaches::default();
    let verdicts = super::counters::judge_all(
        counters.iter().zip(&sights),
        (&rows, &rows),
        (&reaches, &Elsewhere::default()),
        speaks,
    );
    let found = super::counters::meaning::findings(2, &verdicts, DurabilityClass::Durable);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].severity.as_str(), found[0].keys.len()), ("warning", 5));
    assert!(found[0].found.starts_with("9 counters (k0, k1, k2, k3, k4, …)"), "{}", found[0].found);
    let found = super::counters::meaning::findings(2, &verdicts, DurabilityClass::Volatile);
    assert_eq!(found[0].severity.as_str(), "info", "a volatile store forgets");
}

#[test]
fn a_cell_that_the_ledger_has_no_row_of_is_an_error_where_it_has_given() {
    use sequent_core::DurabilityClass;
    let row = row(7, 100, 150, 400);
    let speaks = Speaks { store: &row.store, ledger: &row.ledger };
    let counter = |slot| Counter { slot, key: Key::from_stored("order") };
    let [own, other] = [[(counter(2), row.clone())], [(counter(1), row.clone())]];
    let judged = |sight: &Sight, before: &[(Counter, Row)], after: &[(Counter, Row)]| {
        let map = |rows: &[(Counter, Row)]| rows.iter().cloned().collect();
        let reaches = Reaches::of(after);
        let cell = [(&counter(2), sight)];
        let rows = (&map(before), &map(after));
        super::counters::judge_all(cell.into_iter(), rows, (&reaches, &Elsewhere::default()), speaks)
    };
    for sight in [held(7, true, 200), held(7, true, 0), held(7, false, 9)] {
        let verdicts = judged(&sight, &other, &other);
        assert_eq!(verdicts.iter().map(|own| own.kind).collect::<Vec<_>>(), [Kind::Rowless], "{sight:?}");
        assert!(Kind::Rowless.passes(), "a server may just have begun it: it is looked at again");
        let found = super::counters::meaning::findings(2, &verdicts, DurabilityClass::Durable);
        assert_eq!(found[0].severity.as_str(), "error", "{found:?}");
    }
    let covered = |value| {
        let (cell, reaches) = (held(7, true, value), Reaches::of(&other).above(200));
        let (rows, counter) = (other.iter().cloned().collect(), counter(2));
        let cells = [(&counter, &cell)].into_iter();
        super::counters::judge_all(cells, (&rows, &rows), (&reaches, &Elsewhere::default()), speaks).len()
    };
    assert_eq!((covered(200), covered(201)), (0, 1), "a recovery left a floor of 200");
    for sight in [held(7, false, 0), Sight::Missing, Sight::Odd("x".to_owned())] {
        assert!(judged(&sight, &other, &other).is_empty(), "{sight:?}");
    }
    assert!(judged(&held(7, true, 200), &other, &own).is_empty(), "begun between the looks");
    assert!(judged(&held(7, true, 200), &own, &own).is_empty());
}

#[test]
fn of_each_key_that_any_row_names_every_slot_is_asked() {
    let row = row(7, 100, 150, 400);
    let all = [(2, "order"), (1, "bill")]
        .map(|(slot, key)| (Counter { slot, key: Key::from_stored(key) }, row.clone()));
    let (rows, reaches) = (all.iter().cloned().collect(), Reaches::of(&all));
    let named = reaches.keys().cloned().collect();
    let asked = |slot, reaches: &Reaches| {
        let keys = super::asked_of(slot, (&rows, reaches), (&super::Strays::default(), &named));
        keys.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(asked(0, &reaches), ["bill", "order"]);
    assert_eq!(asked(2, &reaches), ["order", "bill"], "those with a row first: they are what is counted");
    assert_eq!(asked(2, &Reaches::default()), ["order"], "which rows are there is not known");
    let cut: Vec<_> = std::iter::repeat_n(all[0].clone(), super::collect::ROWS_MAX).collect();
    assert_eq!(asked(0, &Reaches::of(&cut)), [""; 0], "there may be more rows than were read");
}

#[test]
fn a_key_behind_a_fence_is_over() {
    let periods = Periods { sequence: "order".to_owned(), unit: PeriodUnit::Day };
    let fences = [(periods, 20_170_304)].into();
    let is_over = |key: &str| super::counters::keys::is_over(&Key::from_stored(key), &fences);
    assert!(is_over("order|8:20170303") && is_over("order|8:20170304|3:010"));
    assert!(!is_over("order|8:20170305") && !is_over("bill|8:20170303") && !is_over("order"));
}

#[test]
fn a_row_and_a_cell_that_agree_are_held_against_the_other_slots() {
    let judged = |row: &Row, sight: &Sight, least, begun| {
        let speaks = Speaks { store: &row.store, ledger: &row.ledger };
        let rows = Rows {
            before: row,
            after: row,
            others: least,
            least,
            begun,
            followed: 1 << 20,
            reach: None,
            ended: 0,
        };
        judge(rows, sight, speaks).map(|(kind, _)| kind)
    };
    let at = |reach, ceiling| row(7, 0, reach, ceiling);
    for (row, sight) in [
        (at(0, 0), held(7, true, 0)),
        (at(0, 760), held(7, true, 0)),
        (at(100, 100), held(7, true, 100)),
        (at(0, 0), held(7, false, 1)),
        (at(0, 0), held(9, true, 0)),
    ] {
        assert_eq!(judged(&row, &sight, Some(760), 0), Some(Kind::Lagging), "{row:?} {sight:?}");
    }
    assert!(Kind::Lagging.passes(), "the others may just have gone ahead: it is looked at again");
    let (young, busy) = (at(0, 0), at(50_000, 945_000));
    assert_eq!(judged(&young, &held(7, true, 0), Some(256), 0), None, "a few blocks");
    assert_eq!(judged(&at(400, 400), &held(7, true, 400), Some(800), 0), None, "half of what they gave");
    assert_eq!(
        judged(&busy, &held(7, true, 50_000), Some(58_900), 0),
        None,
        "they take turns in great blocks"
    );
    assert_eq!(judged(&busy, &held(7, true, 50_000), Some(59_000), 0), Some(Kind::Lagging));
    assert_eq!(
        judged(&at(10, 10), &held(7, true, 10), Some(9000), 8000),
        None,
        "they rest until it comes up"
    );
    assert_eq!(judged(&young, &held(7, true, 0), None, 0), None, "it is alone");
}
