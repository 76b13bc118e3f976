//! The marker file: the highest version of the ledger that any process of this directory has relied on.

use std::{
    fmt,
    fs::{self, File, Metadata, OpenOptions, TryLockError},
    io::{self, Read, Write},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, UNIX_EPOCH},
};

use sequent_core::{BoxFuture, Entropy, ErrorKind, MarkPlace, SourceError};

/// The file's name in the data directory.
pub(crate) const FILE: &str = "home";

/// Held while the file is replaced, so that of two processes the greater version stays.
pub(super) const LOCK_FILE: &str = "home.lock";

/// Where the next content is written before it takes the file's place.
const NEXT_FILE: &str = "home.next";

/// What the file begins with.
const HEAD: &str = "sequent/1 mark=";

/// Longer than any marker: of somebody else's file no more is read.
const READ_MAX: u64 = 256;

/// The longest pause between two tries of the lock; each is drawn between half of it and all of it.
const LOCK_PAUSE_MAX: Duration = Duration::from_millis(10);

/// The share of an attempt's time limit in which the lock must be had: the write still has to fit into the rest.
const LOCK_SHARE: u32 = 2;

/// The marker file of a data directory, shared by all its processes.
///
/// It bears its own identity beside the version, and every write makes a new file: one that names another file than
/// itself was copied, also where it was copied over the file in place.
#[derive(Debug, Clone)]
pub(crate) struct Home {
    data: PathBuf,
    patience: Duration,
    entropy: Arc<dyn Entropy>,
}

/// Which file it is: inodes are used again soon, births tell those apart where the file system has them.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Identity(String);

