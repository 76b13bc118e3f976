//! The book's way from a clone to live numbers: its own command lines are run, in a folder of their own and on free ports.

use std::{fs, process::Command};

use sequent_testkit::servers::Port;
use serde_json::Value;

use crate::{
    http,
    place::{Place, Running, eventually},
    server::Server,
    tool::PROMETHEUS,
    tree::{copy, deploy, root, text},
};

/// The page that says it, and where it begins.
const PAGE: &str = "docs/start.md";
const SECTION: &str = "## Live numbers in ten minutes\n";

/// Where a server's admin listener is by default, and the page's Prometheus.
const ADMIN: &str = "127.0.0.1:7423";
const HERE: &str = "127.0.0.1:9190";

/// What callers get in a second; no scrape that came before the callers makes it 0 for long.
const ISSUED: &str = "sum(rate(sequent_numbers_issued_total{cluster=\"local\"}[30s]))";

/// The arguments of the section's command line that begins so, without quotes.
fn line(begins: &str) -> Vec<String> {
    let page = text(&root().join(PAGE));
    let (_, section) = page.split_once(SECTION).expect("the page has the section");
    let section = section.split("\n## ").next().unwrap();
    let mut lines = section.lines().filter_map(|line| line.strip_prefix("$ ")?.strip_prefix(begins));
    let arguments = lines.next().unwrap_or_else(|| panic!("{SECTION}no line begins with {begins:?}"));
    let mut words = Vec::new();
    for (at, part) in arguments.split('\'').enumerate() {
        if at % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(String::from));
        }
    }
    words
}

/// The page's Prometheus, run as it says from a folder that has the files where the repository has them.
fn prometheus(place: &Place, server: &Server, at: &Port) -> Running {
    let folder = place.path("deploy/prometheus");
    copy(&deploy("prometheus"), &folder);
    let (file, admin) = (folder.join("local.yml"), server.address("admin").to_string());
    let config = text(&file);
    assert!(config.contains(ADMIN), "{config}");
    fs::write(&file, config.replace(ADMIN, &admin)).unwrap();
    let mut command = Command::new(PROMETHEUS.path());
    let arguments = line("prometheus ");
    assert!(arguments.iter().any(|word| word.contains(HERE)), "{arguments:?}");
    let arguments = arguments.iter().map(|word| word.replace(HERE, &at.address().to_string()));
    command.current_dir(place.path("")).args(arguments);
    Running::start(command)
}

/// What a query finds, if Prometheus answers yet.
fn found(at: &Port, query: &str) -> Option<Vec<Value>> {
    let body =
        http::ask(at.address(), "GET", &format!("/api/v1/query?query={}", http::encoded(query))).ok()?;
    let answer: Value = serde_json::from_str(&body).unwrap_or_else(|error| panic!("{error}: {body}"));
    Some(answer["data"]["result"].as_array().unwrap_or_else(|| panic!("{body}")).clone())
}

#[test]
fn the_books_lines_lead_to_live_numbers() {
    let words = |line: &[String]| line.join(" ");
    assert_eq!(words(&line("cargo ")), "build --release", "what makes target/release/sequent");
    assert_eq!(words(&line("target/release/sequent serve")), "", "`Server` starts the same");
    let server = Server::start(None);
    let (place, at) = (Place::new(), Port::reserve());
    let load = line("target/release/sequent bench");
    let load: Vec<&str> = ["bench"].into_iter().chain(load.iter().map(String::as_str)).collect();
    let load = server.beside(&load);
    let watch = prometheus(&place, &server, &at);

    let console = http::ask(server.address("admin"), "GET", "/").unwrap();
    assert!(console.contains("<title>"), "a page for people: {console}");
    watch.until("Prometheus shows numbers a second", |_| {
        assert!(load.runs(), "{}", load.err());
        let rate = found(&at, ISSUED)?;
        let rate: f64 = rate.first()?["value"][1].as_str()?.parse().ok()?;
        (rate > 0.0).then_some(())
    });
    let alert = "ALERTS{alertname=\"SequentSlotOut\", slot=\"2\", alertstate=\"firing\"}";
    for (word, fires) in [("evict", true), ("rescue", false)] {
        let command = line(&format!("target/release/sequent {word}"));
        let command: Vec<&str> = [word].into_iter().chain(command.iter().map(String::as_str)).collect();
        server.operate(&command).succeeded();
        eventually(word, || (found(&at, alert)?.is_empty() != fires).then_some(()));
    }
}
