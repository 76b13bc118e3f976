//! The token of a client, in a file that is read again when it changes.

use std::{
    fmt,
    fs::File,
    io::Read,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use arc_swap::ArcSwap;
use http::HeaderValue;
use sequent_core::{Clock, SystemClock};

use crate::error::Error;

/// Limit on a token file, in bytes.
const FILE_BYTES_MAX: u64 = 4096;

/// Folders in which secrets of one container are mounted.
#[cfg(unix)]
const MOUNTED_SECRETS: [&str; 2] = ["/run/secrets", "/var/run/secrets"];

/// How often the file is read at most, while requests are sent.
const READ_EVERY_MS: u64 = 1000;

/// A token, in a file.
pub(crate) struct TokenFile {
    path: PathBuf,
    /// The header with the token that was read last.
    header: ArcSwap<HeaderValue>,
    /// When it was read, in milliseconds since 1970.
    read_ms: AtomicU64,
}

impl TokenFile {
    /// Reads a token for the first time.
    pub(crate) fn open(path: &Path) -> Result<Arc<Self>, Error> {
        let header = read(path).map_err(|bound| Error::field("token_file", path.display(), bound))?;
        warn_of_readable(path);
        let read_ms = AtomicU64::new(SystemClock.wall_ms());
        Ok(Arc::new(Self { path: path.to_owned(), header: ArcSwap::from_pointee(header), read_ms }))
    }

    /// The header of a request.
    pub(crate) fn header(&self) -> HeaderValue {
        HeaderValue::clone(&self.header.load())
    }

    /// Reads the file in the background if that is due. No request waits for it, because its disk may hang.
    pub(crate) fn refresh(self: &Arc<Self>) {
        let (now, before) = (SystemClock.wall_ms(), self.read_ms.load(Ordering::Relaxed));
        let is_due = now.abs_diff(before) >= READ_EVERY_MS;
        let relaxed = Ordering::Relaxed;
        if is_due && self.read_ms.compare_exchange(before, now, relaxed, relaxed).is_ok() {
            let here = Arc::clone(self);
            drop(tokio::task::spawn_blocking(move || here.take_up()));
        }
    }

    /// Reads the file after a server has refused the token. Whether the file has another one by now.
    pub(crate) async fn read_after_refusal_of(self: &Arc<Self>, refused: &HeaderValue) -> bool {
        let here = Arc::clone(self);
        // A runtime that ends reads no file; then the refusal counts.
        drop(tokio::task::spawn_blocking(move || here.take_up()).await);
        self.header() != *refused
    }

    /// Takes up what the file has. A file that can't be read changes nothing: it may be in the middle of its change.
    fn take_up(&self) {
        if let Ok(header) = read(&self.path) {
            self.header.store(Arc::new(header));
        }
    }
}

impl fmt::Debug for TokenFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TokenFile").field(&self.path).finish()
    }
}

/// Logs, once a process, that other users of the machine can read a file with a token.
///
/// Files that Docker and Kubernetes mount for one container don't count, whatever their modes are.
pub fn warn_of_readable(path: &Path) {
    static IS_TOLD: AtomicBool = AtomicBool::new(false);
    let Some(mode) = readable_by_others(path) else { return };
    if !IS_TOLD.swap(true, Ordering::Relaxed) {
        let (file, mode) = (path.display(), format!("{mode:03o}"));
        tracing::warn!(%file, mode, "other users can read the file with the token: `chmod go= FILE`, and rotate the token");
    }
}

/// The permissions of a file, if they give others than its owner any access.
#[cfg(unix)]
fn readable_by_others(path: &Path) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;

    let mode = std::fs::metadata(path).ok()?.permissions().mode() & 0o777;
    let is_mounted = MOUNTED_SECRETS.iter().any(|folder| path.starts_with(folder));
    (mode & 0o077 != 0 && !is_mounted).then_some(mode)
}

#[cfg(not(unix))]
fn readable_by_others(_path: &Path) -> Option<u32> {
    None
}

/// The header with the token in a file, or what is wrong with the file.
fn read(path: &Path) -> Result<HeaderValue, String> {
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(FILE_BYTES_MAX).read_to_string(&mut text));
    read.map_err(|error| format!("it can't be read: {error}"))?;
    let token = text.trim();
    let is_token = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
    let header = HeaderValue::try_from(format!("Bearer {token}")).ok().filter(|_| is_token);
    let mut header = header.ok_or("one token is expected in it: a line of visible ASCII")?;
    header.set_sensitive(true);
    Ok(header)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_file_that_changed_is_taken_up_and_one_that_cannot_be_read_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        assert_eq!(TokenFile::open(&path).unwrap_err().fields()[0].field, "token_file");
        for bad in ["", "\n", "two words", "é"] {
            std::fs::write(&path, bad).unwrap();
            assert!(TokenFile::open(&path).is_err(), "{bad:?}");
        }
        std::fs::write(&path, "first\n").unwrap();
        let file = TokenFile::open(&path).unwrap();
        let first = file.header();
        assert_eq!(first, "Bearer first");
        assert!(!file.read_after_refusal_of(&first).await, "the same token would be refused again");
        std::fs::remove_file(&path).unwrap();
        assert!(!file.read_after_refusal_of(&first).await);
        std::fs::write(&path, "second").unwrap();
        assert!(file.read_after_refusal_of(&first).await);
        assert_eq!(file.header(), "Bearer second");
        assert!(!format!("{file:?}{:?}", file.header()).contains("second"));
    }
}
