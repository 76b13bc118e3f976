//! A test that is killed leaves no server and no folder.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use sequent_testkit::servers::MariaDb;

/// How often is looked whether they are gone: ten seconds and more.
const LOOKS_MAX: usize = 500;
/// Between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What the test below starts, and kills.
#[tokio::test]
#[ignore = "hangs, to be killed by the other test"]
async fn victim() {
    let server = MariaDb::start().await;
    println!("\nvictim {} {}", server.pid().await.unwrap(), server.folder().display());
    std::future::pending::<()>().await;
}

#[tokio::test]
async fn a_test_that_is_killed_takes_its_server_and_its_folder_along() {
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "orphan::victim", "--ignored", "--nocapture"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(victim.stdout.take().unwrap()).lines();
    let told =
        lines.map_while(Result::ok).find_map(|line| line.strip_prefix("victim ").map(str::to_owned)).unwrap();
    let (pid, folder) = told.split_once(' ').unwrap();
    let process = format!("/proc/{pid}");
    assert!(Path::new(&process).exists() && Path::new(folder).exists());
    victim.kill().unwrap();
    victim.wait().unwrap();
    for _ in 0..LOOKS_MAX {
        // Whoever adopts a process reaps it sooner or later: one that has ended counts as gone.
        let state = std::fs::read_to_string(format!("{process}/stat")).unwrap_or_default();
        let gone = state.rsplit_once(')').is_none_or(|(_, rest)| rest.trim_start().starts_with('Z'));
        if gone && !Path::new(folder).exists() {
            return;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    panic!("{process} or {folder} is still there");
}
