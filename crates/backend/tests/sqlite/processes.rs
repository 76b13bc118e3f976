//! Many processes on one file, some of them killed.

use std::{
    collections::BTreeSet,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, Command, Stdio},
};

use sequent_backend::sqlite::{SqliteOptions, SqliteStore};
use sequent_core::{BoxFuture, Cell, ErrorKind, SourceError, Store};

use crate::support::{Site, epoch, key, names};

const PROCESSES: usize = 10;
const TAKES: u64 = 150;
const FILE: &str = "SEQUENT_TEST_FILE";

/// This test run again as a process of its own, told by the environment what to work on.
fn child(path: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "processes::as_a_process", "--ignored", "--nocapture"]);
    command.env(FILE, path).stdout(Stdio::piped()).spawn().unwrap()
}

/// What each process does: says who the store is, then takes, and says each number once it has it.
#[tokio::test]
#[ignore = "run by the tests below, as processes of their own"]
async fn as_a_process() {
    let path = std::env::var(FILE).unwrap();
    let store = SqliteStore::new(path, SqliteOptions { create: true, ..SqliteOptions::default() });
    let under = again(|| store.inspect()).await.unwrap().instance;
    // One write a line: what a killed process has said is complete.
    let say = |line: String| std::io::stdout().write_all(line.as_bytes()).unwrap();
    say(format!("\nspeaks {under}\n"));
    let order = key("order");
    let cell = Cell { key: &order, under: &under };
    for turn in 0..TAKES {
        let block = match again(|| store.take(cell, epoch(1), 1 + turn % 3)).await {
            Ok(block) => block,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Regressed, "{error}");
                break;
            }
        };
        say(format!("took {} {}\n", block.first(), block.last()));
    }
    store.disconnect().await;
}

/// Tries again what is contended: a loaded machine may keep a process waiting for longer than a verb does.
async fn again<'a, T>(verb: impl Fn() -> BoxFuture<'a, Result<T, SourceError>>) -> Result<T, SourceError> {
    for _ in 0..50 {
        match verb().await {
            Err(error) if error.kind() == ErrorKind::Contended => {}
            other => return other,
        }
    }
    panic!("contended for too long")
}

#[tokio::test]
async fn of_many_first_processes_one_makes_the_file() {
    let site = Site::new();
    let children: Vec<Child> = (0..PROCESSES).map(|_| child(&site.path)).collect();
    let mut speakers = BTreeSet::new();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        let said = String::from_utf8(output.stdout).unwrap();
        speakers.extend(said.lines().filter_map(|line| line.strip_prefix("speaks ")).map(str::to_owned));
    }
    assert_eq!(speakers.len(), 1, "{speakers:?}");
    // Processes that leave at the same moment each think that another stays, so the log may remain.
    let names = names(site.folder.path());
    assert!(!names.iter().any(|name| name.contains(".new")), "{names:?}");
}

#[tokio::test]
async fn processes_at_once_some_killed_never_get_a_number_twice() {
    let site = Site::new();
    let store = site.store();
    let under = store.inspect().await.unwrap().instance;
    let order = key("order");
    let cell = Cell { key: &order, under: &under };
    store.close(cell, epoch(1)).await.unwrap();
    store.install(cell, epoch(1), 0).await.unwrap();
    store.disconnect().await;
    let readers: Vec<_> = (0..PROCESSES)
        .map(|at| {
            let child = child(&site.path);
            // Every second one is killed, each after another number of takes.
            let most = if at % 2 == 0 { usize::MAX } else { 3 + at * 9 };
            std::thread::spawn(move || listen(child, most))
        })
        .collect();
    let mut given = BTreeSet::new();
    for (at, reader) in readers.into_iter().enumerate() {
        let numbers = reader.join().unwrap();
        let most = TAKES.div_ceil(3) * 6;
        assert!(at % 2 == 1 || numbers.len() as u64 == most, "process {at} took {} of {most}", numbers.len());
        for number in numbers {
            assert!(given.insert(number), "{number} was given twice");
        }
    }
    let value = store.close(cell, epoch(2)).await.unwrap();
    assert!(given.last().is_some_and(|highest| *highest <= value), "a close found {value}");
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
