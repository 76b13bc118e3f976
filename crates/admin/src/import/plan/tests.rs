//! Tests of the plan: what becomes what, and what is refused.

use super::*;

fn counter(name: &str, next: u64, step: u64) -> OldCounter {
    let (source, name) = ("t".to_owned(), name.to_owned());
    OldCounter { source, name, next: Ok(next), step, encoded: None, texts: None }
}

fn ring() -> Layout {
    Layout::new(2, 0).unwrap()
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
fn room_for_the_other_system_is_left_in_steps() {
    let choice = Choice { ahead: 100, ..Choice::default() };
    let mut planned = named(vec![counter("order", 51, 10)], &choice).remove(0);
    assert_eq!(planned.shown.to, Some(50 + 1000));
    settle(&mut planned, None, (&choice, ring()));
    assert_eq!((planned.shown.action, planned.shown.start), (Action::Define, Some(1051)));
}

#[test]
fn two_counters_of_one_name_are_both_refused() {
    let planned = named(
        vec![counter("a:x", 2, 1), counter("b:x", 3, 1)],
        &Choice { mappings: vec!["a:*=*".parse().unwrap(), "b:*=*".parse().unwrap()], ..Choice::default() },
    );
    assert!(planned.iter().all(|planned| planned.shown.action == Action::Refused));
    assert_eq!(planned[0].shown.note.as_deref(), Some("2 counters would become x: name them apart by --map"));
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
