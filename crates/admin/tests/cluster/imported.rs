//! Counters of another system.

use std::slice;

use sequent_admin::import::{Action, Choice, carry_out, plan};
use sequent_core::Key;
use sequent_engine::{Body, NextRequest, foreign::Table};

use super::Place;

/// A row of the seed's table: invoices of 2020 have reached 41.
fn invoices() -> Table {
    let columns = ["code", "prefix", "datetype", "infix", "indexlength", "suffix", "maxdate", "maxindex"];
    let row = ["invoice", "R", "yyyy", "-", "5", "", "2020", "41"];
    Table {
        name: "sequencenumber".to_owned(),
        columns: columns.map(str::to_owned).to_vec(),
        rows: vec![row.map(|value| Some(value.to_owned())).to_vec()],
    }
}

#[tokio::test]
async fn a_counter_of_a_period_is_forward_before_its_sequence_is_defined() {
    let place = Place::new();
    let engine = place.open().await.unwrap();
    let planned = plan(&engine, slice::from_ref(&invoices()), &Choice::default()).await.unwrap();
    // Its definition is refused now: only what comes before it is done.
    let other = Body::check(None, 1, 7, None, None, None).unwrap();
    engine.define(&"invoice".parse().unwrap(), None, other).await.unwrap();
    let report = carry_out(&engine, planned).await.unwrap();
    assert_eq!(report.counters[0].action, Action::Refused, "{report:?}");
    let advanced = engine.all_advanced().await.unwrap();
    assert_eq!(advanced, [(Key::new(&"invoice".parse().unwrap(), "2020", &[]).unwrap(), 41)].into());
    engine.shutdown().await;
}

#[tokio::test]
async fn a_counter_of_a_period_goes_on_where_the_other_system_is() {
    let place = Place::new();
    let engine = place.open().await.unwrap();
    for expected in [Action::Define, Action::Nothing] {
        let planned = plan(&engine, slice::from_ref(&invoices()), &Choice::default()).await.unwrap();
        let report = carry_out(&engine, planned).await.unwrap();
        assert_eq!(report.counters[0].action, expected, "{report:?}");
    }
    let request =
        NextRequest { at: Some("2020-12-31T12:00:00Z".to_owned()), ..NextRequest::new("invoice").unwrap() };
    let issued = engine.next(&request).await.unwrap();
    assert!((42..100).contains(&issued.numbers.highest().unwrap()), "{:?}", issued.numbers);
    engine.shutdown().await;
}

/// A block of numbers, of which the next one begins here.
fn blocks(next: u64) -> Table {
    let row = ["order", &next.to_string(), "1"].map(|value| Some(value.to_owned()));
    let columns = ["biz_tag", "max_id", "step"].map(str::to_owned);
    Table { name: "leaf_alloc".to_owned(), columns: columns.to_vec(), rows: vec![row.to_vec()] }
}

#[tokio::test]
async fn room_is_left_once_and_is_not_made_among_numbers_that_were_given() {
    let place = Place::new();
    let engine = place.open().await.unwrap();
    let choice = Choice { ahead: 100, ..Choice::default() };
    let import = async |next: u64| {
        let planned = plan(&engine, slice::from_ref(&blocks(next)), &choice).await.unwrap();
        carry_out(&engine, planned).await.unwrap().counters.remove(0)
    };
    let first = import(501).await;
    assert_eq!((first.action, first.start), (Action::Define, Some(601)));
    let request = NextRequest::new("order").unwrap();
    for _ in 0..40 {
        assert!(engine.next(&request).await.unwrap().numbers.highest().unwrap() >= 601);
    }
    let again = import(551).await;
    assert_eq!(again.action, Action::Nothing, "{again:?}");
    assert!(again.note.unwrap().starts_with("an import before left room: 50 numbers of it are left"));
    let passed = import(605).await;
    assert_eq!(passed.action, Action::Refused, "{passed:?}");
    assert!(passed.note.unwrap().contains("the next of the other system is 605: there is no room for it"));
    engine.shutdown().await;
}
