//! Tests of the plan: what becomes what, and what is refused.

use super::*;
use crate::import::OldTexts;

fn counter(name: &str, next: u64, step: u64) -> OldCounter {
    let (source, name) = ("t".to_owned(), name.to_owned());
    let (encoded, tables, texts, note) = (None, None, None, None);
    OldCounter { source, name, next: Ok(next), step, end: None, encoded, tables, texts, note }
}

fn ring() -> Layout {
    Layout::new(2, 0).unwrap()
}

/// The counters as of noon of 2026-03-05 in UTC.
fn named(counters: Vec<OldCounter>, choice: &Choice) -> Vec<Planned> {
    let now = "2026-03-05T12:00:00Z".parse().unwrap();
    super::named(counters, choice, PlanFacts { layout: ring(), now, adopts_tables: false })
}

/// A counter of each day, whose last number, 41, is of this one.
fn dated(period: Option<&str>) -> OldCounter {
    let (template, period) = ("P@{date,yyMMdd}@{seq,w=6}".to_owned(), period.map(str::to_owned));
    OldCounter { texts: Some(OldTexts { template, resets: true, period }), ..counter("doc", 42, 1) }
}

/// The note of a dated counter; an error if it is refused.
fn told(period: Option<&str>, choice: &Choice) -> Result<Option<String>, String> {
    let shown = named(vec![dated(period)], choice).remove(0).shown;
    match shown.action {
        Action::Refused => Err(shown.note.unwrap()),
        _ => Ok(shown.note),
    }
}

#[test]
fn a_date_that_is_none_or_later_than_today_is_refused() {
    let of_zone = |zone: &str| Choice { zone: Some(zone.to_owned()), ..Choice::default() };
    let zone = "its dates are those of UTC: --zone names another".to_owned();
    assert_eq!(told(Some("20260305"), &Choice::default()), Ok(Some(zone)));
    assert_eq!(
        told(Some("20261399"), &Choice::default()).unwrap_err(),
        "maxdate is 20261399: there is no such date"
    );
    assert_eq!(
        told(Some("20260306"), &Choice::default()).unwrap_err(),
        "maxdate is 20260306: at most 20260305 is allowed, today's in UTC; name the zone of its dates by --zone"
    );
    assert_eq!(told(Some("20260306"), &of_zone("Pacific/Kiritimati")), Ok(None), "it is the 6th there");
}

#[test]
fn room_of_a_dated_counter_is_for_today_alone() {
    let choice = Choice { ahead: 100, ..Choice::default() };
    let note = told(Some("20260305"), &choice).unwrap().unwrap();
    assert!(note.contains("the room is in 20260305 alone, and the next date begins at 1"), "{note}");
    for period in [Some("20260304"), None] {
        let why = told(period, &choice).unwrap_err();
        assert!(why.contains("would begin 20260305 at 1") && why.ends_with("without --ahead"), "{why}");
    }
    assert!(told(Some("20260304"), &Choice::default()).is_ok());
}

#[test]
fn a_sequence_in_another_zone_is_refused() {
    let mut planned = named(vec![dated(Some("20260305"))], &Choice::default()).remove(0);
    let template = planned.shown.template.clone();
    let existing = |zone: &str| Existing {
        start: 1,
        end: 999,
        step: 1,
        template: template.clone(),
        zone: Some(zone.to_owned()),
        numbering: Numbering::Ordinal,
        held: 0,
    };
    settle(&mut planned, Some(&existing("UTC")), (&Choice::default(), ring()));
    assert_eq!(planned.shown.action, Action::Advance);
    settle(&mut planned, Some(&existing("Asia/Shanghai")), (&Choice::default(), ring()));
    let note = planned.shown.note.unwrap();
    assert!(note.contains("found Asia/Shanghai, expected UTC; say --zone Asia/Shanghai"), "{note}");
}

