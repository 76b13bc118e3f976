//! The marker file: the highest version of the ledger that any process of this directory has relied on.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use sequent_core::{BoxFuture, ErrorKind, MarkPlace, SourceError};

/// The file's name in the data directory.
pub(crate) const FILE: &str = "home";

/// Held while the file is replaced, so that of two processes the greater version stays.
const LOCK_FILE: &str = "home.lock";

/// Where the next content is written before it takes the file's place.
const NEXT_FILE: &str = "home.next";

/// What the file begins with.
const HEAD: &str = "sequent/1 mark=";

/// The marker file of a data directory, shared by all its processes.
#[derive(Debug, Clone)]
pub(crate) struct Home {
    data: PathBuf,
}

impl Home {
    pub(crate) fn new(data: &Path) -> Self {
        Self { data: data.to_owned() }
    }

    fn held(&self) -> io::Result<u64> {
        match fs::read_to_string(self.data.join(FILE)) {
            Ok(text) => {
                text.strip_prefix(HEAD).and_then(|rest| rest.trim_end().parse().ok()).ok_or_else(|| {
                    io::Error::new(
                        io::ErrorKind::InvalidData,
                        format!("found {text:?}, expected `{HEAD}VERSION`"),
                    )
                })
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
            Err(error) => Err(error),
        }
    }

    /// Greatest-of. The file is replaced whole and is on the disk before this returns; readers need no lock.
    fn leave(&self, version: u64) -> io::Result<u64> {
        let held = self.held()?;
        if held >= version {
            return Ok(held);
        }
        let lock = OpenOptions::new().create(true).append(true).open(self.data.join(LOCK_FILE))?;
        lock.lock()?;
        let held = self.held()?;
        if held >= version {
            return Ok(held);
        }
        let next = self.data.join(NEXT_FILE);
        let mut file = File::create(&next)?;
        file.write_all(format!("{HEAD}{version}\n").as_bytes())?;
        file.sync_all()?;
        fs::rename(&next, self.data.join(FILE))?;
        // The name is durable only once its directory is.
        File::open(&self.data)?.sync_all()?;
        Ok(version)
    }
}

impl MarkPlace for Home {
    fn mark(&self, version: u64) -> BoxFuture<'_, Result<u64, SourceError>> {
        let home = self.clone();
        Box::pin(async move {
            let file = home.data.join(FILE);
            let left = tokio::task::spawn_blocking(move || home.leave(version)).await;
            let refused = |error: io::Error| {
                let kind = match error.kind() {
                    io::ErrorKind::InvalidData => ErrorKind::Refused,
                    _ => ErrorKind::Unavailable,
                };
                SourceError::new(kind, format!("mark in {}", file.display())).because(error)
            };
            left.map_err(|error| refused(io::Error::other(error)))?.map_err(refused)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_greatest_stays() {
        let data = tempfile::tempdir().unwrap();
        let home = Home::new(data.path());
        assert_eq!(home.mark(0).await.unwrap(), 0, "reading creates nothing");
        assert_eq!(fs::read_dir(data.path()).unwrap().count(), 0);
        assert_eq!(home.mark(7).await.unwrap(), 7);
        assert_eq!(home.mark(3).await.unwrap(), 7);
        assert_eq!(Home::new(data.path()).mark(0).await.unwrap(), 7);
    }

    #[test]
    fn of_many_at_once_the_greatest_stays() {
        let data = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for version in 1..=16 {
                let home = Home::new(data.path());
                scope.spawn(move || assert!(home.leave(version).unwrap() >= version));
            }
        });
        assert_eq!(Home::new(data.path()).held().unwrap(), 16);
    }

    #[tokio::test]
    async fn a_foreign_content_is_refused_not_overwritten() {
        let data = tempfile::tempdir().unwrap();
        fs::write(data.path().join(FILE), "mine\n").unwrap();
        let error = Home::new(data.path()).mark(1).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused);
        assert!(error.to_string().contains("found \"mine\\n\""), "{error}");
    }
}
