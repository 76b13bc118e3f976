//! `sequent explain`: where a number or a text came from.

use crate::place::Place;

#[test]
fn explain_says_where_a_number_came_from() {
    let place = Place::with_cluster();
    let found = place.json(&["explain", "order", "3", "--json"]);
    // Number 3 is encoded 6 of a ring of four: raw id 1 of slot 2.
    assert_eq!((&found["slot"], &found["raw"]), (&2.into(), &"1".into()), "{found}");
    let text = place.text(&["explain", "order", "3"]);
    assert!(text.contains("slot") && text.contains("epoch"), "{text}");
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
    of(&[]).refused(2, &["the text does not contain area", "--with area=VALUE"]);
    of(&["--with", "zone=1"]).refused(2, &["zone", "area are allowed"]);
    let told = of(&["--with", "area=010"]).as_json();
    assert_eq!(told["number"].to_string().trim_matches('"'), "1", "{told}");
    assert!(told["verdict"].as_str().unwrap().contains("taken in epoch"), "{told}");
    let never = of(&["--with", "area=030"]).as_json();
    assert!(never["verdict"].as_str().unwrap().contains("has not begun"), "{never}");
}

#[test]
fn a_number_of_a_dense_sequence_is_explained_by_its_counter() {
    let place = Place::new();
    place.text(&["define", "inv", "--placement", "dense", "--start", "10", "--step", "5"]);
    let of = |number: &str| place.json(&["explain", "inv", number, "--json"]);
    let verdict = |number: &str| of(number)["verdict"].as_str().unwrap().to_owned();
    assert!(verdict("10").ends_with("has not begun: not given"), "{}", verdict("10"));
    assert_eq!(place.text(&["next", "inv", "-n", "3"]), "10\n15\n20\n");
    let second = of("15");
    assert_eq!((&second["ordinal"], &second["given"]), (&2.into(), &3.into()), "{second}");
    assert!(second["slot"].is_null() && second["epoch"].is_null(), "no ring: {second}");
    for number in ["10", "15", "20"] {
        assert!(verdict(number).ends_with("come to 20: given"), "{}", verdict(number));
    }
    assert!(verdict("25").contains("come to 20: not given"), "{}", verdict("25"));
    for number in ["5", "16", "9007199254740991"] {
        place.run(&["explain", "inv", number]).refused(2, &["number is ", "10 to ", "in steps of 5"]);
    }
    place.text(&["advance", "inv", "100"]);
    assert!(verdict("15").contains("past 100 by `sequent advance`: given before"), "{}", verdict("15"));
    assert!(verdict("100").contains("or skipped by it"), "{}", verdict("100"));
    assert!(verdict("105").ends_with("come to 100: not given"), "{}", verdict("105"));
    assert_eq!(place.text(&["next", "inv"]), "105\n");
    assert!(verdict("105").ends_with("come to 105: given"), "{}", verdict("105"));
    let text = place.text(&["explain", "inv", "105"]);
    assert!(text.contains("placement dense") && text.contains("given     20"), "{text}");
}

#[test]
fn a_text_of_a_dense_sequence_is_explained_by_the_counter_of_its_key() {
    let place = Place::new();
    let template = "@{date,yyyyMMdd}-@{ctx,area,len=3}-@{seq,w=5,over=error}";
    place.text(&["define", "repair", "--template", template]);
    let next = ["next", "repair", "--at", "2026-04-01", "--with"];
    place.text(&[&next[..], &["area=010", "-n", "2"]].concat());
    let verdict = |text: &str| {
        place.json(&["explain", "repair", text, "--json"])["verdict"].as_str().unwrap().to_owned()
    };
    assert!(verdict("20260401-010-00002").ends_with(": given"), "{}", verdict("20260401-010-00002"));
    assert!(verdict("20260401-010-00003").contains("come to 2: not given"));
    for never in ["20260401-011-00001", "20260402-010-00001"] {
        assert!(verdict(never).ends_with("has not begun: not given"), "{}", verdict(never));
    }
}

#[test]
fn a_text_of_one_version_of_several_does_not_say_that_another_did_not_give_its_number() {
    let place = Place::new();
    place.text(&["define", "order", "--template", "A@{seq,w=6}"]);
    let verdict = |text: &str| {
        place.json(&["explain", "order", text, "--json"])["verdict"].as_str().unwrap().to_owned()
    };
    place.text(&["next", "order"]);
    assert!(!verdict("A000001").contains("version"), "{}", verdict("A000001"));
    place.text(&["define", "order", "--template", "C@{seq,w=6}"]);
    for (text, version) in [("A000001", 1), ("C000001", 2)] {
        let said = verdict(text);
        assert!(said.contains("taken in epoch"), "{said}");
        assert!(said.contains(&format!("the text is as version {version} writes it")), "{said}");
        assert!(said.ends_with("in effect when it was given is not recorded"), "{said}");
    }
}

#[test]
fn numbers_beyond_the_end_of_today_are_explained_where_another_version_had_none() {
    let place = Place::new();
    place.text(&["define", "part", "--placement", "dense"]);
    place.text(&["next", "part", "-n", "30"]);
    place.text(&["define", "part", "--placement", "dense", "--end", "20"]);
    let said = place.text(&["explain", "part", "25"]);
    assert!(said.contains("come to 30: given"), "{said}");
}
