//! Tests of the file: its chain over restarts and rotations, and what happens while it can't be written.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    time::{Duration, Instant},
};

use sequent_core::{Clock, SystemClock};
use sequent_engine::config::AuditSection;
use serde_json::Value;

use super::{Audit, AuditBroken, AuditChain, Entry, QUEUE_MAX};

/// How long the thread may take to write a few lines.
const PATIENCE: Duration = Duration::from_secs(20);

fn start(path: &Path) -> Audit {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    Audit::start(&AuditSection { file: Some(path.to_owned()) }, &clock)
}

fn evict(slot: u64) -> Entry {
    Entry::new("evict", "OK").by("admin", None).of(Some("ann")).with("slot", slot)
}

fn denied(principal: Option<&str>) -> Entry {
    Entry::new("refused", "PERMISSION_DENIED").of(principal)
}

/// What the lines of a file are about.
fn whats(path: &Path) -> Vec<String> {
    let line = |line: &str| serde_json::from_str::<Value>(line).unwrap()["what"].as_str().unwrap().to_owned();
    fs::read_to_string(path).unwrap().lines().map(line).collect()
}

fn check(files: &[&PathBuf]) -> Result<AuditChain, AuditBroken> {
    let mut chain = AuditChain::default();
    for file in files {
        chain.read(&*fs::read(file).unwrap()).unwrap()?;
    }
    Ok(chain)
}

/// Waits until the status is as expected.
async fn until(audit: &Audit, is_so: impl Fn(&Value) -> bool) {
    let clock = SystemClock;
    let end: Instant = clock.now() + PATIENCE;
    while !is_so(&audit.status()) {
        assert!(clock.now() < end, "{}", audit.status());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn lines_are_chained_over_a_restart_and_a_rotation() {
    let folder = tempfile::tempdir().unwrap();
    let (path, old) = (folder.path().join("audit.jsonl"), folder.path().join("audit.jsonl.1"));
    let audit = start(&path);
    audit.record(evict(1));
    audit.finish().await;
    let audit = start(&path);
    audit.record(evict(2));
    until(&audit, |status| status["written"] == 2).await;
    fs::rename(&path, &old).unwrap();
    audit.record(evict(3));
    audit.reopen();
    audit.record(evict(4));
    audit.finish().await;
    assert_eq!(whats(&old), ["start", "evict", "stop", "start", "evict", "evict"]);
    assert_eq!(whats(&path), ["evict", "stop"]);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let chain = check(&[&old, &path]).unwrap();
    assert_eq!((chain.lines(), chain.torn()), (8, 0));
    let (first, second) = (check(&[&old]).unwrap(), check(&[&path]).unwrap());
    assert_eq!(first.last(), second.first(), "the new file goes on where the old one ended");
    assert!(check(&[&path, &old]).is_err(), "in the wrong order");
}

#[tokio::test]
async fn a_line_that_is_changed_or_removed_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let audit = start(&path);
    (1..=3).for_each(|slot| audit.record(evict(slot)));
    audit.finish().await;
    let text = fs::read_to_string(&path).unwrap();
    let broken_at = |text: String| {
        fs::write(&path, text).unwrap();
        check(&[&path]).unwrap_err().line
    };
    assert_eq!(
        broken_at(text.replace("\"slot\":2", "\"slot\":1")),
        4,
        "the line after the changed one tells it"
    );
    let removed: Vec<&str> = text.lines().filter(|line| !line.contains("\"slot\":2")).collect();
    assert_eq!(broken_at(removed.join("\n")), 3);
    let added = text.replacen('\n', "\nwhatever\nelse\n", 1);
    assert_eq!(broken_at(added), 3, "two lines on end that are none");
    let added = text.replacen('\n', "\nwhatever\n", 1);
    assert_eq!(broken_at(added), 3, "one, whose hash the next line does not have");
}

#[tokio::test]
async fn a_line_that_was_cut_short_is_told_and_breaks_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let audit = start(&path);
    audit.record(evict(1));
    audit.finish().await;
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, &text[..text.len() - 20]).unwrap();
    start(&path).finish().await;
    let chain = check(&[&path]).unwrap();
    assert_eq!((chain.lines(), chain.torn()), (5, 1));
}

