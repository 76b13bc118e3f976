//! A server's process, at an address that outlives it.

use std::{
    fs,
    net::{SocketAddr, TcpListener},
    os::unix::fs::MetadataExt,
    path::PathBuf,
};

use crate::place::{Place, Running, eventually};

/// A server over the place's cluster, with ports of its own.
pub(crate) struct Server {
    grpc: SocketAddr,
    http: SocketAddr,
    process: Option<Running>,
}

impl Server {
    /// Started, and ready.
    pub(crate) fn start(place: &Place) -> Self {
        let mut server = Self { grpc: free_port(), http: free_port(), process: None };
        server.restart(place);
        server
    }

    /// Where clients find it, whether it runs or not.
    pub(crate) fn address(&self) -> String {
        format!("http://{}", self.grpc)
    }

    /// Its HTTP API.
    pub(crate) fn http(&self) -> String {
        format!("http://{}", self.http)
    }

    /// Started at the same addresses, and ready.
    pub(crate) fn restart(&mut self, place: &Place) {
        let grpc = format!("listen.grpc={}", self.grpc);
        let http = format!("listen.http={}", self.http);
        let mut args = vec!["serve", "--json"];
        let free = ["listen.redis=127.0.0.1:0", "listen.admin=127.0.0.1:0"];
        let settings = [&grpc, &http, free[0], free[1], "limits.drain_delay_s=1"];
        for setting in settings {
            args.extend(["--set", setting]);
        }
        let process = place.start(&args);
        process.until("a server says where it is", |process| process.out().contains('\n').then_some(()));
        self.process = Some(process);
    }

    /// `kill -9`.
    pub(crate) fn kill(&mut self) {
        if let Some(process) = self.process.take() {
            process.kill();
        }
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, name: &str) {
        self.process.as_ref().expect("it runs").signal(name);
    }

    /// Stops it, as a machine does that hangs, while it writes none of `files`: the lock of a SQLite file would hang with it, and
    /// with the lock every other server.
    pub(crate) fn hang(&self, files: &[PathBuf]) {
        let id = self.process.as_ref().expect("it runs").id();
        eventually("a server hangs outside of a write", || {
            self.signal("STOP");
            if is_stopped(id) && !writes(id, files) {
                return Some(());
            }
            self.signal("CONT");
            None
        });
    }

    /// Drains it; its exit code.
    pub(crate) fn drain(&mut self) -> Option<i32> {
        let process = self.process.take()?;
        process.signal("TERM");
        process.wait().code
    }
}

/// Whether a process has stopped.
fn is_stopped(id: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
    stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('T'))
}

/// Whether a process holds a lock to write in one of `files`.
fn writes(id: u32, files: &[PathBuf]) -> bool {
    let inodes = files.iter().filter_map(|file| fs::metadata(file).ok()).map(|file| file.ino().to_string());
    let inodes: Vec<_> = inodes.collect();
    let locks = fs::read_to_string("/proc/locks").unwrap();
    // "1: POSIX  ADVISORY  WRITE 4711 fe:00:5693957 120 120"
    locks.lines().map(|line| line.split_whitespace().collect::<Vec<_>>()).any(|lock| {
        let is_held = matches!(lock[..], [_, "POSIX", _, "WRITE", holder, ..] if holder == id.to_string());
        is_held && inodes.iter().any(|inode| lock[5].rsplit(':').next() == Some(inode))
    })
}

/// A server in memory, and its address.
pub(crate) fn dev(place: &Place) -> (Running, String) {
    // Of one shard: its numbers come in strict order, so that old ones can be told from new ones.
    let process = place.start(&["dev", "--json", "--set", "ring.shard_bits=0"]);
    let address = eventually("a server says where it is", || {
        let out = process.out();
        let line = out.lines().next().filter(|_| out.contains('\n'))?;
        let addresses: serde_json::Value = serde_json::from_str(line).unwrap();
        Some(format!("http://{}", addresses["grpc"].as_str().unwrap()))
    });
    (process, address)
}

/// A port that was free a moment ago.
fn free_port() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}
