//! Modes of files: those that the program makes, and those that others can read.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    doctor::found,
    place::{Place, Ran},
    running::{FREE, Running},
};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn set(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// The files and directories below a path, and itself.
fn all(path: PathBuf) -> Vec<PathBuf> {
    let below = fs::read_dir(&path).into_iter().flatten().flat_map(|entry| all(entry.unwrap().path()));
    let mut below: Vec<PathBuf> = below.collect();
    below.push(path);
    below
}

/// A place that others may enter, since the directories of tests are their user's alone.
fn open_place() -> Place {
    let place = Place::new();
    set(&place.path(""), 0o755);
    place
}

#[test]
fn files_are_their_users_alone_whatever_the_umask() {
    let place = open_place();
    let mut command = Command::new("sh");
    command.args(["-c", "umask 0; exec \"$0\" next order", env!("CARGO_BIN_EXE_sequent")]);
    let ran = Ran::from(command.current_dir(place.path("")).env_clear().output().unwrap());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let server = Running::start(&place, &[&["serve"], &FREE[..]].concat());
    let data = all(place.path("sequent-data"));
    assert!(data.len() > 6, "{data:?}");
    for path in &data {
        let allowed = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(format!("{:o}", mode(path)), format!("{allowed:o}"), "{}", path.display());
    }
    let report = place.json(&["doctor", "--json"]);
    assert_eq!(report["findings"], serde_json::json!([]), "{report}");
    assert_eq!(server.end().0, Some(0));
}

#[test]
fn data_that_others_can_read_is_found() {
    let place = open_place();
    place.numbers(&["next", "order"]);
    set(&place.path("sequent-data"), 0o755);
    assert_eq!(found(&place.json(&["doctor", "--json"]), "warning"), [""; 0], "its files are closed");
    set(&place.path("sequent-data/shard-2.db"), 0o644);
    let report = place.json(&["doctor", "--json"]);
    let warnings = found(&report, "warning");
    assert!(warnings.len() == 1 && warnings[0].starts_with("ring data_readable: "), "{report}");
    assert!(warnings[0].ends_with("sequent-data/shard-2.db (004)"), "{report}");
}

#[test]
fn a_secret_that_others_can_read_is_named_by_the_check_the_start_and_doctor() {
    let place = open_place();
    let key = place.write("key", "00112233445566778899aabbccddeeff\n");
    let file = format!("[[obf_key]]\nname = \"k\"\nfile = {key:?}\n");
    place.write("sequent.toml", &file);
    let with = |words: &[&'static str]| [words, &["--config", "sequent.toml"]].concat();
    set(&key, 0o600);
    assert_eq!(place.text(&with(&["config", "check"])), "sequent.toml: no faults\n");
    set(&key, 0o644);
    let said = place.text(&with(&["config", "check"]));
    assert!(said.contains("\n  warning  secret_readable: obf_key.file /"), "{said}");
    let warned = place.json(&with(&["config", "check", "--json"]));
    assert_eq!(warned["warnings"].as_array().unwrap().len(), 1, "{warned}");
    let (code, err) = Running::start(&place, &[&with(&["serve"])[..], &FREE[..]].concat()).end();
    assert!(code == Some(0) && err.contains("secret_readable") && !err.contains("0011"), "{err}");
    let ran = place.run(&with(&["doctor", "--json"]));
    assert_eq!((ran.code, found(&ran.as_json(), "error").len()), (Some(1), 1), "{ran:?}");
}

#[test]
fn a_default_data_directory_of_another_user_is_refused_and_one_that_is_named_is_not() {
    const NOBODY: u32 = 65_534;
    if std::env::var_os("SEQUENT_TESTS_WITHOUT_ROOT").is_some() {
        println!("SKIPPED: giving a directory to another user needs root");
        return;
    }
    let place = open_place();
    let (data, target) = (place.path("sequent-data"), place.path("target"));
    fs::create_dir(&data).unwrap();
    std::os::unix::fs::chown(&data, Some(NOBODY), Some(NOBODY)).unwrap();
    std::os::unix::fs::symlink(&target, data.join("home.lock")).unwrap();
    for command in [&["next", "order"][..], &["serve"], &["doctor"], &["shards"]] {
        let ran = place.run(command);
        assert!(ran.code != Some(0) && ran.err.contains("user 65534 made it"), "{command:?}: {ran:?}");
    }
    assert!(!target.exists() && fs::read_dir(&data).unwrap().count() == 1, "nothing was made");
    fs::remove_file(data.join("home.lock")).unwrap();
    let named = data.display().to_string();
    place.numbers(&["next", "order", "--data", &named]);
}

#[test]
fn what_others_can_change_is_named_by_the_check_and_doctor() {
    let place = open_place();
    let settings = place.write("sequent.toml", "[[sequence]]\nname = \"order\"\n");
    let check = || place.text(&["config", "check", "--config", "sequent.toml"]);
    set(&settings, 0o644);
    assert_eq!(check(), "sequent.toml: no faults\n");
    set(&settings, 0o646);
    let said = check();
    assert!(said.contains("\n  warning  settings_writable: the configuration /"), "{said}");
    assert!(said.trim_end().ends_with("sequent.toml (006)"), "{said}");
    place.numbers(&["next", "order", "--config", "sequent.toml"]);
    let report = place.run(&["doctor", "--json", "--config", "sequent.toml"]).as_json();
    assert!(found(&report, "error").iter().any(|text| text.contains("settings_writable")), "{report}");
    set(&settings, 0o644);
    set(&place.path(""), 0o757);
    assert!(check().contains("settings_writable"), "others can put another file in its place");
    set(&place.path(""), 0o1757);
    assert_eq!(check(), "sequent.toml: no faults\n", "nobody else can, as in /tmp");
}

#[test]
fn a_configuration_with_a_password_is_a_secret_and_one_without_is_not() {
    let place = open_place();
    let file = |password: &str| {
        let store = format!("[ledger]\nstore = \"mysql\"\nurl = \"mysql://u{password}@127.0.0.1/d\"\n");
        set(&place.write("sequent.toml", &store), 0o644);
        let mut command = place.command(&["config", "check", "sequent.toml"]);
        Ran::from(command.env("PW", "geheim").output().unwrap()).out
    };
    assert!(file(":geheim").contains("secret_readable: the configuration with a password"));
    assert_eq!([file(""), file(":${PW}")], ["sequent.toml: no faults\n"; 2]);
}

#[test]
fn a_token_that_others_can_read_is_warned_of_once_and_used() {
    let place = Place::new();
    let new = ["token", "new", "shop", "--allow", "next:*", "--out", place.path("token").to_str().unwrap()]
        .map(str::to_owned);
    let config = place.text(&new.each_ref().map(String::as_str));
    place.write("sequent.toml", &config);
    let warned = |args: &[&str]| {
        let ran = place.run(&[args, &["--token-file", "token"]].concat());
        ran.err.matches("other users can read the file with the token").count()
    };
    // By the SDK, and by the client of admin listeners. Nobody answers there.
    let ways: [&[&str]; 3] = [
        &["next", "order", "-n", "2", "--server", "http://127.0.0.1:1"],
        &["forget", "order", "--admin", "http://127.0.0.1:1"],
        &["token", "check", "--config", "sequent.toml"],
    ];
    for way in ways {
        set(&place.path("token"), 0o600);
        assert_eq!(warned(way), 0, "{way:?}");
        set(&place.path("token"), 0o640);
        assert_eq!(warned(way), 1, "{way:?}");
    }
}
