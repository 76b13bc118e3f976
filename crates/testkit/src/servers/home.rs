//! A server's folder: its data, its log, its socket, and files that it is to read.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use tempfile::TempDir;

use super::{account::Account, tool};

/// A folder for one server, gone when dropped.
#[derive(Debug)]
pub(crate) struct Home {
    folder: TempDir,
    account: Option<Account>,
}

impl Home {
    /// An empty one, which the server may write.
    pub(crate) async fn new(engine: &str, account: Option<Account>) -> Self {
        let folder = tempfile::Builder::new().prefix(&format!("sequent-{engine}-")).tempdir();
        let folder = folder.unwrap_or_else(|e| panic!("a temporary folder for {engine}: {e}"));
        let home = Self { folder, account };
        home.give(home.path()).await;
        home
    }

    /// The folder itself.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Where its data is.
    pub(crate) fn data(&self) -> PathBuf {
        self.path().join("data")
    }

    /// Where its log is.
    pub(crate) fn log(&self) -> PathBuf {
        self.path().join("log")
    }

    /// As whom the server runs, where that is not who the test is.
    pub(crate) fn account(&self) -> Option<Account> {
        self.account
    }

    /// Hands a file or folder to the server's user.
    pub(crate) async fn give(&self, path: &Path) {
        if let Some(account) = self.account {
            tool::give(path, &account.owner()).await;
        }
    }

    /// Writes a file that the server alone may read, as private keys have to be.
    pub(crate) async fn keep_file(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.path().join(name);
        let written = fs::write(&path, content)
            .and_then(|()| fs::set_permissions(&path, fs::Permissions::from_mode(0o600)));
        written.unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        self.give(&path).await;
        path
    }
}
