//! Hashes of lines, and the check that no line was changed or removed.

use std::{
    fmt::Write as _,
    io::{self, BufRead, Read as _},
};

use serde_json::Value;
use sha2::{Digest, Sha256};

/// The hash that the first line of a log has: there is no line before it.
pub(super) const NONE_BEFORE: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// Limit on the bytes of a line: many times the longest that is written.
pub(super) const LINE_BYTES_MAX: u64 = 64 * 1024;

/// The hash of a line, without its end, in hexadecimal digits.
pub(super) fn hash(line: &[u8]) -> String {
    let mut text = String::with_capacity(NONE_BEFORE.len());
    Sha256::digest(line).iter().for_each(|byte| write!(text, "{byte:02x}").unwrap_or_default());
    text
}

/// Check of the lines of one log, from the oldest file to the newest.
///
/// ```
/// let mut chain = sequent_server::AuditChain::default();
/// chain.read(&b"{\"what\":\"start\"}\n"[..])??;
/// assert_eq!((chain.lines(), chain.first()), (1, None));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct AuditChain {
    lines: u64,
    first: Option<String>,
    /// The hash of the last line.
    last: Option<String>,
    /// Whether the last line is only a part of one: its writer was stopped amid it.
    is_torn: bool,
    torn: u64,
}

/// Where a log is broken: the first line that does not follow the line before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditBroken {
    /// The line within its file, from 1.
    pub line: u64,
    /// What is wrong.
    pub why: &'static str,
}

impl std::fmt::Display for AuditBroken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.line, self.why)
    }
}

impl std::error::Error for AuditBroken {}

impl AuditChain {
    /// Checks the lines of the next file. The outer error is that of reading it.
    pub fn read(&mut self, mut file: impl BufRead) -> io::Result<Result<(), AuditBroken>> {
        let mut line = Vec::new();
        for at in 1.. {
            line.clear();
            if file.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line)? == 0 {
                break;
            }
            if line.last() == Some(&b'\n') {
                line.pop();
            }
            if let Err(why) = self.follow(&line) {
                return Ok(Err(AuditBroken { line: at, why }));
            }
        }
        Ok(Ok(()))
    }

    /// How many lines were read.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// How many of them were cut short: their writer was stopped amid them.
    pub fn torn(&self) -> u64 {
        self.torn
    }

    /// The hash of the line before the first one.
    pub fn first(&self) -> Option<&str> {
        self.first.as_deref()
    }

    /// The hash of the last line, which the next one has.
    pub fn last(&self) -> Option<&str> {
        self.last.as_deref()
    }

    fn follow(&mut self, line: &[u8]) -> Result<(), &'static str> {
        let found = serde_json::from_slice::<Value>(line).ok();
        let before = found.as_ref().and_then(|found| found["before"].as_str());
        match (before, &self.last) {
            (Some(before), None) => self.first = Some(before.to_owned()),
            (Some(before), Some(last)) if before == last => {}
            (Some(_), Some(_)) => {
                return Err(
                    "it does not follow the line before it: one of both was changed, or lines between them are gone",
                );
            }
            (None, _) if self.is_torn => return Err("two lines on end are no lines of an audit log"),
            // What it was is told by the next line, which has its hash.
            (None, _) => {}
        }
        self.is_torn = before.is_none();
        self.torn += u64::from(self.is_torn);
        self.lines += 1;
        self.last = Some(hash(line));
        Ok(())
    }
}
