//! The commands of the page about TLS, each run as it stands there.

use std::{fs, path::Path, process::Command};

use crate::{
    place::{PATIENT, Place, Ran},
    running::{FREE, Running},
};

const PAGE: &str = "docs/operating/tls.md";

/// What begins the line that starts the server.
const SERVE: &str = "sequent serve ";

/// The ports of the page, and each as it is here.
type Ports<'a> = [(&'static str, &'a str); 3];

/// The lines of the page's blocks of one language.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let mut is_inside = false;
    let mut lines = Vec::new();
    for line in page.lines() {
        if line.starts_with("```") {
            is_inside = line == format!("```{language}");
        } else if is_inside {
            lines.push(line.to_owned());
        }
    }
    lines
}

/// What a shell says to a command, which must succeed.
fn shell(place: &Place, command: &str) -> String {
    let bin = Path::new(env!("CARGO_BIN_EXE_sequent")).parent().unwrap().display().to_string();
    let path = format!("{bin}:{}", std::env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    let ran: Ran =
        shell.current_dir(place.path("")).env("PATH", path).args(["-c", command]).output().unwrap().into();
    assert_eq!(ran.code, Some(0), "{command}: {ran:?}");
    ran.out
}

#[test]
fn the_pages_lines_lead_from_nothing_to_client_certificates() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(PAGE);
    let page = fs::read_to_string(page).unwrap();
    let place = Place::new();
    place.write("sequent.toml", &blocks(&page, "toml").join("\n"));
    let lines = blocks(&page, "console");
    let mut lines = lines.iter().peekable();
    let mut server: Option<Running> = None;
    let mut count = 0;
    while let Some(line) = lines.next() {
        let command = line.strip_prefix("$ ").unwrap_or_else(|| panic!("{line} is no command"));
        count += 1;
        if let Some(options) = command.strip_prefix(SERVE) {
            let options: Vec<&str> = options.split(' ').collect();
            server = Some(Running::start(&place, &[&["serve"], &options[..], &FREE, &PATIENT].concat()));
            continue;
        }
        let here = server.as_ref().map(|it| [("7420", &it.grpc), ("7421", &it.http), ("7423", &it.admin)]);
        let ports: Option<Ports<'_>> = here
            .as_ref()
            .map(|here| here.each_ref().map(|(port, address)| (*port, address.rsplit_once(':').unwrap().1)));
        let said = shell(
            &place,
            &ports.into_iter().flatten().fold(command.to_owned(), |command, (shown, real)| {
                command.replace(&format!("localhost:{shown}"), &format!("localhost:{real}"))
            }),
        );
        let shown = std::iter::from_fn(|| lines.next_if(|line| !line.starts_with("$ ")));
        let shown: Vec<&str> = shown.map(String::as_str).collect();
        if !shown.is_empty() {
            assert_eq!(said.lines().collect::<Vec<_>>(), shown, "{command}");
        }
        if command.contains(" --admin ") {
            assert!(said.contains("answered: 1"), "{said}");
        }
    }
    assert!(server.is_some() && count > 6, "{count} commands");
}
