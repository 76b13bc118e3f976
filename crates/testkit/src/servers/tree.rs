//! A process with all its children, as `/proc` has them: a database may be many processes in as many groups.

use rustix::process::{Pid, Signal, kill_process};

/// How often a process is looked at until it has stopped: for a second or so.
const LOOKS_MAX: usize = 100_000;

/// A process in the state that `/proc/<pid>/stat` shows.
struct Seen {
    pid: i32,
    parent: i32,
    state: char,
}

fn seen(pid: i32) -> Option<Seen> {
    let line = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may hold anything; what counts stands behind its closing bracket.
    let mut fields = line.rsplit_once(')')?.1.split_whitespace();
    Some(Seen { pid, state: fields.next()?.chars().next()?, parent: fields.next()?.parse().ok()? })
}

/// Whether a process runs, stopped or not: one that has ended and was not asked for does not.
pub(crate) fn is_running(pid: i32) -> bool {
    seen(pid).is_some_and(|seen| !matches!(seen.state, 'Z' | 'X'))
}

/// The children of a process, theirs too.
pub(crate) fn below(root: i32) -> Vec<i32> {
    let names = std::fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.file_name());
    let all: Vec<Seen> = names.filter_map(|name| seen(name.to_str()?.parse().ok()?)).collect();
    let mut found = vec![root];
    let mut at = 0;
    while let Some(parent) = found.get(at).copied() {
        found.extend(all.iter().filter(|seen| seen.parent == parent).map(|seen| seen.pid));
        at += 1;
    }
    found.split_off(1)
}

/// Stops a process, then its children: so that none is made meanwhile. The children are returned.
pub(crate) fn stop(root: i32) -> Vec<i32> {
    signal(root, Signal::STOP);
    for _ in 0..LOOKS_MAX {
        if seen(root).is_none_or(|seen| matches!(seen.state, 'T' | 't' | 'Z' | 'X')) {
            break;
        }
    }
    let children = below(root);
    for child in &children {
        signal(*child, Signal::STOP);
    }
    children
}

/// Lets a stopped process go on, its children first.
pub(crate) fn go_on(root: i32) {
    for pid in below(root).into_iter().chain([root]) {
        signal(pid, Signal::CONT);
    }
}

/// Sends a signal; a process that is gone gets none.
pub(crate) fn signal(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        let _gone = kill_process(pid, signal);
    }
}