impl Identity {
    fn of(metadata: &Metadata) -> Self {
        let born = metadata.created().ok().and_then(|born| born.duration_since(UNIX_EPOCH).ok());
        let born = born.map_or_else(|| "unknown".to_owned(), |born| born.as_nanos().to_string());
        Self(format!("inode={} born={born}", metadata.ino()))
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What the file says, and which file says it. An absent file says nothing, and is of a new directory.
struct Held {
    version: u64,
    copied: Option<String>,
    /// What was found in the place of a marker: an older version of the program's, or somebody else's. Its version
    /// counts where it can be made out.
    unreadable: Option<String>,
}

/// Why a mark could not be read or left.
enum Fault {
    Io(io::Error),
    Copied(String),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl Home {
    /// The marker of `data`; `limit` is the time limit of an attempt.
    pub(crate) fn new(data: &Path, limit: Duration, entropy: Arc<dyn Entropy>) -> Self {
        Self { data: data.to_owned(), patience: limit / LOCK_SHARE, entropy }
    }

    /// Makes the marker name itself, whatever it named before: an operator has named the loss.
    pub(crate) async fn renew(&self, version: u64) -> Result<(), SourceError> {
        self.leave(version, true).await.map(drop)
    }

    /// The version held, also by a marker that was copied; as far as it can be made out in one that can't be read.
    pub(crate) async fn version(&self) -> Result<u64, SourceError> {
        let home = self.clone();
        self.on_thread(move || Ok(home.held()?.version)).await
    }

    /// The content and the file's own identity come from one open file: a rename in between changes neither.
    fn held(&self) -> io::Result<Held> {
        let mut file = match File::open(self.data.join(FILE)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Held { version: 0, copied: None, unreadable: None });
            }
            Err(error) => return Err(error),
        };
        let mut bytes = Vec::new();
        Read::by_ref(&mut file).take(READ_MAX).read_to_end(&mut bytes)?;
        let text = String::from_utf8_lossy(&bytes);
        let rest = text.strip_prefix(HEAD).unwrap_or_default();
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let version = rest[..digits].parse();
        let named = rest[digits..].strip_prefix(' ').and_then(|named| named.strip_suffix('\n'));
        let (Ok(version), Some(named)) = (&version, named) else {
            let found = format!("found {text:?}, expected `{HEAD}VERSION inode=N born=N`");
            return Ok(Held { version: version.unwrap_or(0), copied: None, unreadable: Some(found) });
        };
        let own = Identity::of(&file.metadata()?);
        let copied = (own.0 != named).then(|| format!("it names the file {named}, and is {own}"));
        Ok(Held { version: *version, copied, unreadable: None })
    }

    /// What stands in the place of the marker, where it can't be read as one.
    pub(crate) async fn unreadable(&self) -> Result<Option<String>, SourceError> {
        let home = self.clone();
        self.on_thread(move || Ok(home.held()?.unreadable)).await
    }

    /// Where the file is, for people.
    pub(crate) fn path(&self) -> PathBuf {
        self.data.join(FILE)
    }

    fn judged(&self, renew: bool) -> Result<u64, Fault> {
        let held = self.held()?;
        match (held.copied, held.unreadable) {
            (Some(how), _) if !renew => Err(Fault::Copied(how)),
            (_, Some(found)) if !renew => Err(io::Error::new(io::ErrorKind::InvalidData, found).into()),
            _ => Ok(held.version),
        }
    }

    /// Greatest-of, written anew even where the version stays: an older copy then always differs from the file. On the
    /// disk before this returns. `None` while another process has the lock.
    fn try_write(&self, version: u64, renew: bool) -> Result<Option<u64>, Fault> {
        let lock = OpenOptions::new().create(true).append(true).open(self.data.join(LOCK_FILE))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error.into()),
        }
        let version = self.judged(renew)?.max(version);
        let next = self.data.join(NEXT_FILE);
        match fs::remove_file(&next) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        let mut file = OpenOptions::new().write(true).create_new(true).open(&next)?;
        let own = Identity::of(&file.metadata()?);
        file.write_all(format!("{HEAD}{version} {own}\n").as_bytes())?;
        file.sync_all()?;
        fs::rename(&next, self.data.join(FILE))?;
        // The name is durable only once its directory is.
        File::open(&self.data)?.sync_all()?;
        Ok(Some(version))
    }

    /// Tries the lock until the patience ends: a process that holds it and hangs must not make this one hang.
    async fn leave(&self, version: u64, renew: bool) -> Result<u64, SourceError> {
        let tries = async {
            loop {
                let home = self.clone();
                if let Some(left) = self.on_thread(move || home.try_write(version, renew)).await? {
                    return Ok(left);
                }
                let share = f64::midpoint(1.0, self.entropy.fraction());
                tokio::time::sleep(LOCK_PAUSE_MAX.mul_f64(share)).await;
            }
        };
        tokio::time::timeout(self.patience, tries).await.unwrap_or_else(|_| {
            let (lock, limit) = (self.data.join(LOCK_FILE), self.patience.as_millis());
            let context = format!("lock {}: another process held it for {limit} ms", lock.display());
            Err(SourceError::new(ErrorKind::Unavailable, context))
        })
    }

    async fn on_thread<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, SourceError> {
        let done = tokio::task::spawn_blocking(work).await;
        done.map_err(|error| self.error(Fault::Io(io::Error::other(error))))?
            .map_err(|fault| self.error(fault))
    }

    fn error(&self, fault: Fault) -> SourceError {
        let file = self.path();
        let file = file.display();
        match fault {
            Fault::Io(error) if error.kind() == io::ErrorKind::InvalidData => {
                let context = format!(
                    "mark in {file}: {error}; if this directory holds the newest state: `sequent recover --moved` writes \
                     the marker anew"
                );
                SourceError::new(ErrorKind::Refused, context)
            }
            Fault::Io(error) => {
                SourceError::new(ErrorKind::Unavailable, format!("mark in {file}")).because(error)
            }
            Fault::Copied(how) => {
                let context = format!(
                    "marker {file} is a copy ({how}): a directory was copied or restored; if this is the newest state \
                     and no other copy runs: `sequent recover --moved`; if it is an older state: \
                     `sequent recover --bump N`, N at least the raw ids given since"
                );
                SourceError::new(ErrorKind::LedgerBehind, context)
            }
        }
    }
}

impl MarkPlace for Home {
    fn mark(&self, version: u64) -> BoxFuture<'_, Result<u64, SourceError>> {
        Box::pin(async move {
            if version > 0 {
                return self.leave(version, false).await;
            }
            let home = self.clone();
            self.on_thread(move || home.judged(false)).await
        })
    }
}

/// The marker as a recovery reads it: the version counts, whoever copied it.
pub(crate) struct Unjudged<'a>(pub(crate) &'a Home);

