//! A server in a process of its own, and what it has cost.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    process::{Child, Stdio},
    time::Duration,
};

use sequent_benches::cpu_of;

use crate::{access, load::on};

/// A server of this program, ended when it is dropped.
pub(crate) struct Server {
    child: Child,
    /// As the role prints them: gRPC, HTTP, Redis, admin; or the only one.
    pub(crate) addresses: Vec<SocketAddr>,
}

impl Server {
    pub(crate) fn start(role: &str) -> Result<Self, String> {
        Self::start_on(role, None)
    }

    /// A server that runs on one processor alone.
    pub(crate) fn start_on(role: &str, processor: Option<u8>) -> Result<Self, String> {
        let exe = std::env::current_exe().map_err(|error| format!("this program is nowhere: {error}"))?;
        let child = on(processor, exe).args(["--role", role]).stdout(Stdio::piped()).spawn();
        let mut child = child.map_err(|error| format!("no process for {role}: {error}"))?;
        let mut line = String::new();
        let out = child.stdout.take().ok_or("a child without an output")?;
        let read = BufReader::new(out).read_line(&mut line);
        let server = Self { addresses: line.split_whitespace().flat_map(str::parse).collect(), child };
        match read {
            Ok(_) if !server.addresses.is_empty() => Ok(server),
            _ => Err(format!("{role} said no address: {line:?}")),
        }
    }

    /// Another program's process, which serves at these addresses.
    pub(crate) fn of(child: Child, addresses: Vec<SocketAddr>) -> Self {
        Self { child, addresses }
    }

    /// Processor time so far.
    pub(crate) fn cpu(&self) -> Result<Duration, String> {
        cpu_of(&self.child.id().to_string())
    }

    /// Memory in use, in bytes.
    pub(crate) fn rss(&self) -> Result<u64, String> {
        let path = format!("/proc/{}/status", self.child.id());
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
        let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib: Option<u64> = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        kib.map(|kib| kib * 1024).ok_or_else(|| format!("{path} has no VmRSS"))
    }

    /// A metric of Sequent's admin listener, summed over its labels.
    pub(crate) fn metric(&self, name: &str) -> Result<f64, String> {
        let admin = self.addresses.last().ok_or("no admin listener")?;
        let said = get(*admin, "/metrics").map_err(|error| format!("/metrics: {error}"))?;
        let of = |line: &str| {
            let (found, value) = line.rsplit_once(' ')?;
            let bare = found.split('{').next()?;
            (bare == name).then(|| value.parse::<f64>().ok())?
        };
        Ok(said.lines().filter_map(of).sum())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn get(from: SocketAddr, path: &str) -> std::io::Result<String> {
    let mut socket = TcpStream::connect(from)?;
    let token = access::HEADER;
    write!(socket, "GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{token}\r\n\r\n")?;
    let mut answer = String::new();
    socket.read_to_string(&mut answer)?;
    Ok(answer)
}
