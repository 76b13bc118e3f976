//! Texts for callers and for operators.

use sequent_core::SlotIndex;

use super::*;

fn failure(slot: SlotIndex, kind: ErrorKind, detail: &str) -> SlotFailure {
    SlotFailure { slot, kind, why: None, detail: detail.to_owned() }
}

#[test]
fn a_cause_that_slots_share_is_said_once() {
    let away = "unavailable: open: the disk is gone";
    let slots = vec![
        failure(0, ErrorKind::Unavailable, away),
        failure(1, ErrorKind::Unavailable, away),
        failure(2, ErrorKind::Refused, "refused: the store bears stamp slot=3"),
        failure(3, ErrorKind::Unavailable, away),
    ];
    let name = "order".parse().unwrap();
    let error = EngineError::of_source(&name, SourceError::no_shard(slots));
    assert_eq!(error.to_string(), "no slot can serve order: slots 0-1, 3 unavailable, slot 2 refused");
    let detail = "slots 0-1, 3: unavailable: open: the disk is gone; \
                  slot 2: refused: the store bears stamp slot=3";
    assert_eq!(error.detail().unwrap(), detail);
}

#[test]
fn no_long_text_of_a_caller_comes_back_whole() {
    let long = "京".repeat(100_000);
    for error in [
        EngineError::invalid_text("text", &long, "column 1: text has 300000 bytes"),
        EngineError::invalid_text(format!("values.{long}"), "1", "no template asks for a value"),
        EngineError::invalid("number", &long, "numbers begin at 1"),
        EngineError::new(Reason::SequenceNotFound, "no sequence").of_field("sequence", &long, "a name"),
    ] {
        let fault = &error.fields()[0];
        let longest = error.to_string().len().max(fault.field.len()).max(fault.value.len());
        assert!(longest < 600, "{longest}: {error}");
        assert!(
            fault.field.len().max(fault.value.len()) <= SHOWN_BYTES_MAX,
            "no api cuts it again: {fault:?}"
        );
    }
    let short = EngineError::invalid_text("text", &"a".repeat(SHOWN_BYTES_MAX), "none").to_string();
    assert!(!short.contains('…'), "{short}");
}

#[test]
fn a_layout_that_changed_is_told_by_what_was_found() {
    let told = |error: SourceError| EngineError::of_source(&"order".parse().unwrap(), error).to_string();
    let behind = || SourceError::new(ErrorKind::LedgerBehind, "in other words");
    assert!(told(behind().with(Condition::LayoutChanged)).starts_with("layout changed: this server"));
    assert!(told(behind()).starts_with("the ledger went back"));
}

#[test]
fn callers_are_told_the_cause_and_operators_what_was_found() {
    let refused = "unavailable: take: 10.0.0.7:3306: Connection refused (os error 111)";
    let by_hand = "evict by ann: new disk";
    let slots = vec![
        SlotFailure { why: Some(Why::ConnectionRefused), ..failure(0, ErrorKind::Unavailable, refused) },
        SlotFailure { why: Some(Why::EvictedByHand), ..failure(1, ErrorKind::Unavailable, by_hand) },
    ];
    let error = EngineError::of_source(&"order".parse().unwrap(), SourceError::no_shard(slots));
    assert_eq!(
        error.to_string(),
        "no slot can serve order: slot 0 connection refused, slot 1 evicted by an operator"
    );
    let causes: Vec<&str> = error.slots().iter().map(|slot| slot.cause).collect();
    assert_eq!(causes, ["connection refused", "evicted by an operator"]);
    assert_eq!(
        error.detail().unwrap(),
        "slot 0: unavailable: take: 10.0.0.7:3306: Connection refused (os error 111); \
         slot 1: evicted by an operator: evict by ann: new disk"
    );
}
