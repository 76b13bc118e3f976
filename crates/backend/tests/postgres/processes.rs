//! Many processes on one store, some of them killed.

use std::{
    collections::BTreeSet,
    io::{BufRead, BufReader, Write},
    process::{Child, Command, Stdio},
};

use sequent_backend::postgres::PostgresStore;
use sequent_core::{Cell, Store};

use crate::support::{Counting, MAKER, PASSWORD, Site, epoch, key, options};

const PROCESSES: usize = 6;
const TAKES: u64 = 100;
const URL: &str = "SEQUENT_TEST_URL";

/// This test run again as a process of its own, told by the environment what to work on.
fn child(url: &str) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "processes::as_a_process", "--ignored", "--nocapture"]);
    command.env(URL, url).stdout(Stdio::piped()).spawn().unwrap()
}

/// What each process does: takes, and says each number once it has it.
#[tokio::test]
#[ignore = "run by the test below, as processes of their own"]
async fn as_a_process() {
    let store = PostgresStore::new(options(std::env::var(URL).unwrap().parse().unwrap()));
    let under = store.inspect().await.unwrap().instance;
    // One write a line: what a killed process has said is complete.
    let say = |line: String| std::io::stdout().write_all(line.as_bytes()).unwrap();
    say(format!("\nspeaks {under}\n"));
    let order = key("order");
    let cell = Cell { key: &order, under: &under };
    for turn in 0..TAKES {
        let block = store.take(cell, epoch(1), 1 + turn % 3).await.unwrap();
        say(format!("took {} {}\n", block.first(), block.last()));
    }
}

#[tokio::test]
async fn processes_at_once_some_killed_never_get_a_number_twice() {
    let site = Site::new().await;
    let counting = Counting::begin(site.store(), 0).await;
    let url = site.server.url_as(MAKER, PASSWORD);
    let readers: Vec<_> = (0..PROCESSES)
        .map(|at| {
            let child = child(&url);
            // Every second one is killed, each after another number of takes.
            let most = if at % 2 == 0 { usize::MAX } else { 3 + at * 9 };
            std::thread::spawn(move || listen(child, most))
        })
        .collect();
    let (mut given, mut speakers) = (BTreeSet::new(), BTreeSet::from([counting.under.to_string()]));
    for (at, reader) in readers.into_iter().enumerate() {
        let (speaker, numbers) = reader.join().unwrap();
        speakers.extend(speaker);
        assert!(at % 2 == 1 || numbers.len() as u64 >= TAKES, "process {at} took {}", numbers.len());
        for number in numbers {
            assert!(given.insert(number), "{number} was given twice");
        }
    }
    assert_eq!(speakers.len(), 1, "{speakers:?}");
    let value = counting.store.close(counting.cell(), epoch(2)).await.unwrap();
    assert!(given.last().is_some_and(|highest| *highest <= value), "a close found {value}");
}

/// Who spoke, and the numbers that a process said it took, until it ends or is killed after `most` takes.
fn listen(mut child: Child, most: usize) -> (Option<String>, Vec<u64>) {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let (mut speaker, mut numbers, mut takes) = (None, Vec::new(), 0);
    for line in lines.map_while(Result::ok) {
        if let Some(under) = line.strip_prefix("speaks ") {
            speaker = Some(under.to_owned());
        }
        let Some((first, last)) = line.strip_prefix("took ").and_then(|range| range.split_once(' ')) else {
            continue;
        };
        numbers.extend(first.parse::<u64>().unwrap()..=last.parse().unwrap());
        takes += 1;
        if takes == most {
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    (speaker, numbers)
}
