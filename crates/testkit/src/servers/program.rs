//! Where a server's program is, and what to install where it is not.

use std::path::{Path, PathBuf};

/// A program of a Debian package.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// The file's name.
    pub name: &'static str,
    /// Which Debian package holds it.
    pub package: &'static str,
    /// Folders that may hold it besides `PATH`, asked first. A `*` stands for a version: the highest is taken.
    pub folders: &'static [&'static str],
}

impl Program {
    /// Its path.
    ///
    /// # Panics
    ///
    /// If it is not installed.
    pub fn path(&self) -> PathBuf {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = self.folders.iter().flat_map(|pattern| versions(pattern));
        folders
            .chain(std::env::split_paths(&path))
            .map(|folder| folder.join(self.name))
            .find(|file| file.is_file())
            .unwrap_or_else(|| {
                panic!(
                    "{} is missing, in PATH and in {:?}: install the Debian package {} (tests/run does)",
                    self.name, self.folders, self.package
                )
            })
    }
}

/// The folders that a pattern with at most one `*` stands for, the highest version first.
fn versions(pattern: &str) -> Vec<PathBuf> {
    let Some((above, below)) = pattern.split_once("/*/") else { return vec![pattern.into()] };
    let entries = std::fs::read_dir(above).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    found.sort_by_key(|path| std::cmp::Reverse(version(path)));
    found.into_iter().map(|path| path.join(below)).collect()
}

fn version(path: &Path) -> Vec<u32> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.split('.').map_while(|part| part.parse().ok()).collect()
}

#[test]
#[should_panic(expected = "install the Debian package nowhere")]
fn what_is_missing_is_named_with_its_package() {
    Program { name: "no-such-program", package: "nowhere", folders: &["/usr/lib/no-such/*/bin"] }.path();
}

#[test]
fn the_highest_version_is_taken_as_a_number() {
    let folder = tempfile::tempdir().unwrap();
    for version in ["9.6", "15", "9"] {
        std::fs::create_dir_all(folder.path().join(version).join("bin")).unwrap();
    }
    let found = versions(&format!("{}/*/bin", folder.path().display()));
    assert_eq!(found, ["15/bin", "9.6/bin", "9/bin"].map(|end| folder.path().join(end)));
}
