//! `obf=ff1:NAME`: keys from files, told to nobody; a process without the key, or with another of its name, gives nothing.

use crate::place::Place;

const KEY: &str = "2b7e151628aed2a6abf7158809cf4f3c";
const OTHER: &str = "00000000000000000000000000000001";

const SEQUENCE: &str = "[[sequence]]\nname = \"waybill\"\ntemplate = \"W@{seq,w=10,obf=ff1:k1}\"\n";

/// A configuration that names the key.
fn keyed(place: &Place) -> String {
    let file = place.path("k1.key");
    format!("auto_create = [\"*\"]\n[[obf_key]]\nname = \"k1\"\nfile = \"{}\"\n", file.display())
}

/// A place whose file names the key, which is this one.
fn place(key: &str) -> Place {
    let place = Place::new();
    place.write("k1.key", &format!("{key}\n"));
    place.write("sequent.toml", &format!("{}{SEQUENCE}", keyed(&place)));
    place
}

/// Arguments, with the configuration in front.
fn with<'a>(args: &[&'a str]) -> Vec<&'a str> {
    [&["--config", "sequent.toml"], args].concat()
}

#[test]
fn waybills_hide_how_many_there_are_and_read_back_with_the_key_alone() {
    let place = place(KEY);
    let texts = place.text(&with(&["next", "waybill", "-n", "2"]));
    let texts: Vec<&str> = texts.lines().collect();
    let [first, second] = texts[..] else { panic!("{texts:?}") };
    assert!(first.len() == 11 && second.len() == 11 && first != second, "{texts:?}");
    let parsed = place.json(&with(&["parse", "waybill", second, "--json"]));
    assert_eq!(parsed["number"], "2");
    let template = "W@{seq,w=10,obf=ff1:k1}";
    let preview = place.text(&with(&["preview", template, "--number", "1", "--sequence", "waybill"]));
    assert_eq!(preview.trim(), first);
    let parsed = place.json(&with(&["parse", template, second, "--sequence", "waybill", "--json"]));
    assert_eq!(parsed["number"], "2");
    // Another sequence hides its numbers otherwise, and a template that is no sequence's says so.
    let other = place.text(&with(&["preview", template, "--number", "1", "--sequence", "other"]));
    assert_ne!(other.trim(), first);
    let nobodys = place.run(&with(&["preview", template, "--number", "123456789"]));
    assert_eq!(nobodys.out.trim(), "W2433477484", "row 20 of the page: NIST's sample");
    assert!(nobodys.err.contains("name it by --sequence"), "{nobodys:?}");

    place.write("without.toml", "auto_create = [\"*\"]\n");
    let without = ["--config", "without.toml"];
    let refused = |args: &[&str]| {
        let ran = place.run(&[&without[..], args].concat());
        assert_ne!(ran.code, Some(0), "{ran:?}");
        ran.err
    };
    for error in [refused(&["next", "waybill"]), refused(&["parse", "waybill", second])] {
        assert!(error.contains("obf names the key \"k1\": there are none"), "{error}");
    }
    // What the definition says by itself is shown without the key, too.
    let shown = place.text(&[&without[..], &["show", "waybill"]].concat());
    for line in
        ["placement   spread", "to (not known), 1 apart", "fault       template is", "names the key \"k1\""]
    {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    place.write("k1.key", OTHER);
    let ran = place.run(&with(&["next", "waybill"]));
    assert_eq!(ran.code, Some(3), "{ran:?}");
    place.write("sequent.toml", &keyed(&place));
    let error = place.run(&with(&["next", "waybill"]));
    assert!(error.err.contains("this process holds another one of that name"), "{error:?}");
    place.write("k1.key", KEY);
    assert_eq!(place.text(&with(&["next", "waybill"])).lines().count(), 1, "the key is back");
}

#[test]
fn a_definition_that_a_command_brings_has_the_keys_of_the_configuration() {
    let place = place(KEY);
    place.text(&with(&["define", "ob", "--template", "W@{seq,w=6,obf=ff1:k1}"]));
    let text = place.text(&with(&["next", "ob"]));
    assert_eq!(place.json(&with(&["parse", "ob", text.trim(), "--json"]))["number"], "1");
    let ran = place.run(&with(&["define", "other", "--template", "W@{seq,w=6,obf=ff1:k2}"]));
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.err.contains("obf names the key \"k2\""), "{ran:?}");
}

#[test]
fn no_key_is_shown_and_a_bad_file_is_named_with_what_it_must_hold() {
    let place = place(KEY);
    let shown = place.text(&["--config", "sequent.toml", "config", "show"]);
    assert!(shown.contains("k1.key") && !shown.contains(&KEY[..8]), "{shown}");
    place.text(&with(&["next", "waybill"]));
    let show = place.text(&with(&["show", "waybill"]));
    assert!(!show.contains(&KEY[..8]), "{show}");
    for (text, bound) in [
        ("", "32, 48 or 64 hexadecimal digits are expected in it"),
        ("2b7e15", "32, 48 or 64 hexadecimal digits"),
        ("zz7e151628aed2a6abf7158809cf4f3c", "32, 48 or 64 hexadecimal digits"),
    ] {
        place.write("k1.key", text);
        let ran = place.run(&["--config", "sequent.toml", "next", "waybill"]);
        assert_eq!(ran.code, Some(3), "{ran:?}");
        assert!(ran.err.contains("obf_key[0].file is ") && ran.err.contains(bound), "{ran:?}");
        assert!(text.is_empty() || !ran.err.contains(text), "{ran:?}");
    }
    std::fs::remove_file(place.path("k1.key")).unwrap();
    let ran = place.run(&["--config", "sequent.toml", "next", "waybill"]);
    assert!(ran.err.contains("it can't be read: "), "{ran:?}");
}
