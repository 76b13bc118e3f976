//! Secrets on command lines, and texts that would command a terminal.

use std::process::Command;

use crate::place::{Place, Ran};

#[test]
fn a_password_in_a_flag_is_warned_of_and_in_an_address_not_repeated() {
    let place = Place::new();
    let set = |value: &str| {
        place.write("sequent.toml", "[ledger]\nstore = \"mysql\"\nurl = \"mysql://u@127.0.0.1/d\"\n");
        let set = format!("ledger.url={value}");
        let mut command = place.command(&["config", "check", "sequent.toml", "--set", &set]);
        Ran::from(command.env("PW", "geheim").output().unwrap())
    };
    let warned = set("mysql://u:geheim@127.0.0.1/d");
    assert_eq!(warned.code, Some(0), "{warned:?}");
    assert!(warned.err.starts_with("sequent: flag ledger.url holds a password, "), "{}", warned.err);
    assert!(!warned.err.contains("geheim") && !warned.out.contains("geheim"), "{warned:?}");
    assert_eq!([set("mysql://u:${PW}@127.0.0.1/d").err, set("mysql://u@127.0.0.1/d").err], [""; 2]);
    for args in [
        &["next", "order", "--server", "http://u:geheim@127.0.0.1:1"][..],
        &["next", "order", "--server", "u:geheim@127.0.0.1:1"],
        &["shards", "--admin", "http://u:geheim@127.0.0.1:1"],
    ] {
        let ran = place.run(args);
        assert!(ran.code == Some(2) && ran.err.contains("***@127.0.0.1:1"), "{ran:?}");
        assert!(!ran.err.contains("geheim"), "{ran:?}");
    }
}

#[test]
fn what_would_command_a_terminal_is_escaped_there_and_only_there() {
    let place = Place::new();
    place.write("\u{1b}[2J\u{202e}.toml", "cluster = \"shop\"\n");
    let args = ["config", "check", "\u{1b}[2J\u{202e}.toml"];
    assert!(place.text(&args).starts_with("\u{1b}[2J\u{202e}.toml: no faults"), "a file gets it as it is");
    let on_terminal = |args: &[&str]| {
        let mut command = Command::new("python3");
        let script = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)";
        command.args(["-c", script, env!("CARGO_BIN_EXE_sequent")]).args(args);
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap());
        Ran::from(command.current_dir(place.path("")).output().unwrap()).out
    };
    let shown = on_terminal(&args);
    assert!(shown.starts_with("\\u001b[2J\\u202e.toml: no faults"), "{shown:?}");
    let failed = on_terminal(&["config", "check", "\u{1b}[2J.none"]);
    assert!(failed.contains("\\u001b[2J.none") && !failed.contains("\u{1b}[2J"), "{failed:?}");
    let shown = on_terminal(&["config", "check", args[2], "--json"]);
    assert!(shown.contains("\\u202e.toml") && !shown.contains('\u{202e}'), "{shown:?}");
}

#[test]
fn a_reason_with_marks_of_direction_is_refused() {
    let place = Place::new();
    for why in ["new\u{202e}ksid", "a\u{2066}b", "a\u{7}b", "a\u{2028}b", "a\u{2029}b"] {
        place.run(&["evict", "1", "--why", why]).refused(2, &["why is ", "marks of direction"]);
    }
}
