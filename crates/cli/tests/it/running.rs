//! A server's process, and plain HTTP to it.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Command},
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::place::Place;

/// Free ports for all APIs.
pub(crate) const FREE: [&str; 9] = [
    "--json",
    "--set",
    "listen.grpc=127.0.0.1:0",
    "--set",
    "listen.http=127.0.0.1:0",
    "--set",
    "listen.redis=127.0.0.1:0",
    "--set",
    "listen.admin=127.0.0.1:0",
];

/// The configuration of a cluster that several servers of one directory share, without principals.
pub(crate) fn cluster_on_files() -> String {
    let shard =
        |slot: u8| format!("[[shard]]\nslot = {slot}\nstore = \"sqlite\"\npath = \"shard-{slot}.db\"\n");
    format!(
        "cluster = \"shop\"\n[ring]\nshard_bits = 1\n{}{}[ledger]\nstore = \"sqlite\"\npath = \"ledger.db\"\n\
         [[sequence]]\nname = \"order\"\n[limits]\ndrain_delay_s = 0\n",
        shard(0),
        shard(1)
    )
}

/// A server's process, ended with the test.
pub(crate) struct Running {
    pub(crate) child: Child,
    pub(crate) grpc: String,
    pub(crate) http: String,
    pub(crate) redis: String,
    pub(crate) admin: String,
}

impl Running {
    pub(crate) fn start(place: &Place, args: &[&str]) -> Self {
        Self::of(place.spawn(args))
    }

    /// A process whose output is piped.
    pub(crate) fn of(mut child: Child) -> Self {
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let addresses: Value = serde_json::from_str(&line).unwrap_or_else(|error| {
            let mut err = String::new();
            child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
            panic!("{error}: {line:?}: {err}")
        });
        let address = |api: &str| addresses[api].as_str().unwrap().to_owned();
        let [grpc, http, redis, admin] = ["grpc", "http", "redis", "admin"].map(address);
        Self { child, grpc, http, redis, admin }
    }

    pub(crate) fn next(&self) -> Value {
        let answer = say(&self.http, "POST /v1/sequences/order/next HTTP/1.1");
        serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
    }

    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// The memory that the process has, or had at most, in bytes: `VmRSS` or `VmHWM`.
    pub(crate) fn memory(&self, what: &str) -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix(what)?.strip_prefix(':')).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
    }

    /// A metric, summed over its labels as far as `labels` are among them.
    pub(crate) fn metric(&self, name: &str, labels: &str) -> f64 {
        let said = say(&self.admin, "GET /metrics HTTP/1.1");
        let of = |line: &str| {
            let (found, value) = line.rsplit_once(' ')?;
            let named = found.split('{').next()? == name && found.contains(labels);
            named.then(|| value.parse::<f64>().ok())?
        };
        said.lines().filter_map(of).sum()
    }

    /// The exit code and what was said on standard error.
    pub(crate) fn end(self) -> (Option<i32>, String) {
        self.signal("TERM");
        self.wait()
    }

    /// The same of a process that has been told to end, and must do so in time.
    pub(crate) fn wait_at_most(mut self, limit: Duration) -> (Option<i32>, String) {
        let until = Instant::now() + limit;
        while self.child.try_wait().unwrap().is_none() {
            assert!(Instant::now() < until, "it did not end within {limit:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
        self.wait()
    }

    /// The same of a process that has been told to end.
    pub(crate) fn wait(mut self) -> (Option<i32>, String) {
        let code = self.child.wait().unwrap().code();
        let mut err = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        (code, err)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

pub(crate) fn say(address: &str, line: &str) -> String {
    said(address, line, "")
}

/// The JSON that a POST of JSON is answered with.
pub(crate) fn post(address: &str, path: &str, body: &Value) -> Value {
    let body = body.to_string();
    let line =
        format!("POST {path} HTTP/1.1\r\ncontent-type: application/json\r\ncontent-length: {}", body.len());
    let answer = said(address, &line, &body);
    serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
}

/// The answer to a body that is put there.
pub(crate) fn put(address: &str, path: &str, body: &Value) -> Value {
    let body = body.to_string();
    let answer = said(
        address,
        &format!("PUT {path} HTTP/1.1\r\ncontent-type: application/json\r\ncontent-length: {}", body.len()),
        &body,
    );
    serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
}

/// The whole answer to a request.
pub(crate) fn said(address: &str, line: &str, body: &str) -> String {
    let mut socket = TcpStream::connect(address).unwrap();
    write!(socket, "{line}\r\nhost: localhost\r\nconnection: close\r\n\r\n{body}").unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    answer
}
