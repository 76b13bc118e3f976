//! The files of the checkout, as git sees them: committed, or new and not ignored.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The top of the checkout.
pub(crate) fn root() -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.parent().unwrap().to_owned()
}

/// Every file, relative to [`root`], ascending.
pub(crate) fn files() -> Vec<PathBuf> {
    let listed = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .expect("git lists the files");
    assert!(listed.status.success(), "git ls-files: {}", String::from_utf8_lossy(&listed.stderr));
    let listed = String::from_utf8(listed.stdout).expect("file names are UTF-8");
    let mut files: Vec<PathBuf> = listed.split_terminator('\0').map(PathBuf::from).collect();
    files.retain(|file| root().join(file).is_file());
    files.sort();
    files.dedup();
    assert!(files.len() > 20, "only {} files found: the checks would be empty", files.len());
    files
}

/// The files that end in `.extension`, and that somebody wrote: not what is generated.
pub(crate) fn with_extension(extension: &str) -> Vec<PathBuf> {
    let mut files = files();
    files.retain(|file| file.extension().is_some_and(|found| found == extension));
    files.retain(|file| !file.components().any(|part| part.as_os_str() == "generated"));
    files
}

/// The text of a file of [`files`].
pub(crate) fn read(file: &Path) -> String {
    fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}
