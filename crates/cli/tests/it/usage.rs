//! Help, usage errors, completions and the manual.

use crate::place::Place;

const COMMANDS: [&[&str]; 16] = [
    &["next"],
    &["serve"],
    &["dev"],
    &["list"],
    &["show"],
    &["shards"],
    &["evict"],
    &["rescue"],
    &["recover"],
    &["explain"],
    &["config"],
    &["config", "check"],
    &["config", "show"],
    &["bench"],
    &["completions"],
    &["man"],
];

#[test]
fn every_help_has_examples_and_fits_a_terminal() {
    let place = Place::new();
    for command in COMMANDS.iter().copied().chain([&[][..]]) {
        let help = place.text(&[command, &["--help"]].concat());
        assert!(help.contains("\nExamples:\n  sequent"), "{command:?}: {help}");
        let widest = help.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= 120, "{command:?}: a line of {widest}\n{help}");
    }
}

#[test]
fn commands_that_do_not_exist_yet_are_not_shown() {
    let help = Place::new().text(&["--help"]);
    for later in ["assign", "reserve", "book"] {
        assert!(!help.lines().any(|line| line.trim_start().starts_with(&format!("{later} "))), "{later}");
    }
}

#[test]
fn usage_errors_say_so_in_the_common_form() {
    let place = Place::new();
    place.run(&["next"]).refused(2, &["sequent: INVALID_ARGUMENT: ", "<NAME>"]);
    place.run(&["nxt", "order"]).refused(2, &["sequent: INVALID_ARGUMENT: ", "'nxt'"]);
    let ran = place.run(&["next", "order", "--jsn", "--json"]).refused(2, &["--jsn"]);
    assert_eq!(ran.error()["reason"], "INVALID_ARGUMENT");
    place.run(&[]).refused(2, &["Usage: sequent"]);
}

#[test]
fn completions_and_manual_come_from_the_same_definitions() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = place.text(&["completions", shell]);
        assert!(script.contains("explain"), "{shell}");
    }
    let page = place.text(&["man"]);
    assert!(page.contains(".TH sequent 1"), "{page}");
    assert!(page.contains("Examples"), "{page}");
    std::fs::create_dir(place.path("man1")).unwrap();
    place.text(&["man", "--dir", "man1"]);
    assert!(place.path("man1/sequent-next.1").exists());
    place.run(&["man", "--dir", "nowhere"]).refused(1, &["nowhere"]);
}

#[test]
fn a_standard_error_that_is_full_or_closed_stops_nothing() {
    for args in [&["next", "order"][..], &["-vvv", "next", "order"], &["bench", "order", "--duration", "1s"]]
    {
        let place = Place::new();
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = place.command(args).stderr(full).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}");
    }
}
