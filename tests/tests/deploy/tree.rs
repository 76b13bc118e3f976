//! The files under `deploy/`.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The top of the checkout.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// A path under `deploy/`.
pub(crate) fn deploy(path: &str) -> PathBuf {
    root().join("deploy").join(path)
}

/// The text of a file under `deploy/`.
pub(crate) fn read(path: &str) -> String {
    text(&deploy(path))
}

pub(crate) fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The files with this extension, in a folder under `deploy/` and all below it, ascending; some there must be.
pub(crate) fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    collect(&deploy(folder), extension, &mut found);
    found.sort();
    assert!(!found.is_empty(), "no .{extension} in deploy/{folder}: the checks would be empty");
    found
}

fn collect(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, extension, found);
        } else if path.extension().is_some_and(|here| here == extension) {
            found.push(path);
        }
    }
}

/// Copies a folder with all that is in it.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let there = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &there);
        } else {
            fs::copy(&path, &there).unwrap();
        }
    }
}
