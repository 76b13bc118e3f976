//! Many processes on one server, some of them killed.

use std::{
    collections::BTreeSet,
    io::{BufRead, BufReader, Write},
    process::{Child, Command, Stdio},
};

use sequent_backend::net::ServerOptions;
use sequent_core::ErrorKind;

use crate::support::{CODES, Hand, Site, WAYS};

const PROCESSES: usize = 6;
const TAKES: u64 = 100;
const SERVER: &str = "SEQUENT_TEST_SERVER";
const WAY: &str = "SEQUENT_TEST_WAY";

/// This test run again as a process of its own, told by the environment what to work on.
fn child(url: &str, way: usize) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "processes::as_a_process", "--ignored", "--nocapture"]);
    command.env(SERVER, url).env(WAY, way.to_string()).stdout(Stdio::piped()).spawn().unwrap()
}

/// What each process does: takes, and says each number once it has it.
#[tokio::test]
#[ignore = "run by the test below, as processes of their own"]
async fn as_a_process() {
    let options = ServerOptions::from_url(&std::env::var(SERVER).unwrap()).unwrap();
    let (name, make) = WAYS[std::env::var(WAY).unwrap().parse::<usize>().unwrap()];
    let hand =
        Hand::of(make(ServerOptions { connect_timeout: std::time::Duration::from_secs(10), ..options }));
    let hand = hand.await.unwrap();
    for turn in 0..TAKES {
        let block = match hand.take(name, 1, 1 + turn % 3).await {
            Ok(block) => block,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Contended, "{error}");
                continue;
            }
        };
        // One write a line: what a killed process has said is complete.
        std::io::stdout()
            .write_all(format!("\ntook {} {}\n", block.first(), block.last()).as_bytes())
            .unwrap();
    }
}

#[tokio::test]
async fn processes_at_once_some_killed_never_get_a_number_twice() {
    for (way, (name, make)) in WAYS.into_iter().enumerate() {
        let site = Site::new(CODES).await;
        let url = site.server.url_as("shop", "a%20secret");
        let hand = Hand::of(make(site.options())).await.unwrap();
        hand.begin(name, 1, 0).await.unwrap();
        let readers: Vec<_> = (0..PROCESSES)
            .map(|at| {
                let child = child(&url, way);
                // Every second one is killed, each after another number of takes.
                let most = if at % 2 == 0 { usize::MAX } else { 3 + at * 9 };
                std::thread::spawn(move || listen(child, most))
            })
            .collect();
        let mut given = BTreeSet::new();
        for reader in readers {
            let numbers = tokio::task::spawn_blocking(|| reader.join().unwrap()).await.unwrap();
            assert!(!numbers.is_empty(), "{name}: a process took nothing");
            for number in numbers {
                assert!(given.insert(number), "{name}: {number} was given twice");
            }
        }
        let value = hand.close(name, 2).await.unwrap();
        assert!(given.last().is_some_and(|highest| *highest <= value), "{name}: a close found {value}");
    }
}

/// The numbers that a process said it took, until it ends or is killed after `most` takes.
fn listen(mut child: Child, most: usize) -> Vec<u64> {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let (mut numbers, mut takes) = (Vec::new(), 0);
    for line in lines.map_while(Result::ok) {
        let Some(range) = line.strip_prefix("took ") else { continue };
        let (first, last) = range.split_once(' ').unwrap();
        numbers.extend(first.parse::<u64>().unwrap()..=last.parse().unwrap());
        takes += 1;
        if takes == most {
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    numbers
}
