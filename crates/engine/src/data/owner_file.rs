//! The files in which servers name the cluster that a data directory belongs to, for when no ledger in it does.

use std::{
    fs::{self, File},
    io::Read as _,
    path::Path,
};

use serde::Deserialize;

/// The folder of these files, one a server; `sequent serve` writes them.
pub(super) const FOLDER: &str = "serving";

/// Upper limit of the files examined, and of the bytes read of each.
const FILES_MAX: usize = 64;
const FILE_BYTES_MAX: u64 = 4096;

#[derive(Deserialize)]
struct Announced {
    of: Of,
}

#[derive(Deserialize)]
struct Of {
    cluster: String,
    embedded: bool,
}

/// The name of the configured cluster that this directory belongs to. `None` if no file names one, or if a server of
/// the embedded cluster used the directory, too.
pub(super) fn configured_cluster(data: &Path) -> Option<String> {
    let entries = fs::read_dir(data.join(FOLDER)).ok()?.filter_map(Result::ok).take(FILES_MAX);
    let mut found = entries.filter_map(|entry| announced(&entry.path()));
    let first = found.next()?;
    (!first.embedded && found.all(|other| !other.embedded)).then_some(first.cluster)
}

fn announced(path: &Path) -> Option<Of> {
    path.extension().filter(|extension| *extension == "json")?;
    let mut text = String::new();
    File::open(path).ok()?.take(FILE_BYTES_MAX).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok().map(|Announced { of }| of)
}
