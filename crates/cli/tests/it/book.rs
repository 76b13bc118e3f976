//! The commands of README and of some pages of the book: each is run, and answers what the page shows.

use std::{fs, path::Path, process::Command};

use serde_json::Value;

use crate::{
    place::{PATIENT, Place},
    running::{FREE, Running, post, say},
};

/// Lines that are run elsewhere (`tests/tests/deploy/first_steps.rs`), that are the tests, or that need another tool.
const LEFT_OUT: [&str; 6] =
    ["./tests/run", "sequent serve", "grpcurl ", "cargo build ", "target/release/sequent ", "prometheus "];

/// The sequence that pages suppose to be there.
const REPAIR: [&str; 6] = [
    "define",
    "repair",
    "--template",
    "@{date,yyyyMMdd}-@{ctx,area,len=3}-@{seq,w=5}",
    "--zone",
    "Asia/Shanghai",
];

#[test]
fn readme() {
    follow("README.md", &[]);
}

#[test]
fn start() {
    follow("docs/start.md", &[]);
}

#[test]
fn periods() {
    follow("docs/concepts/periods.md", &[&REPAIR]);
}

#[test]
fn using_http() {
    follow("docs/using/http.md", &[&["next", "order", "-n", "9"], &REPAIR]);
}

#[test]
fn using_redis() {
    let order: &[&str] = &["next", "order", "-n", "9"];
    follow("docs/using/redis.md", &[order, &REPAIR]);
}

#[test]
fn http_reference() {
    follow("docs/reference/http.md", &[]);
}

/// By a shell, as its commands write files, and at a server on free ports.
#[test]
fn operating_tokens() {
    const PAGE: &str = "docs/operating/tokens.md";
    let place = Place::new();
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(PAGE)).unwrap();
    let block = text.split_once("```toml\n").unwrap().1.split_once("```").unwrap().0;
    place.write("sequent.toml", block);
    let mut server = None;
    for Shown { command, answer } in shown(PAGE) {
        let mut command = command;
        if command.contains("--server") {
            let args = [&["serve", "--config", "sequent.toml"], &FREE[..], &PATIENT].concat();
            let server = server.get_or_insert_with(|| Running::start(&place, &args));
            command = command.replace("localhost:7420", &server.grpc);
        }
        let ran = place.shell(&command);
        assert_eq!(ran.code, Some(0), "{command}: {ran:?}");
        let said: Vec<&str> = ran.out.lines().collect();
        assert_eq!(said.len(), answer.len(), "{command}: {said:#?}");
        for (said, shown) in said.iter().zip(&answer) {
            let (before, after) = shown.split_once('…').unwrap_or((shown, ""));
            let fits = if shown.contains('…') {
                said.starts_with(before) && said.ends_with(after)
            } else {
                said == shown
            };
            assert!(fits, "{command}: {said:?} is not {shown:?}");
        }
    }
    assert!(server.is_some(), "the page asks no server");
}

/// Runs the commands of a page in their order, in a directory of their own.
fn follow(page: &str, before: &[&[&str]]) {
    let place = Place::new();
    for args in before {
        place.text(&[args, &PATIENT[..]].concat());
    }
    let mut reader = Reader { place, server: None };
    let commands = shown(page);
    assert!(!commands.is_empty(), "{page} shows no command");
    for shown in &commands {
        reader.run(page, shown);
    }
}

/// A command with what the page shows below it.
struct Shown {
    command: String,
    answer: Vec<String>,
}

/// The commands of a page's console blocks, without those that are left out.
fn shown(page: &str) -> Vec<Shown> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page);
    let text = fs::read_to_string(&path).unwrap();
    let mut found: Vec<Shown> = Vec::new();
    let mut is_console = false;
    for line in text.lines() {
        if line.starts_with("```") {
            is_console = line == "```console";
        } else if is_console {
            match line.strip_prefix("$ ") {
                Some(command) => found.push(Shown { command: command.to_owned(), answer: Vec::new() }),
                None => found.last_mut().unwrap().answer.push(line.to_owned()),
            }
        }
    }
    found.retain(|shown| !LEFT_OUT.iter().any(|left_out| shown.command.starts_with(left_out)));
    found
}

/// The words of a command line, of which some stand in single quotes.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (at, part) in command.split('\'').enumerate() {
        if at % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(String::from));
        }
    }
    words
}

/// Somebody who types what a page says.
struct Reader {
    place: Place,
    /// Started where it is asked first.
    server: Option<Running>,
}

impl Reader {
    fn run(&mut self, page: &str, shown: &Shown) {
        let words = words(&shown.command);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["cargo", "run", "--", args @ ..] | ["sequent", args @ ..] => self.own(args, shown),
            ["curl", "-X", "POST", url] => self.curl(url, None, shown),
            ["curl", url, "--json", body] => self.curl(url, Some(body), shown),
            ["redis-cli", "-p", "7422", args @ ..] => self.redis_cli(args, shown),
            _ => panic!("{page}: no test runs {:?}", shown.command),
        }
    }

    fn own(&self, args: &[&str], shown: &Shown) {
        let mut args = args.to_vec();
        // The day that the pages show is not today.
        if args[0] == "next" && shown.answer.iter().any(|line| line.contains("20261122")) {
            args.extend(["--at", "2026-11-22T12:00:00Z"]);
        }
        args.extend(PATIENT);
        let ran = self.place.run(&args);
        assert_eq!(ran.code, Some(0), "{}: {ran:?}", shown.command);
        let told = ran.err.lines().filter(|line| line.starts_with("new embedded cluster"));
        let said: Vec<&str> = told.chain(ran.out.lines()).collect();
        if !shown.answer.is_empty() {
            assert_eq!(said, shown.answer, "{}", shown.command);
        }
    }

    fn redis_cli(&mut self, args: &[&str], shown: &Shown) {
        let server = self.server();
        let port = server.redis.rsplit(':').next().unwrap();
        let mut command = Command::new("redis-cli");
        // As it answers on a terminal.
        command.args(["--no-raw", "-p", port]).args(args);
        let said =
            command.output().unwrap_or_else(|error| panic!("redis-cli (Debian: redis-tools): {error}"));
        let said = String::from_utf8(said.stdout).unwrap();
        let said: Vec<&str> = said.lines().filter(|line| !line.is_empty()).collect();
        assert_eq!(said, shown.answer, "{}", shown.command);
    }

    fn server(&mut self) -> &Running {
        let Self { place, server } = self;
        server.get_or_insert_with(|| Running::start(place, &[&["serve"], &FREE[..], &PATIENT].concat()))
    }

    fn curl(&mut self, url: &str, body: Option<&str>, shown: &Shown) {
        let http = &self.server().http;
        let path = url.strip_prefix("localhost:7421").unwrap_or_else(|| panic!("{}", shown.command));
        let said: Value = match body {
            None => {
                let answer = say(http, &format!("POST {path} HTTP/1.1"));
                serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
            }
            Some(body) => post(http, path, &serde_json::from_str(body).unwrap()),
        };
        let expected: Value = serde_json::from_str(&shown.answer.concat()).unwrap();
        assert_eq!(said, expected, "{}", shown.command);
    }
}
