//! TLS in force, and its replacement while the server runs.

use std::{
    os::unix::fs::MetadataExt,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use arc_swap::ArcSwapOption;
use sequent_engine::config::{Faults, TlsSection};
use serde_json::{Value, json};

use super::files::{TlsConfig, TlsFiles};
use crate::telemetry::tls_metrics;

/// TLS in force, read without a lock. Cheap to clone; all clones share it.
#[derive(Debug, Clone)]
pub struct ServerTls(Arc<InForce>);

#[derive(Debug)]
struct InForce {
    /// `None`: plaintext alone.
    config: ArcSwapOption<TlsConfig>,
    /// Why the files as they are now are not in force, if so.
    refused: Mutex<Option<String>>,
}

impl ServerTls {
    /// TLS at the start of a server.
    pub fn new(files: TlsFiles) -> Self {
        let tls = Self(Arc::new(InForce { config: ArcSwapOption::empty(), refused: Mutex::default() }));
        tls.put(files);
        tls
    }

    /// Puts other files in force, for connections that begin from now on. Open connections stay.
    pub fn put(&self, TlsFiles(config): TlsFiles) {
        tls_metrics::expiries(&config.iter().flat_map(|config| &config.expiries).map(|it| (it.key, it.at_s)));
        self.0.config.store(config.map(Arc::new));
    }

    /// Reads the files again, to [`put`](Self::put) them in force. After a fault, the ones in force stay, and the status shows
    /// the fault.
    pub fn read(&self, section: &TlsSection) -> Result<TlsFiles, Faults> {
        let files = TlsFiles::read(section);
        tls_metrics::reloaded(files.is_ok());
        *self.refused() = files.as_ref().err().map(ToString::to_string);
        files
    }

    /// What is in force now.
    pub(crate) fn in_force(&self) -> Option<Arc<TlsConfig>> {
        self.0.config.load_full()
    }

    /// For the status: `null` if plaintext alone is served.
    pub(crate) fn status(&self) -> Value {
        let Some(config) = self.in_force() else { return Value::Null };
        let file =
            |it: &super::files::Expiry| json!({ "key": it.key, "path": it.path, "expires_at_s": it.at_s });
        json!({
            "allows_plaintext": config.allows_plaintext,
            "files": config.expiries.iter().map(file).collect::<Vec<_>>(),
            "reload_refused": *self.refused(),
        })
    }

    fn refused(&self) -> MutexGuard<'_, Option<String>> {
        self.0.refused.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Watch of the files of `[tls]` for changes.
#[derive(Debug)]
pub struct TlsWatch {
    seen: Vec<Option<Stamp>>,
    is_settled: bool,
}

/// Inode, length and time of the last modification of a file. If one differs, the content has changed.
type Stamp = (u64, u64, i64, i64);

impl TlsWatch {
    /// Files as they are now.
    pub fn new(section: &TlsSection) -> Self {
        Self { seen: stamps(section), is_settled: true }
    }

    /// Whether the files have changed since, and stayed the same since the last look. Certificate and key are not
    /// replaced at one instant, and must not be read in between.
    pub fn has_changed(&mut self, section: &TlsSection) -> bool {
        let now = stamps(section);
        let is_same = now == self.seen;
        let has_changed = is_same && !self.is_settled;
        self.is_settled = is_same;
        self.seen = now;
        has_changed
    }
}

fn stamps(section: &TlsSection) -> Vec<Option<Stamp>> {
    let stamp = |path: &PathBuf| {
        let found = std::fs::metadata(path).ok()?;
        Some((found.ino(), found.len(), found.mtime(), found.mtime_nsec()))
    };
    let files = [&section.cert_file, &section.key_file, &section.client_ca_file];
    files.into_iter().map(|path| path.as_ref().and_then(stamp)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sequent_engine::config::{Config, Sources};

    #[test]
    fn changed_files_are_read_once_they_stay_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("crt", "a");
        write("key", "a");
        let flags = [("tls.mode", "require"), ("tls.cert_file", "crt"), ("tls.key_file", "key")];
        let sources = Sources::embedded(folder.path());
        let sources = flags.into_iter().fold(sources, |sources, (key, value)| sources.flag(key, value));
        let section = Config::load(&sources).unwrap().tls;
        let mut watch = TlsWatch::new(&section);
        assert!(!watch.has_changed(&section));
        write("crt", "ab");
        assert!(!watch.has_changed(&section), "its key may come in a moment");
        write("key", "ab");
        assert!(!watch.has_changed(&section), "it has just come");
        assert!(watch.has_changed(&section));
        assert!(!watch.has_changed(&section), "once");
        std::fs::remove_file(folder.path().join("key")).unwrap();
        assert!(!watch.has_changed(&section));
        assert!(watch.has_changed(&section), "a file that is gone is a change");
    }
}
