//! Round trip of note subjects and their texts in storage.

use proptest::prelude::*;

use super::*;

fn subjects() -> impl Strategy<Value = NoteSubject> {
    let key = || "[a-z]{1,4}(\\|[0-9]:[|~a-z0-9]{0,9}){0,2}".prop_map(|text| Key::from_stored(&text));
    let periods = ("[a-z]{1,4}", prop::sample::select(PeriodUnit::ALL.as_slice()));
    prop_oneof![
        key().prop_map(NoteSubject::Advanced),
        periods.prop_map(|(sequence, unit)| NoteSubject::PeriodsOver(Periods { sequence, unit })),
        key().prop_map(NoteSubject::GivenAbove),
        key().prop_map(NoteSubject::BegunAt),
        any::<u64>().prop_map(|generation| NoteSubject::LayoutEnded { generation }),
        any::<u64>().prop_map(|generation| NoteSubject::Floor { generation }),
        Just(NoteSubject::LossNamed),
        Just(NoteSubject::LossNamedAt),
        Just(NoteSubject::LossDropped),
        Just(NoteSubject::DenseForgotten),
        "[a-z]{0,4}\\|~[A-Z0-9|]{1,4}".prop_map(NoteSubject::Unknown),
    ]
}

/// No `_` arm: a new variant must state its stored text here.
fn stored(about: &NoteSubject) -> Option<&'static str> {
    match about {
        NoteSubject::Advanced(_) => Some("order|8:20170304|3:010"),
        NoteSubject::PeriodsOver(_) => Some("order|~day"),
        NoteSubject::GivenAbove(_) => Some("order|~above|8:20170304|3:010"),
        NoteSubject::BegunAt(_) => Some("order|~raw|8:20170304|3:010"),
        NoteSubject::LayoutEnded { .. } => Some("|~generation3"),
        NoteSubject::Floor { .. } => Some("|~floor3"),
        NoteSubject::LossNamed => Some("|~named"),
        NoteSubject::LossNamedAt => Some("|~namedat"),
        NoteSubject::LossDropped => Some("|~dropped"),
        NoteSubject::DenseForgotten => Some("|~dense"),
        NoteSubject::Unknown(_) => None,
    }
}

#[test]
fn each_subject_is_read_as_it_was_stored() {
    let key = || Key::from_stored("order|8:20170304|3:010");
    let day = Periods { sequence: "order".to_owned(), unit: PeriodUnit::Day };
    for about in [
        NoteSubject::Advanced(key()),
        NoteSubject::PeriodsOver(day),
        NoteSubject::GivenAbove(key()),
        NoteSubject::BegunAt(key()),
        NoteSubject::LayoutEnded { generation: 3 },
        NoteSubject::Floor { generation: 3 },
        NoteSubject::LossNamed,
        NoteSubject::LossNamedAt,
        NoteSubject::LossDropped,
        NoteSubject::DenseForgotten,
    ] {
        assert_eq!(Some(about.to_stored().as_str()), stored(&about));
        assert_eq!(NoteSubject::from_stored(&about.to_stored()), about);
    }
    let units =
        ["year", "fy", "quarter", "month", "isoweek", "day", "hour"].map(|unit| format!("plan|~{unit}"));
    for (text, unit) in units.iter().zip(PeriodUnit::ALL) {
        let periods = Periods { sequence: "plan".to_owned(), unit };
        assert_eq!(NoteSubject::from_stored(text), NoteSubject::PeriodsOver(periods));
    }
}

#[test]
fn what_is_unknown_is_nothing_else() {
    for text in [
        "",
        "|",
        "|~",
        "|8:20170304",
        "|~floor",
        "|~floor03",
        "|~floor+3",
        "|~floor-1",
        "|~floor18446744073709551616",
        "|~generations",
        "|~Named",
        "|~named|",
        "|~day",
        "|~above|8:20170304",
        "order|~",
        "order|~2",
        "order|~days",
        "order|~day|8:20170304",
        "order|~aboves",
        "order|~named",
        "order|~floor3",
    ] {
        assert_eq!(NoteSubject::from_stored(text), NoteSubject::Unknown(text.to_owned()));
    }
}

proptest! {
    #[test]
    fn whatever_is_stored_is_read_as_it_was(about in subjects()) {
        prop_assert_eq!(NoteSubject::from_stored(&about.to_stored()), about);
    }

    #[test]
    fn whatever_is_read_is_stored_as_it_was(text in "[a-z]{0,2}(\\|~?)?(above|raw|day|generation|floor|named|)[0-9|:a-z]{0,5}") {
        prop_assert_eq!(NoteSubject::from_stored(&text).to_stored(), text);
    }
}
