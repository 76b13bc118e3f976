//! `sequent explain`: where a number or a text came from.

use crate::place::Place;

#[test]
fn explain_says_where_a_number_came_from() {
    let place = Place::with_cluster();
    let found = place.json(&["explain", "order", "3", "--json"]);
    // Number 3 is encoded 6 of a ring of four: raw id 1 of slot 2.
    assert_eq!((&found["slot"], &found["raw"]), (&2.into(), &"1".into()), "{found}");
    let text = place.text(&["explain", "order", "3"]);
    assert!(text.contains("slot") && text.contains("life"), "{text}");
    place.run(&["explain", "order", "0"]).refused(2, &["INVALID_ARGUMENT", "number", "0"]);
    place.run(&["explain", "nothing", "3"]).refused(1, &["SEQUENCE_NOT_FOUND"]);
}

#[test]
fn a_text_that_does_not_tell_all_of_its_counter_is_explained_with_what_it_lacks() {
    let place = Place::with_cluster();
    place.text(&[
        "define",
        "parcel",
        "--template",
        "P@{ctx,area,len=3,show=no}-@{seq,w=5}",
        "--unique",
        "partition",
    ]);
    for area in ["010", "020"] {
        place.text(&["next", "parcel", "--with", &format!("area={area}")]);
    }
    let of = |with: &[&str]| place.run(&[&["explain", "parcel", "P-00001", "--json"], with].concat());
    of(&[]).refused(2, &["the text does not tell area", "--with area=VALUE"]);
    of(&["--with", "zone=1"]).refused(2, &["zone", "area are allowed"]);
    let told = of(&["--with", "area=010"]).as_json();
    assert_eq!(told["number"].to_string().trim_matches('"'), "1", "{told}");
    assert!(told["verdict"].as_str().unwrap().contains("taken in life"), "{told}");
    let never = of(&["--with", "area=030"]).as_json();
    assert!(never["verdict"].as_str().unwrap().contains("has not begun"), "{never}");
}
