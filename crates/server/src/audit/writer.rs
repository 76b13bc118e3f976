//! The thread that writes the file.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    path::PathBuf,
    sync::{
        Arc,
        atomic::Ordering,
        mpsc::{Receiver, RecvTimeoutError},
    },
    time::Duration,
};

use sequent_core::Clock;
use tokio::sync::oneshot;

use crate::{
    audit::{
        Entry, Shared,
        chain::{LINE_BYTES_MAX, NONE_BEFORE, hash},
    },
    telemetry::audit_metrics,
};

/// How often is written how many refusals were left out.
const LEFT_OUT_EVERY: Duration = Duration::from_secs(1);

/// Only the server's user may read the file.
const OWNER_ONLY: u32 = 0o600;

/// What the writer is asked.
pub(super) enum Message {
    /// An entry, and when it happened, in milliseconds since 1970.
    Line(u64, Box<Entry>),
    Reopen,
    End(oneshot::Sender<()>),
}

/// The thread that writes the file.
pub(super) struct Writer {
    path: PathBuf,
    clock: Arc<dyn Clock>,
    shared: Arc<Shared>,
    file: Option<File>,
    /// The hash of the last line; `None` until the file was read.
    last: Option<String>,
}

impl Writer {
    pub(super) fn new(path: PathBuf, clock: Arc<dyn Clock>, shared: Arc<Shared>) -> Self {
        Self { path, clock, shared, file: None, last: None }
    }

    /// Writes what is queued until the server ends.
    pub(super) fn run(mut self, queue: &Receiver<Message>) {
        let mut told = self.clock.now();
        loop {
            let ended = match queue.recv_timeout(LEFT_OUT_EVERY) {
                Ok(Message::Line(at_ms, entry)) => {
                    self.record(at_ms, &entry);
                    None
                }
                Ok(Message::Reopen) => {
                    self.file = None;
                    if let Err(error) = self.open() {
                        self.failed(&error);
                    }
                    None
                }
                Ok(Message::End(done)) => Some(done),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            let now = self.clock.now();
            if ended.is_some() || now.saturating_duration_since(told) >= LEFT_OUT_EVERY {
                told = now;
                self.tell_left_out();
            }
            if let Some(done) = ended {
                self.file = None;
                // Nobody may wait any more.
                let _gone = done.send(());
                return;
            }
        }
    }

    fn tell_left_out(&mut self) {
        let count = self.shared.refusals.take_left_out();
        if count > 0 {
            let entry = Entry::new("refusals_left_out", "OK").with("count", count);
            self.record(self.clock.wall_ms(), &entry);
        }
    }

    /// Writes a line, after one that says how many were lost before it.
    fn record(&mut self, at_ms: u64, entry: &Entry) {
        let untold = self.shared.untold.swap(0, Ordering::Relaxed);
        let told = Entry::new("lines_lost", "OK").with("count", untold);
        let written = if untold > 0 { self.write(at_ms, &told) } else { Ok(()) };
        if written.is_err() {
            self.shared.untold.fetch_add(untold, Ordering::Relaxed);
        } else if untold > 0 {
            self.shared.is_full_told.store(false, Ordering::Relaxed);
        }
        let written = written.and_then(|()| self.write(at_ms, entry));
        if let Err(error) = &written {
            self.file = None;
            self.shared.lost(1);
            self.failed(error);
        }
    }

    fn write(&mut self, at_ms: u64, entry: &Entry) -> io::Result<()> {
        // A file that was removed would take lines that nobody can read.
        if self.file.as_ref().is_none_or(|file| file.metadata().is_ok_and(|found| found.nlink() == 0)) {
            self.open()?;
        }
        let (Some(file), Some(last)) = (&mut self.file, &self.last) else {
            return Err(io::ErrorKind::NotFound.into());
        };
        let mut line = entry.line(at_ms, last);
        let hashed = hash(line.as_bytes());
        line.push('\n');
        let found = file.metadata()?;
        if let Err(error) = file.write_all(line.as_bytes()) {
            if found.is_file() {
                // What is there of the line goes, so that the next one follows the last whole one.
                let _torn = file.set_len(found.len());
            }
            return Err(error);
        }
        self.last = Some(hashed);
        if found.is_file() {
            file.sync_data()?;
        }
        self.shared.written.fetch_add(1, Ordering::Relaxed);
        audit_metrics::written();
        self.shared.fault(None);
        Ok(())
    }

    /// Tells why the file can't be written.
    fn failed(&self, error: &io::Error) {
        self.shared.fault(Some(format!("{}: {error}", self.path.display())));
    }

    /// Opens the file, and makes it if it is not there. Its last line is read once, at the start.
    fn open(&mut self) -> io::Result<()> {
        let mut options = OpenOptions::new();
        let mut file = options.append(true).create(true).read(true).mode(OWNER_ONLY).open(&self.path)?;
        let end = if file.metadata()?.is_file() {
            // Lines of two servers would not follow each other.
            file.try_lock().map_err(|error| match error {
                TryLockError::Error(error) => error,
                TryLockError::WouldBlock => {
                    io::Error::other("another server writes it: each needs a file of its own")
                }
            })?;
            end(&mut file)?
        } else {
            Vec::new()
        };
        let (is_whole, line) = match end.strip_suffix(b"\n") {
            Some(lines) => (true, last_line(lines)),
            None => (end.is_empty(), last_line(&end)),
        };
        if !is_whole {
            // Its writer was stopped amid the line.
            file.write_all(b"\n")?;
        }
        if self.last.is_none() {
            self.last = Some(if end.is_empty() { NONE_BEFORE.to_owned() } else { hash(line) });
        }
        self.file = Some(file);
        Ok(())
    }
}

/// The last bytes of a file: at least its last line.
fn end(file: &mut File) -> io::Result<Vec<u8>> {
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LINE_BYTES_MAX)))?;
    let mut end = Vec::new();
    file.take(LINE_BYTES_MAX).read_to_end(&mut end)?;
    Ok(end)
}

fn last_line(lines: &[u8]) -> &[u8] {
    lines.rsplit(|byte| *byte == b'\n').next().unwrap_or_default()
}