#[test]
fn slot_tables_that_are_not_as_many_as_slots_are_confirmed() {
    let told = |found: usize, tables: Option<usize>| {
        let counter = OldCounter { tables: Some(found), ..counter("sto", 32, 1) };
        let shown = named(vec![counter], &Choice { tables, ..Choice::default() }).remove(0).shown;
        (shown.action == Action::Refused, shown.note.unwrap())
    };
    assert_eq!(told(4, None), (false, "tables found: 4".to_owned()));
    assert_eq!(told(2, Some(2)), (false, "tables found: 2".to_owned()));
    let (refused, why) = told(2, None);
    assert!(refused && why.starts_with("tables found: 2, slots of this ring: 4: "), "{why}");
    assert!(why.ends_with("say --tables 2"), "{why}");
    assert!(told(4, Some(8)).0);
}

#[test]
fn a_zone_or_placement_that_is_none_is_refused_without_a_counter_that_needs_it() {
    let fault = |choice: Choice| check_choice(&choice).unwrap_err().to_string();
    let zone = fault(Choice { zone: Some("Asia/Peking".to_owned()), ..Choice::default() });
    assert_eq!(zone, "zone is \"Asia/Peking\": an IANA name such as Asia/Shanghai is expected");
    let placement = fault(Choice { placement: Some("wide".to_owned()), ..Choice::default() });
    assert_eq!(placement, "placement is \"wide\": spread and dense are known");
    assert!(check_choice(&Choice::default()).is_ok());
}

#[test]
fn numbers_of_slot_tables_stay_encoded_if_the_ring_has_as_many_slots() {
    let tables = |shard_bits| {
        let encoded = Layout::new(shard_bits, 0).ok();
        let mut planned =
            named(vec![OldCounter { encoded, ..counter("sto", 32, 1) }], &Choice::default()).remove(0);
        settle(&mut planned, None, (&Choice::default(), ring()));
        planned
    };
    let kept = tables(2);
    assert_eq!((kept.shown.numbering, kept.shown.start, kept.shown.to), (Some("encoded"), None, Some(31)));
    assert_eq!(kept.body.unwrap().numbering(), Numbering::Encoded);
    let other = tables(1);
    assert_eq!((other.shown.numbering, other.shown.start), (None, Some(32)));
    let note = other.shown.note.unwrap();
    assert!(note.contains("n=1 m=0") && note.contains("n=2 m=0"), "{note}");
}

#[test]
fn a_counter_that_gave_nothing_begins_at_zero() {
    let mut planned = named(vec![counter("user", 0, 10)], &Choice::default()).remove(0);
    settle(&mut planned, None, (&Choice::default(), ring()));
    assert_eq!(
        (planned.shown.action, planned.shown.start, planned.shown.to),
        (Action::Define, Some(0), None)
    );
}

#[test]
fn a_last_number_is_that_of_the_other_system_if_it_is_lower() {
    let of = |next: u64, end: u64| {
        let mut planned =
            named(vec![OldCounter { end: Some(end), ..counter("order", next, 1) }], &Choice::default())
                .remove(0);
        settle(&mut planned, None, (&Choice::default(), ring()));
        (planned.shown.end, planned.shown.placement, planned.shown.note.unwrap_or_default())
    };
    assert_eq!(
        of(7, 5_000_000),
        (Some(5_000_000), Some("spread"), "it ends at 5000000, as there".to_owned())
    );
    assert_eq!(of(7, 7), (Some(7), Some("dense"), "it ends at 7, as there".to_owned()));
    assert_eq!(of(7, 1 << 60), (None, Some("spread"), String::new()), "beyond numbers of JavaScript");
    assert_eq!(of(1 << 53, 1 << 60).0, Some(1 << 60));
    let (end, _, why) = of(8, 7);
    assert_eq!((end, &*why), (None, "its next number is 8, and the other system ends at 7: none is left"));
}

