//! `resize` where there is nothing to do: it says so, claims nothing, and changes nothing.

use crate::place::Place;

#[test]
fn what_is_in_force_already_is_left_as_it_is() {
    let place = Place::with_cluster();
    let before = place.content("sequent-data");
    for args in [&["resize", "--shard-bits", "2", "--go"][..], &["resize", "--go"], &["resize"]] {
        let said = place.text(args);
        let expected = "the ring has 4 slots (shard_bits 2, memory_bits 0, epoch 1) already: there is nothing to do, and nothing \
                        was changed";
        assert!(said.starts_with(expected) && !said.contains("epoch 2"), "{said}");
        let report = place.json(&[args, &["--json"]].concat());
        assert_eq!(
            (&report["state"], &report["to_be"]["epoch"]),
            (&"in_force".into(), &1.into()),
            "{report}"
        );
    }
    assert!(place.content("sequent-data") == before, "something was changed");
    assert_eq!(place.numbers(&["next", "order"]), [6]);
    let grown = place.json(&["resize", "--shard-bits", "3", "--go", "--json"]);
    assert_eq!((&grown["state"], &grown["to_be"]["epoch"]), (&"current".into(), &2.into()), "{grown}");
    let again = place.json(&["resize", "--shard-bits", "3", "--go", "--json"]);
    assert_eq!(
        (&again["state"], &again["from"]["epoch"]),
        (&"in_force".into(), &2.into()),
        "asked once more"
    );
}
