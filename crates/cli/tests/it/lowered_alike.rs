//! Row and cell of one slot that a hand set lower alike: the key's other slots alone tell it.

use crate::{
    doctor::{by_hand, found},
    lowered::{Given, doctor, needed, place},
};

#[test]
fn a_row_and_a_cell_lowered_alike_are_told_and_repeat_nothing_once_they_are_advanced() {
    for (row, cell) in [
        ("base = 0, seen = 0, ceiling = 0", "v = 0"),
        ("base = 0, seen = 0", "v = 0"),
        ("base = 0, seen = 100, ceiling = 100", "v = 100"),
        ("base = 0, seen = 0, ceiling = 0", "v = 1, open = 0"),
    ] {
        let place = place();
        let mut given = Given::by(&place, "order", 1);
        by_hand(&place, "ledger.db", &format!("UPDATE counters SET {row} WHERE slot = 1"));
        by_hand(&place, "shard-1.db", &format!("UPDATE cells SET {cell}"));
        let report = doctor(&place, 0);
        let warnings = found(&report, "warning");
        let start = "slot 1 counter_behind_other_slots: counter order: it goes on above ";
        assert!(warnings.len() == 1 && warnings[0].starts_with(start), "{row}, {cell}: {report}");
        place.text(&["advance", "order", &needed(&report).max(given.highest() + 1).to_string()]);
        assert_eq!(found(&doctor(&place, 0), "warning"), [""; 0], "{row}, {cell}");
        given.more(&place, "order");
    }
}

#[test]
fn what_the_epoch_before_proves_is_an_error_however_alike_they_were_lowered() {
    for lowered in ["base = 0, seen = 100, ceiling = 100", "base = 0, seen = 1500, ceiling = 1500"] {
        let place = place();
        let mut given = Given::by(&place, "order", 1);
        // Another file: the epoch of then has ended, and the ledger knows how far it was permitted to go.
        by_hand(&place, "shard-1.db", "PRAGMA wal_checkpoint(TRUNCATE)");
        let [file, copy] = ["sequent-data/shard-1.db", "sequent-data/copy"].map(|name| place.path(name));
        std::fs::copy(&file, &copy).unwrap();
        std::fs::rename(&copy, &file).unwrap();
        given.more(&place, "order");
        assert_eq!(found(&doctor(&place, 0), "error"), [""; 0], "the next epoch begins above it");
        let value = lowered.rsplit(' ').next().unwrap();
        by_hand(&place, "ledger.db", &format!("UPDATE counters SET {lowered} WHERE slot = 1"));
        by_hand(&place, "shard-1.db", &format!("UPDATE cells SET v = {value}"));
        let report = doctor(&place, 1);
        let errors = found(&report, "error");
        assert!(
            errors.len() == 1 && errors[0].contains("but an epoch that has ended had the ceiling "),
            "{lowered}: {report}"
        );
        place.text(&["advance", "order", &needed(&report).max(given.highest() + 1).to_string()]);
        assert_eq!(found(&doctor(&place, 0), "error"), [""; 0], "{lowered}");
        given.more(&place, "order");
    }
}

#[test]
fn a_slot_that_was_out_for_long_is_no_error_and_is_told_until_it_is_used() {
    let place = place();
    let mut given = Given::by(&place, "order", 1);
    place.text(&["drain", "1", "--why", "new disk"]);
    given.more(&place, "order");
    given.more(&place, "order");
    let report = doctor(&place, 0);
    assert_eq!(found(&report, "error"), [""; 0], "{report}");
    assert_eq!(found(&report, "warning").len(), 1, "{report}");
    place.text(&["rescue", "1", "--why", "it is in"]);
    assert_eq!(found(&doctor(&place, 0), "error"), [""; 0]);
    given.more(&place, "order");
    assert_eq!(found(&doctor(&place, 0), "warning"), [""; 0], "it came up to the others");
}
