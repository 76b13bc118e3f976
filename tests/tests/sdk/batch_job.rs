//! The example of a batch job does what it says: it waits for servers that are away, and numbers its lines.

use std::{
    env,
    io::Write,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use crate::{place::Place, server::Server};

/// For longer than a client waits who sets nothing.
const AWAY: Duration = Duration::from_millis(2500);

/// What `tests/run` builds, where it runs this: of the same packages and features, or every dependency would be built again.
const SELECTION: &str = "SEQUENT_SELECTION";

/// The example; where nothing else is selected, as its own page builds it.
fn example() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let selection = env::var(SELECTION).unwrap_or_else(|_| "--package sequent-client".to_owned());
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--locked", "--example", "batch_job"]).args(selection.split(' '));
    cargo.args(["--message-format", "json-render-diagnostics"]).current_dir(root);
    let built = cargo.stderr(Stdio::inherit()).output().unwrap();
    assert!(built.status.success(), "the example does not compile");
    let messages = String::from_utf8(built.stdout).unwrap();
    let artifacts = messages.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let mut executables = artifacts.filter_map(|artifact| artifact["executable"].as_str().map(PathBuf::from));
    executables.next().expect("cargo names the binary that it built")
}

/// The job, with two lines to number.
fn job(program: &Path, servers: &str) -> Child {
    let mut job = Command::new(program);
    job.env("SEQUENT_SERVER", servers).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut job = job.spawn().unwrap();
    job.stdin.take().unwrap().write_all(b"tea;3\nmilk;4\n").unwrap();
    job
}

#[test]
fn it_waits_for_a_server_that_starts_after_it() {
    let program = example();
    let place = Place::new();
    place.numbers(&["next", "order"]);
    let mut server = Server::start(&place);
    server.kill();
    let mut job = job(&program, &server.address());
    thread::sleep(AWAY);
    if let Some(ended) = job.try_wait().unwrap() {
        panic!("it gave up: {ended}: {:?}", job.wait_with_output());
    }
    server.restart(&place);
    let done = job.wait_with_output().unwrap();
    assert!(done.status.success(), "{done:?}");
    let lines = String::from_utf8(done.stdout).unwrap();
    let told: Vec<(u64, &str)> = lines
        .lines()
        .map(|line| line.split_once(';').map(|(number, rest)| (number.parse().unwrap(), rest)).unwrap())
        .collect();
    assert_eq!(told.iter().map(|(_, rest)| *rest).collect::<Vec<_>>(), ["tea;3", "milk;4"]);
    assert!(told[0].0 < told[1].0, "{told:?}");
}
