//! What only root can do to a file, undone when the test ends, however it ends.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// Whether this test can do what needs root; where not, it says that it was skipped.
///
/// `tests/run` sets the variable only where there is neither root nor sudo. Without it, a missing right is a failure.
pub(crate) fn can(what: &str) -> bool {
    let skipped = std::env::var_os("SEQUENT_TESTS_WITHOUT_ROOT").is_some();
    if skipped {
        println!("SKIPPED: {what} needs root");
    }
    !skipped
}

/// Runs a command as root, or says why that failed.
fn run(words: &[&str]) -> Result<(), String> {
    let by_root = Command::new("id").arg("-u").output().is_ok_and(|id| id.stdout == b"0\n");
    let mut command = Command::new(if by_root { words[0] } else { "sudo" });
    if by_root {
        command.args(&words[1..])
    } else {
        command.arg("-n").args(words)
    };
    let output = command.output().map_err(|error| format!("{words:?}: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(()) } else { Err(format!("{words:?}: {said}")) }
}

/// Files that nobody can write, rename or delete.
pub(crate) struct ReadOnly {
    files: Vec<PathBuf>,
}

impl ReadOnly {
    pub(crate) fn new(files: Vec<PathBuf>) -> Self {
        let held = Self { files };
        for file in &held.files {
            run(&["chattr", "+i", text(file)]).unwrap_or_else(|error| {
                panic!(
                    "{error}\nthe tests need a filesystem with file attributes (ext4, xfs, btrfs): set TMPDIR"
                )
            });
        }
        held
    }
}

impl Drop for ReadOnly {
    fn drop(&mut self) {
        for file in &self.files {
            drop(run(&["chattr", "-i", text(file)]));
        }
    }
}

/// A filesystem of its own with very little room.
pub(crate) struct SmallDisk {
    at: PathBuf,
}

impl SmallDisk {
    pub(crate) fn mount(at: &Path, kib: u64) -> Self {
        std::fs::create_dir_all(at).unwrap();
        let size = format!("size={kib}k,mode=0777");
        run(&["mount", "-t", "tmpfs", "-o", &size, "tmpfs", text(at)]).unwrap();
        Self { at: at.to_owned() }
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily: a process that is being killed may still hold a file.
        drop(run(&["umount", "-l", text(&self.at)]));
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
