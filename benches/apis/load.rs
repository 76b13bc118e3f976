//! h2load and wrk: how they are called, and what they report.

use std::{ffi::OsStr, io::Write, net::SocketAddr, process::Command};

/// Whom to load: `http` or `https`, the address, and further header lines.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Target<'a> {
    pub(crate) scheme: &'a str,
    pub(crate) address: SocketAddr,
    pub(crate) headers: &'a [&'a str],
}

impl Target<'_> {
    /// In plaintext, without credentials.
    pub(crate) fn plain(address: SocketAddr) -> Self {
        Self { scheme: "http", address, headers: &[] }
    }

    /// The arguments that h2load and wrk both take for the headers.
    fn header_args(&self) -> impl Iterator<Item = &str> {
        self.headers.iter().flat_map(|line| ["-H", line])
    }
}

/// How hard.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Load {
    pub(crate) seconds: u64,
    pub(crate) connections: u64,
    pub(crate) streams: u64,
    /// The one processor that the tool runs on.
    pub(crate) processor: Option<u8>,
}

/// What a round came to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found {
    pub(crate) rate: f64,
    pub(crate) done: f64,
}

/// Refuses early where a tool is missing, and says where it is from.
pub(crate) fn check(tool: &str, package: &str) -> Result<(), String> {
    let found = Command::new(tool).arg("--version").output();
    found.map(drop).map_err(|_| {
        format!(
            "{tool} is not installed: on Debian it is in the package {package} (apt-get install {package})"
        )
    })
}

/// A command that runs on one processor alone, if one is named.
pub(crate) fn on(processor: Option<u8>, program: impl AsRef<OsStr>) -> Command {
    let Some(processor) = processor else { return Command::new(program) };
    let mut command = Command::new("taskset");
    command.args(["-c", &processor.to_string()]).arg(program);
    command
}

/// gRPC `Next` of one number, as grpc clients send it, by h2load.
pub(crate) fn h2load(to: Target<'_>, body: &[u8], load: Load) -> Result<Found, String> {
    let mut file = tempfile::NamedTempFile::new().map_err(|error| format!("no file: {error}"))?;
    file.write_all(body).map_err(|error| format!("no file: {error}"))?;
    let said = said(
        on(load.processor, "h2load")
            .args(["-t", "1", "--warm-up-time", "1", "-D", &load.seconds.to_string()])
            .args(["-c", &load.connections.to_string(), "-m", &load.streams.to_string()])
            .args(["-H", "content-type: application/grpc", "-H", "te: trailers"])
            .args(to.header_args())
            .arg("-d")
            .arg(file.path())
            .arg(format!("{}://{}/sequent.v1.Sequences/Next", to.scheme, to.address)),
    )?;
    let rate = after(&said, "finished in ").and_then(|rest| rest.split(", ").nth(1)).and_then(number);
    let counts = after(&said, "requests: ").unwrap_or_default();
    let count = |word: &str| {
        let mut parts = counts.split(", ");
        parts.find_map(|part| part.strip_suffix(word)).and_then(number).unwrap_or(f64::NAN)
    };
    let (done, failed) = (count(" succeeded"), count(" failed"));
    match rate {
        Some(rate) if failed == 0.0 && done > 0.0 => Ok(Found { rate, done }),
        _ => Err(format!("h2load: some failed, or nothing was done:\n{said}")),
    }
}

/// HTTP `next` of one number by wrk; `script` chooses the path of each request, where it is not the same for all.
pub(crate) fn wrk(to: Target<'_>, script: &str, load: Load) -> Result<Found, String> {
    let mut file = tempfile::NamedTempFile::new().map_err(|error| format!("no file: {error}"))?;
    file.write_all(script.as_bytes()).map_err(|error| format!("no file: {error}"))?;
    let said = said(
        on(load.processor, "wrk")
            .args(["-t", "1", "-d", &format!("{}s", load.seconds), "-c", &load.connections.to_string()])
            .args(to.header_args())
            .arg("-s")
            .arg(file.path())
            .arg(format!("{}://{}/v1/sequences/order/next", to.scheme, to.address)),
    )?;
    let rate = after(&said, "Requests/sec:").and_then(number);
    let done =
        said.lines().find_map(|line| line.trim().split_once(" requests in ")).and_then(|(n, _)| number(n));
    match rate.zip(done) {
        Some((rate, done)) if !said.contains("Non-2xx") && !said.contains("Socket errors") => {
            Ok(Found { rate, done })
        }
        _ => Err(format!("wrk: some failed, or nothing was done:\n{said}")),
    }
}

pub(crate) fn said(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(text);
    }
    Err(format!("{command:?} failed: {text}{}", String::from_utf8_lossy(&output.stderr)))
}

/// The rest of the line behind `words`.
fn after<'a>(text: &'a str, words: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.trim().strip_prefix(words))
}

/// The number that a text begins with.
fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    text[..end].parse().ok()
}
