//! Help, hints, usage errors, completions and the manual.

use std::process::Command;

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

/// The names in a group of commands.
fn group<'a>(help: &'a str, head: &str) -> Vec<&'a str> {
    let group = help.split_once(&format!("\n{head}:\n")).unwrap_or_else(|| panic!("no {head}: {help}")).1;
    let rows = group.lines().take_while(|line| !line.is_empty());
    rows.filter_map(|row| row.split_whitespace().next()).collect()
}

#[test]
fn what_a_newcomer_needs_comes_first() {
    let place = Place::new();
    let help = place.text(&["--help"]);
    let alone = place.run(&[]).refused(2, &["a command is missing"]).err;
    for help in [&help, &alone] {
        assert_eq!(group(help, "First commands"), ["next", "serve", "define", "shards", "doctor"]);
        let more = group(help, "More commands");
        for command in ["dev", "list", "evict", "recover", "bench", "man"] {
            assert!(more.contains(&command), "{command}: {help}");
        }
        assert!(help.find("First commands:") < help.find("More commands:"), "{help}");
        assert!(help.contains("--data <DIR>") && help.contains("\nExit codes:\n"), "{help}");
    }
}

/// What a command says on a terminal, standard error with the rest.
fn on_a_terminal(place: &Place, arguments: &str) -> String {
    let sequent = place.command(&[]);
    let line = format!("{} {arguments}", sequent.get_program().to_str().unwrap());
    let mut script = Command::new("script");
    script.args(["-qec", &line, "/dev/null"]).current_dir(place.path(""));
    // `Place` only takes variables away.
    for (variable, _) in sequent.get_envs() {
        script.env_remove(variable);
    }
    let output = script.output().unwrap_or_else(|error| panic!("script is needed, of util-linux: {error}"));
    String::from_utf8(output.stdout).unwrap().replace('\r', "")
}

#[test]
fn the_first_number_on_a_terminal_comes_with_a_hint() {
    let hint = "try next: `sequent serve`";
    let place = Place::new();
    let first = on_a_terminal(&place, "next order");
    let last: Vec<&str> = first.lines().rev().take(2).collect();
    assert!(last[0].starts_with(hint) && last[1] == "1", "{first}");
    let second = on_a_terminal(&place, "next order");
    assert_eq!(second, "2\n", "once a cluster");
    let json = on_a_terminal(&Place::new(), "next order --json");
    assert!(json.contains("\"numbers\":[\"1\"]") && !json.contains(hint), "{json}");
    let piped = Place::new().run(&["next", "order"]);
    assert!(piped.code == Some(0) && !piped.err.contains(hint), "{piped:?}");
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
