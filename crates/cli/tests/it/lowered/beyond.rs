//! Rows and cells that were set far ahead by hand, and are not trusted.

use super::{Given, place};
use crate::doctor::by_hand;

#[test]
fn an_advance_leaves_out_what_a_row_claims_that_nobody_believes_and_names_it() {
    let place = place();
    let mut given = Given::by(&place, "order", 1);
    by_hand(&place, "ledger.db", "UPDATE counters SET ceiling = 1 << 62, seen = 1 << 62 WHERE slot = 2");
    let to = given.highest() + 1;
    let report = place.json(&["advance", "order", &to.to_string(), "--json"]);
    let before: u64 = report["before"].to_string().trim_matches('"').parse().unwrap();
    assert!(before <= given.highest(), "{report}");
    let aside = report["aside"][0].as_str().unwrap();
    assert!(aside.starts_with("slot 2 key order: its row is far above "), "{aside}");
    assert!(aside.contains("find out who wrote it"), "{aside}");
    let said = place.text(&["advance", "order", &(to + 1).to_string()]);
    assert!(said.contains("not believed, and left out of that: slot 2 key order: "), "{said}");
    given.more(&place, "order");
}

#[test]
fn a_recovery_names_a_row_that_nobody_believes_before_it_raises_it() {
    for (set, what) in [
        ("seen = 1 << 62, ceiling = 1 << 62", "its row is far above "),
        ("ceiling = 1 << 62", "its ceiling is far above "),
    ] {
        let place = place();
        let _given = Given::by(&place, "order", 1);
        by_hand(&place, "ledger.db", &format!("UPDATE counters SET {set} WHERE slot = 2"));
        let ran = place.run(&["recover", "--bump", "100000", "--json"]);
        assert_eq!(ran.code, Some(3), "{ran:?}");
        let plan = ran.as_json();
        let cautions = plan["plan"]["cautions"].to_string();
        assert!(cautions.contains(&format!("slot 2 key order: {what}")), "{cautions}");
    }
}

#[test]
fn a_cell_beyond_every_bump_is_told_with_what_it_can_have_come_to() {
    let place = place();
    let _given = Given::by(&place, "order", 1);
    by_hand(&place, "shard-2.db", "UPDATE cells SET v = 1 << 62");
    let ran = place.run(&["recover", "--bump", "100000"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(
        ran.out.contains("slot 2: the cell of key order is at raw id 4611686018427387904")
            && ran.out.contains("so it was set by hand or by a broken disk. Delete it"),
        "{ran:?}"
    );
}