impl MarkPlace for Unjudged<'_> {
    fn mark(&self, version: u64) -> BoxFuture<'_, Result<u64, SourceError>> {
        Box::pin(async move {
            if version > 0 { self.0.leave(version, true).await } else { self.0.version().await }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sequent_testkit::SeededEntropy;

    fn home(data: &Path) -> Home {
        Home::new(data, Duration::from_secs(20), Arc::new(SeededEntropy::new(1)))
    }

    /// The text into the file that is there: what `cp -a bak/. data/` does.
    fn overwrite(data: &Path, text: &[u8]) {
        OpenOptions::new()
            .write(true)
            .truncate(true)
            .open(data.join(FILE))
            .and_then(|mut file| file.write_all(text))
            .unwrap();
    }

    #[tokio::test]
    async fn the_greatest_stays() {
        let data = tempfile::tempdir().unwrap();
        let home = home(data.path());
        assert_eq!(home.mark(0).await.unwrap(), 0, "reading creates nothing");
        assert_eq!(fs::read_dir(data.path()).unwrap().count(), 0);
        assert_eq!(home.mark(7).await.unwrap(), 7);
        assert_eq!(home.mark(3).await.unwrap(), 7);
        assert_eq!(self::home(data.path()).mark(0).await.unwrap(), 7);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn of_many_at_once_the_greatest_stays() {
        let data = tempfile::tempdir().unwrap();
        let mut tasks = tokio::task::JoinSet::new();
        for version in 1..=16 {
            let home = home(data.path());
            tasks.spawn(async move { assert!(home.mark(version).await.unwrap() >= version) });
        }
        tasks.join_all().await;
        assert_eq!(home(data.path()).mark(0).await.unwrap(), 16);
    }

    #[tokio::test]
    async fn a_foreign_content_is_refused_not_overwritten() {
        let data = tempfile::tempdir().unwrap();
        fs::write(data.path().join(FILE), "mine\n").unwrap();
        let error = home(data.path()).mark(1).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused);
        assert!(error.to_string().contains("found \"mine\\n\""), "{error}");
    }

    #[tokio::test]
    async fn a_marker_that_cannot_be_read_is_written_anew_by_a_recovery_alone() {
        for (found, version) in [(&b"sequent/1 mark=7\n"[..], 7), (b"mine\n", 0), (b"\xff\xfe", 0), (b"", 0)]
        {
            let data = tempfile::tempdir().unwrap();
            fs::write(data.path().join(FILE), found).unwrap();
            let home = home(data.path());
            for mark in [0, 9] {
                let error = home.mark(mark).await.unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Refused, "{error}");
                assert!(error.to_string().contains("sequent recover --moved"), "{error}");
            }
            assert!(home.unreadable().await.unwrap().is_some());
            assert_eq!(
                Unjudged(&home).mark(0).await.unwrap(),
                version,
                "of an older form the version counts"
            );
            home.renew(0).await.unwrap();
            assert_eq!((home.mark(0).await.unwrap(), home.unreadable().await.unwrap()), (version, None));
        }
    }

    #[tokio::test]
    async fn an_older_copy_over_the_file_in_place_is_told_even_with_the_same_version() {
        let data = tempfile::tempdir().unwrap();
        let home = home(data.path());
        home.mark(7).await.unwrap();
        let older = fs::read(data.path().join(FILE)).unwrap();
        home.mark(7).await.unwrap();
        assert_eq!(home.mark(0).await.unwrap(), 7);
        overwrite(data.path(), &older);
        for version in [0, 9] {
            let error = home.mark(version).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::LedgerBehind, "{error}");
            assert!(error.to_string().contains("sequent recover --moved"), "{error}");
        }
        assert_eq!(home.version().await.unwrap(), 7);
        home.renew(8).await.unwrap();
        assert_eq!(home.mark(0).await.unwrap(), 8, "it names itself again");
    }

    #[tokio::test]
    async fn a_copied_directory_is_told_and_a_moved_one_is_not() {
        let data = tempfile::tempdir().unwrap();
        let (was, moved, copy) = (data.path().join("a"), data.path().join("b"), data.path().join("c"));
        fs::create_dir(&was).unwrap();
        home(&was).mark(7).await.unwrap();
        fs::rename(&was, &moved).unwrap();
        assert_eq!(home(&moved).mark(0).await.unwrap(), 7);
        fs::create_dir(&copy).unwrap();
        fs::copy(moved.join(FILE), copy.join(FILE)).unwrap();
        assert_eq!(home(&copy).mark(0).await.unwrap_err().kind(), ErrorKind::LedgerBehind);
    }

    #[tokio::test]
    async fn a_lock_that_is_never_given_back_is_an_error() {
        let data = tempfile::tempdir().unwrap();
        let lock = File::create(data.path().join(LOCK_FILE)).unwrap();
        lock.lock().unwrap();
        let home = Home { patience: Duration::from_millis(50), ..home(data.path()) };
        let error = home.mark(1).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert!(error.to_string().contains("home.lock"), "{error}");
        drop(lock);
        assert_eq!(home.mark(1).await.unwrap(), 1);
    }
}
