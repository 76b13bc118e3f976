//! A disk that hangs under one shard: calls to it never return, as on a hard network mount or a dead device.
//!
//! A small library before libc plays it. As long as a file is there, each call of one kind that names one path hangs.
#![cfg(target_os = "linux")]

use std::{
    fs,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use crate::{
    place::{Place, Ran},
    running::{FREE, Running, say},
};

const LIBRARY: &str = r#"
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void hang(const char *call, const char *path) {
    const char *flag = getenv("HANG_IF"), *calls = getenv("HANG_CALL"), *part = getenv("HANG_PATH");
    if (!flag || !calls || !part || !path || strcmp(calls, call) || !strstr(path, part)) return;
    while (syscall(SYS_access, flag, F_OK) == 0) usleep(20000);
}

int statx(int at, const char *restrict path, int flags, unsigned mask, struct statx *restrict found) {
    hang("statx", path);
    return syscall(SYS_statx, at, path, flags, mask, found);
}

static int opened(const char *path, int flags, va_list rest) {
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
    hang("open", path);
    return syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    int got = opened(path, flags, rest);
    va_end(rest);
    return got;
}

int open64(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    int got = opened(path, flags | O_LARGEFILE, rest);
    va_end(rest);
    return got;
}
"#;

/// A place where the disk under one file can hang.
struct Disk {
    place: Place,
    call: &'static str,
    path: &'static str,
}

impl Disk {
    fn new(place: Place, call: &'static str) -> Self {
        let (source, library) = (place.write("hang.c", LIBRARY), place.path("hang.so"));
        let mut cc = Command::new("cc");
        let built = cc.args(["-shared", "-fPIC", "-o"]).arg(library).arg(source).status().unwrap();
        assert!(built.success(), "cc, which builds SQLite too");
        Self { place, call, path: "shard-2.db" }
    }

    fn hangs(&self) {
        self.place.write("hung", "");
    }

    fn is_back(&self) {
        fs::remove_file(self.place.path("hung")).unwrap();
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.place.command(args);
        let path = |name| self.place.path(name);
        command.env("LD_PRELOAD", path("hang.so")).env("HANG_IF", path("hung"));
        command.env("HANG_CALL", self.call).env("HANG_PATH", self.path);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// A run that must come to its end.
    fn run(&self, args: &[&str]) -> Ran {
        let mut child = self.command(args).spawn().unwrap();
        let until = Instant::now() + PATIENCE;
        while child.try_wait().unwrap().is_none() {
            if Instant::now() > until {
                child.kill().unwrap();
                panic!("{args:?} hangs with the disk: {:?}", child.wait_with_output());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        child.wait_with_output().unwrap().into()
    }

    fn serve(&self) -> Running {
        let args = [&["serve", "--set", "limits.drain_delay_s=0"][..], &FREE].concat();
        Running::of(self.command(&args).spawn().unwrap())
    }
}

/// Time for a handful of attempts of a second each, on a machine that has other things to do.
const PATIENCE: Duration = Duration::from_secs(30);

fn threads(server: &Running) -> usize {
    fs::read_dir(format!("/proc/{}/task", server.child.id())).unwrap().count()
}

/// Asks for numbers for so long; each request must be answered.
fn ask(server: &Running, for_so_long: Duration) {
    let until = Instant::now() + for_so_long;
    while Instant::now() < until {
        let answer = say(&server.http, "POST /v1/sequences/order/next?count=500 HTTP/1.1");
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_start_goes_on_without_it_and_shards_says_so() {
    for call in ["statx", "open"] {
        let disk = Disk::new(Place::with_cluster(), call);
        disk.hangs();
        let ran = disk.run(&["next", "order", "-n", "5"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_eq!(ran.out.lines().count(), 5, "{ran:?}");
        let ran = disk.run(&["shards", "--json"]);
        let slots = ran.as_json()["slots"].clone();
        for slot in [0, 1, 3] {
            assert_eq!(slots[slot]["state"], "open", "{ran:?}");
        }
        assert_eq!(slots[2]["state"], "unreachable", "{ran:?}");
        let cause = slots[2]["cause"]["detail"].as_str().unwrap();
        // A call to `open` is given up by the look's own limit, which can't know what lay beneath.
        let said =
            if call == "statx" { "the disk under it does not answer" } else { "no answer within 1000 ms" };
        assert!(cause.contains(said), "{cause}");
        disk.is_back();
        assert_eq!(disk.run(&["shards", "--json"]).as_json()["slots"][2]["state"], "open");
    }
}

/// Slots that are configured are compared before anything is opened, lest two of them be one file.
#[test]
fn a_configured_start_goes_on_without_it() {
    let disk = Disk::new(Place::with_cluster(), "statx");
    let shards = [0, 1, 2, 3]
        .map(|slot| format!("[[shard]]\nslot = {slot}\nstore = \"sqlite\"\npath = \"shard-{slot}.db\"\n"));
    disk.place.write("it.toml", &shards.concat());
    disk.hangs();
    let configured =
        |args: &[&str]| disk.run(&[args, &["--config", "it.toml", "--data", "sequent-data"]].concat());
    assert_eq!(configured(&["config", "check"]).code, Some(0));
    let ran = configured(&["next", "order", "-n", "5"]);
    assert_eq!((ran.code, ran.out.lines().count()), (Some(0), 5), "{ran:?}");
    disk.place.write("it.toml", &shards.concat().replace("shard-3.db", "./shard-2.db"));
    configured(&["config", "check"]).refused(3, &["shard[3].path", "shard[2].path is the same file"]);
}

#[test]
fn a_ledger_under_it_is_named_soon() {
    let disk = Disk { path: "ledger.db", ..Disk::new(Place::with_cluster(), "statx") };
    disk.hangs();
    for args in [&["next", "order"][..], &["list"]] {
        disk.run(args).refused(4, &["the disk under", "ledger.db", "does not answer"]);
    }
    // What can be told without it is shown, and it is named.
    let ran = disk.run(&["shards"]);
    let slots = ran.out.lines().filter(|line| line.contains("  open  ")).count();
    assert_eq!((ran.code, slots), (Some(4), 4), "{ran:?}");
    let named = |text: &str| text.contains("ledger.db") && text.contains("does not answer");
    assert!(ran.out.lines().any(|line| line.starts_with("ledger  ") && named(line)), "{ran:?}");
    assert!(ran.err.contains("LEDGER_UNAVAILABLE") && named(&ran.err), "{ran:?}");
}

#[test]
fn a_first_start_that_needs_it_names_it() {
    let disk = Disk::new(Place::new(), "statx");
    disk.hangs();
    disk.run(&["next", "order"]).refused(4, &["the disk under", "shard-2.db", "does not answer"]);
    disk.is_back();
    assert_eq!(disk.run(&["next", "order"]).out, "1\n", "it was no new cluster");
}

#[test]
fn a_server_serves_on_with_as_many_threads_and_ends_when_it_is_told_to() {
    for call in ["statx", "open"] {
        let disk = Disk::new(Place::with_cluster(), call);
        if call == "open" {
            // What is open stays open.
            disk.hangs();
        }
        let server = disk.serve();
        ask(&server, Duration::from_secs(1));
        disk.hangs();
        ask(&server, Duration::from_secs(4));
        let before = threads(&server);
        ask(&server, Duration::from_secs(8));
        let after = threads(&server);
        assert!(after <= before + 2, "{call}: {before} threads, and eight seconds later {after}");
        let told = Instant::now();
        server.signal("TERM");
        let (code, err) = server.wait_at_most(PATIENCE);
        assert_eq!(code, Some(1), "{call}: {err}");
        for word in ["drained, but could not leave", "shard-2.db", "the disk does not answer"] {
            assert!(err.contains(word), "{call}: {word:?} is not in {err}");
        }
        assert!(!err.contains("could not leave shard-0"), "{err}");
        println!("{call}: ended after {:?}", told.elapsed());
        disk.is_back();
        assert_eq!(disk.run(&["next", "order"]).code, Some(0));
    }
}

#[test]
fn a_server_takes_it_up_again_when_it_is_back() {
    let disk = Disk::new(Place::with_cluster(), "statx");
    let server = disk.serve();
    ask(&server, Duration::from_secs(1));
    disk.hangs();
    until(&server, "evicted");
    disk.is_back();
    until(&server, "live");
    let (code, err) = server.end();
    assert_eq!(code, Some(0), "{err}");
}

/// Asks until slot 2 is in this state.
fn until(server: &Running, state: &str) {
    let until = Instant::now() + PATIENCE;
    loop {
        ask(server, Duration::from_millis(200));
        let said = say(&server.admin, "GET /v1/status HTTP/1.1");
        let status: serde_json::Value = serde_json::from_str(said.split_once("\r\n\r\n").unwrap().1).unwrap();
        if status["shards"][2]["state"] == state {
            return;
        }
        assert!(Instant::now() < until, "slot 2 is not {state}: {}", status["shards"][2]);
    }
}