#[tokio::test]
async fn a_flood_of_refusals_is_counted_and_hides_no_principal() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let audit = start(&path);
    (0..500).for_each(|_| audit.record(denied(None)));
    (0..500).for_each(|_| audit.record(denied(Some("web"))));
    audit.record(denied(Some("ann")));
    audit.record(evict(1));
    audit.finish().await;
    let lines: Vec<Value> =
        fs::read_to_string(&path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |whose: Value| {
        lines.iter().filter(|line| line["what"] == "refused" && line["principal"] == whose).count() as u64
    };
    let (strangers, web) = (of(Value::Null), of("web".into()));
    // The 500 may fall into two seconds.
    assert!((10..=20).contains(&strangers) && (10..=20).contains(&web), "{strangers} {web}");
    let left_out = lines.iter().filter(|line| line["what"] == "refusals_left_out");
    let left_out: u64 = left_out.map(|line| line["count"].as_u64().unwrap()).sum();
    assert_eq!(left_out, 1000 - strangers - web);
    assert_eq!(of("ann".into()), 1);
    assert!(lines.iter().any(|line| line["what"] == "evict"));
    check(&[&path]).unwrap();
}

#[tokio::test]
async fn a_full_disk_is_told_and_what_was_lost_is_in_the_next_line() {
    let folder = tempfile::tempdir().unwrap();
    let (path, good) = (folder.path().join("audit.jsonl"), folder.path().join("good"));
    symlink("/dev/full", &path).unwrap();
    let audit = start(&path);
    audit.record(evict(1));
    until(&audit, |status| status["lost"] == 2).await;
    assert!(audit.status()["fault"].as_str().unwrap().contains("No space left"), "{}", audit.status());
    fs::remove_file(&path).unwrap();
    symlink(&good, &path).unwrap();
    audit.record(evict(2));
    until(&audit, |status| status["fault"].is_null() && status["written"] == 2).await;
    audit.finish().await;
    assert_eq!(whats(&good), ["lines_lost", "evict", "stop"]);
    assert!(fs::read_to_string(&good).unwrap().contains("\"count\":2"));
    check(&[&good]).unwrap();
}

#[tokio::test]
async fn a_file_that_hangs_holds_nobody_up() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    let audit = start(&path);
    // More than a pipe holds that nobody reads, and more than the queue.
    let many = 4096 + QUEUE_MAX;
    (0..many as u64).for_each(|slot| audit.record(evict(slot)));
    let status = audit.status();
    assert!(status["lost"].as_u64().unwrap() > 0, "{status}");
    let begun = SystemClock.now();
    audit.finish().await;
    assert!(SystemClock.now() - begun < PATIENCE, "a server ends all the same");
}

#[tokio::test]
async fn a_file_that_another_server_writes_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let first = start(&path);
    until(&first, |status| status["written"] == 1).await;
    let second = start(&path);
    until(&second, |status| status["lost"] == 1).await;
    assert!(second.status()["fault"].as_str().unwrap().contains("another server"), "{}", second.status());
    first.finish().await;
    second.record(evict(1));
    second.finish().await;
    assert_eq!(whats(&path), ["start", "stop", "lines_lost", "evict", "stop"]);
    check(&[&path]).unwrap();
}

#[tokio::test]
async fn a_file_that_was_removed_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let audit = start(&path);
    until(&audit, |status| status["written"] == 1).await;
    fs::remove_file(&path).unwrap();
    audit.record(evict(1));
    audit.finish().await;
    assert_eq!(whats(&path), ["evict", "stop"]);
}
