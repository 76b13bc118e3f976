//! Audit log: one JSON object a line for each change and each refusal, each with the SHA-256 of the line before it.
//!
//! | file | contents |
//! |---|---|
//! | `entry.rs` | what is recorded of a change or a refusal, and its line |
//! | `chain.rs` | hashes of lines, and the check that none is missing |
//! | `refusals.rs` | how many refusals are written in a second |
//! | `writer.rs` | the thread that writes the file |
//!
//! A request never waits for the file: it leaves its entry in a bounded queue.

mod chain;
mod entry;
mod refusals;
#[cfg(test)]
mod tests;
mod writer;

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{SyncSender, TrySendError, sync_channel},
    },
    thread,
    time::Duration,
};

use sequent_core::Clock;
use sequent_engine::config::AuditSection;
use serde_json::{Value, json};
use tokio::{
    sync::oneshot,
    time::{sleep, timeout},
};

pub use chain::{AuditBroken, AuditChain};
pub(crate) use entry::Entry;

use crate::{
    audit::{
        refusals::Refusals,
        writer::{Message, Writer},
    },
    error::{ApiError, PRINCIPAL},
    limits::runtime_limits::ConfigChange,
    telemetry::audit_metrics,
};

/// Limit on entries that wait for the file.
const QUEUE_MAX: usize = 1024;

/// How long an ending server waits for the file.
const END_WAIT_MAX: Duration = Duration::from_secs(2);

/// Pause between two tries to tell the writer that the server ends, while the queue is full.
const END_RETRY: Duration = Duration::from_millis(10);

/// The audit log of a server. Cheap to clone; all clones share the file.
#[derive(Clone)]
pub struct Audit(Option<Arc<Inner>>);

struct Inner {
    file: String,
    clock: Arc<dyn Clock>,
    queue: SyncSender<Message>,
    shared: Arc<Shared>,
}

/// What the writer shares with those who record.
#[derive(Default)]
struct Shared {
    refusals: Refusals,
    written: AtomicU64,
    lost: AtomicU64,
    /// Lines that were lost since the file last told it.
    untold: AtomicU64,
    /// Why the file can't be written, if so.
    fault: Mutex<Option<String>>,
    /// Whether it was logged that the queue is full.
    is_full_told: AtomicBool,
}

impl Audit {
    /// The audit log that is configured. Nothing of the file is touched here: it may be on a disk that hangs.
    pub fn start(section: &AuditSection, clock: &Arc<dyn Clock>) -> Self {
        let Some(path) = section.file.clone() else { return Self::off() };
        audit_metrics::begin();
        let (queue, queued) = sync_channel(QUEUE_MAX);
        let shared = Arc::new(Shared::default());
        let file = path.display().to_string();
        let writer = Writer::new(path, Arc::clone(clock), Arc::clone(&shared));
        let thread = thread::Builder::new().name("audit".to_owned()).spawn(move || writer.run(&queued));
        if let Err(error) = thread {
            shared.fault(Some(format!("no thread for it: {error}")));
        }
        let audit = Self(Some(Arc::new(Inner { file, clock: Arc::clone(clock), queue, shared })));
        audit.change(Entry::new("start", "OK").with("version", env!("CARGO_PKG_VERSION")));
        audit
    }

    /// Nothing is recorded.
    pub fn off() -> Self {
        audit_metrics::begin();
        Self(None)
    }

    /// Records that the configuration was read again, with the keys that changed. Of one that was refused they are those of
    /// principals, which are in force all the same. `user` is whose the file is.
    pub fn reloaded(&self, is_refused: bool, changes: &[ConfigChange], user: Option<u32>) {
        let outcome = if is_refused { "CONFIGURATION_REFUSED" } else { "OK" };
        let keys = changes.iter().map(|change| change.key.as_str());
        self.record(Entry::new("reload", outcome).with_keys(keys).with_user(user));
    }

    /// Records that certificate, key and authorities were read again, since their files have changed.
    pub fn tls_reloaded(&self) {
        self.record(Entry::new("reload_tls", "OK"));
    }

    /// Opens the file anew, for those who have moved it away.
    pub fn reopen(&self) {
        if let Some(inner) = &self.0 {
            inner.send(Message::Reopen);
        }
    }

    /// Records a change. One that did not succeed counts as a refusal: only so many are written.
    pub(crate) fn record(&self, entry: Entry) {
        if entry.is_done() || self.admits(entry.whose()) {
            self.change(entry);
        }
    }

    /// Records that a caller was refused, unless many were within this second: then nothing is made of it but a count.
    pub(crate) fn refused(
        &self,
        error: &ApiError,
        principal: Option<&str>,
        from: impl FnOnce(Entry) -> Entry,
    ) {
        let principal = error.detail(PRINCIPAL).or(principal);
        if self.admits(principal) {
            self.change(from(Entry::refused(error).of(principal)));
        }
    }

    /// Whether one more refusal is recorded now.
    fn admits(&self, principal: Option<&str>) -> bool {
        self.0.as_ref().is_some_and(|inner| inner.shared.refusals.admit(principal, inner.clock.now()))
    }

    /// The state of the file for the status; `null` without one.
    pub(crate) fn status(&self) -> Value {
        let Some(inner) = &self.0 else { return Value::Null };
        let shared = &inner.shared;
        let count = |of: &AtomicU64| of.load(Ordering::Relaxed);
        json!({
            "file": inner.file,
            "written": count(&shared.written),
            "lost": count(&shared.lost),
            "fault": *shared.fault.lock().unwrap_or_else(PoisonError::into_inner),
        })
    }

    /// Records the end of the server, and waits a moment until all is written.
    pub(crate) async fn finish(&self) {
        let Some(inner) = &self.0 else { return };
        self.change(Entry::new("stop", "OK"));
        let written = async {
            let (done, is_done) = oneshot::channel();
            let mut message = Message::End(done);
            while let Err(TrySendError::Full(kept)) = inner.queue.try_send(message) {
                message = kept;
                sleep(END_RETRY).await;
            }
            is_done.await
        };
        if timeout(END_WAIT_MAX, written).await.is_err() {
            tracing::warn!(file = inner.file, "the audit log does not answer: its last lines may be lost");
        }
    }

    fn change(&self, entry: Entry) {
        if let Some(inner) = &self.0 {
            inner.send(Message::Line(inner.clock.wall_ms(), Box::new(entry)));
        }
    }
}

impl Inner {
    fn send(&self, message: Message) {
        let is_line = matches!(message, Message::Line(..));
        if self.queue.try_send(message).is_ok() {
            return;
        }
        if is_line {
            self.shared.lost(1);
        }
        if !self.shared.is_full_told.swap(true, Ordering::Relaxed) {
            let file = &self.file;
            tracing::error!(file, queued = QUEUE_MAX, "the audit log can't keep up: lines are lost");
        }
    }
}

impl Shared {
    /// Counts lines that are lost. The next line that is written is preceded by their number.
    fn lost(&self, count: u64) {
        self.lost.fetch_add(count, Ordering::Relaxed);
        self.untold.fetch_add(count, Ordering::Relaxed);
        audit_metrics::lost(count);
    }

    /// Sets why the file can't be written. Logged if that changes.
    fn fault(&self, fault: Option<String>) {
        audit_metrics::unwritable(fault.is_some());
        let mut known = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        match (&*known, &fault) {
            (None, Some(fault)) => {
                tracing::error!(fault, "the audit log can't be written: lines are lost, requests go on");
            }
            (Some(_), None) => tracing::info!("the audit log can be written again"),
            _ => {}
        }
        *known = fault;
    }
}
