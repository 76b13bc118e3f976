//! Configurations: each is loaded by the program that it is for.

use std::path::{Path, PathBuf};

use crate::{
    place::{Place, Ran},
    tool::{HAPROXY, SYSTEMD, run},
    tree::{deploy, files, read, text},
};

/// The most exposure that `systemd-analyze` may find, in tenths; the scale ends at 10.
const EXPOSURE_MAX: &str = "20";

/// `sequent config check`, with what the examples want of the environment.
fn check(file: &Path) -> Ran {
    let place = Place::new();
    let mut command = place.command(&["config", "check", file.to_str().unwrap()]);
    command.env("SECRETS", place.path(""));
    for name in ["DB0_ADDRESS", "DB1_ADDRESS", "DB2_ADDRESS", "LEDGER_ADDRESS"] {
        command.env(name, format!("{}.example:3306", name.to_lowercase().replace('_', "-")));
    }
    command.output().unwrap().into()
}

#[test]
fn every_example_is_a_configuration_without_faults() {
    // A chart's own files name charts.
    let examples: Vec<PathBuf> = files("", "toml");
    assert!(examples.len() >= 3, "{examples:?}");
    for file in examples {
        let ran = check(&file);
        assert_eq!(ran.code, Some(0), "{}: {ran:?}", file.display());
    }
}

#[test]
fn the_charts_configuration_has_no_fault() {
    let values = read("helm/sequent/values.yaml");
    let (_, rest) = values.split_once("\nconfig: |\n").expect("the values hold a configuration");
    let lines = rest.lines().take_while(|line| line.is_empty() || line.starts_with("  "));
    let lines: Vec<&str> = lines.map(|line| line.trim_start_matches("  ")).collect();
    let config = lines.join("\n");
    assert!(config.contains("[[shard]]") && config.contains("[ledger]"), "{config}");
    let place = Place::new();
    let file = place.path("sequent.toml");
    std::fs::write(&file, config).unwrap();
    let ran = check(&file);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let grace =
        |key: &str| values.lines().find_map(|line| line.trim().strip_prefix(key)?.trim().parse::<u32>().ok());
    assert_eq!(
        grace("delaySeconds:"),
        grace("drain_delay_s ="),
        "the chart waits as long as the server drains"
    );
    assert_eq!(
        grace("timeoutSeconds:"),
        grace("drain_timeout_s ="),
        "the chart waits as long as the server drains"
    );
}

#[test]
fn the_charts_rules_are_those_that_are_tested() {
    for file in files("prometheus/rules", "yml") {
        let copy = deploy("helm/sequent/rules").join(file.file_name().unwrap());
        assert_eq!(text(&file), text(&copy), "python3 deploy/grafana/generate.py copies them");
    }
}

#[test]
fn haproxy_finds_no_fault() {
    run(&HAPROXY, &["-c", "-f"], &[deploy("haproxy/haproxy.cfg")]);
}

#[test]
fn the_unit_is_hardened() {
    let threshold = format!("--threshold={EXPOSURE_MAX}");
    run(
        &SYSTEMD,
        &["security", "--offline=true", "--no-pager", &threshold],
        &[deploy("systemd/sequent.service")],
    );
}

#[test]
fn the_unit_shows_when_it_was_started_and_does_not_start_again_what_was_refused() {
    let unit = read("systemd/sequent.service");
    let has = |setting: &str| unit.lines().any(|line| line.starts_with(setting));
    assert!(!has("ProcSubset="), "without /proc/stat there is no process_start_time_seconds");
    assert!(!has("ExecStartPre="), "RestartPreventExitStatus= does not hold for it: it is tried for ever");
    assert!(has("RestartPreventExitStatus=2 3"), "{unit}");
}