#[test]
fn what_a_sequence_that_is_there_does_otherwise_is_told() {
    let mut planned =
        named(vec![OldCounter { end: Some(500), ..counter("order", 51, 10) }], &Choice::default()).remove(0);
    let numbering = Numbering::Ordinal;
    let existing = Existing { start: 1, end: 999, step: 1, template: None, zone: None, numbering, held: 0 };
    settle(&mut planned, Some(&existing), (&Choice::default(), ring()));
    assert_eq!(planned.shown.action, Action::Advance);
    let note = planned.shown.note.unwrap();
    assert_eq!(note, "its step is 10 there, and stays 1 here; it ends at 500 there, and at 999 here");
    let (own, other) = (ring(), Layout::new(1, 0).unwrap());
    for (encoded, numbering, expected) in [
        (own, Numbering::Ordinal, Some("go on without slots in them")),
        (own, Numbering::Encoded, None),
        (other, Numbering::Encoded, Some("they go on by this ring's")),
    ] {
        let old = OldCounter { encoded: Some(encoded), ..counter("sto", 51, 1) };
        let mut planned = named(vec![old], &Choice::default()).remove(0);
        settle(&mut planned, Some(&Existing { numbering, ..existing.clone() }), (&Choice::default(), own));
        let note = planned.shown.note.unwrap_or_default();
        assert_eq!(note.contains(expected.unwrap_or("encoded")), expected.is_some(), "{note}");
    }
}

#[test]
fn room_for_the_other_system_is_left_in_steps() {
    let choice = Choice { ahead: 100, ..Choice::default() };
    let mut planned = named(vec![counter("order", 51, 10)], &choice).remove(0);
    assert_eq!(planned.shown.to, Some(50 + 1000));
    settle(&mut planned, None, (&choice, ring()));
    assert_eq!((planned.shown.action, planned.shown.start), (Action::Define, Some(1051)));
}

#[test]
fn one_of_several_slot_tables_may_use_the_room_up() {
    let to = |tables: usize, encoded: Layout, ahead| {
        let old = OldCounter { tables: Some(tables), encoded: Some(encoded), ..counter("sto", 32, 1) };
        named(vec![old], &Choice { ahead, ..Choice::default() }).remove(0).shown.to
    };
    assert_eq!(to(4, ring(), 100), Some(31 + 400));
    assert_eq!(to(4, Layout::new(2, 3).unwrap(), 100), Some(31 + 4 * 104), "ids of eight numbers");
}

#[test]
fn a_table_whose_rows_callers_insert_has_no_room() {
    let of = |source: &str, ahead| {
        let old = OldCounter { source: source.to_owned(), ..counter("orders", 101, 1) };
        named(vec![old], &Choice { ahead, ..Choice::default() }).remove(0).shown
    };
    let refused = of("ids", 1000);
    assert_eq!(refused.action, Action::Refused);
    assert!(refused.note.unwrap().starts_with("ahead is 1000: an id that a caller inserts"));
    assert_ne!(of("ids", 0).action, Action::Refused);
    assert_ne!(of("columns", 1000).action, Action::Refused);
}

#[test]
fn two_counters_of_one_name_are_both_refused() {
    let planned = named(
        vec![counter("a:x", 2, 1), counter("b:x", 3, 1)],
        &Choice { mappings: vec!["a:*=*".parse().unwrap(), "b:*=*".parse().unwrap()], ..Choice::default() },
    );
    assert!(planned.iter().all(|planned| planned.shown.action == Action::Refused));
    assert_eq!(
        planned[0].shown.note.as_deref(),
        Some("2 counters would become x: name them apart by --map, such as --map t.a:x=NEW")
    );
}

#[test]
fn a_name_that_is_none_is_refused_with_what_to_do() {
    let planned = named(vec![counter("seq/order", 2, 1)], &Choice::default()).remove(0);
    assert!(planned.shown.note.unwrap().ends_with(": name another by --map"));
}

#[test]
fn numbers_above_those_of_javascript_are_defined_for_64_bits() {
    let mut planned = named(vec![counter("order", 1 << 53, 1)], &Choice::default()).remove(0);
    settle(&mut planned, None, (&Choice::default(), ring()));
    assert_eq!(planned.shown.action, Action::Define, "{:?}", planned.shown.note);
}
