//! The content of a data directory before anything in it is changed.

use std::{
    fs::{self, DirBuilder},
    io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use sequent_core::Layout;

use super::{
    disk::{self, Asking},
    owner_file, version_file,
};
use crate::{
    config::{Config, Place},
    error::OpenError,
};

/// Names allowed in the directory of a cluster that does not exist yet.
const WELCOME: [&str; 2] = ["lost+found", "sequent.toml"];

/// The result of a search in the places of a configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// The ledger exists.
    Cluster,
    /// Nothing that could be lost: a new cluster may be created.
    Nothing,
    /// The ledger is on a server, which knows whether there is a cluster.
    Elsewhere,
}

/// Searches, and changes nothing. A directory that is neither a cluster nor empty is refused with what was found.
///
/// If the ledger exists, the shards are not examined: a shard on a hanging disk does not block a start.
pub async fn look(config: &Config) -> Result<Found, OpenError> {
    let ledger = match &config.ledger.place {
        Place::Sqlite(ledger) => ledger,
        Place::Server(_) => return Ok(Found::Elsewhere),
        Place::Memory => return Ok(Found::Nothing),
    };
    let (config, limit) = (config.clone(), config.ring.attempt_timeout);
    let path = ledger.clone();
    disk::asked(ledger, limit, move |asking| judge(&config, &path, asking)).await
}

fn judge(config: &Config, ledger: &Path, asking: &Asking) -> Result<Found, OpenError> {
    if is_there(ledger)? {
        return Ok(Found::Cluster);
    }
    let home = config.data.join(version_file::FILE);
    let shards = existing_shards(config, asking);
    let orphans: Vec<PathBuf> =
        shards.into_iter().chain(asking.about(&home).exists().then(|| home.clone())).collect();
    // Checked once more: a process that is creating the cluster creates the ledger before the shards.
    if is_there(asking.about(ledger))? {
        return Ok(Found::Cluster);
    }
    // There is no shard either: the process that left the version file had neither here.
    let is_bare = orphans.len() == 1 && orphans.first() == Some(&home);
    if is_bare && config.embedded {
        return Err(OpenError::Refused(of_another_place(config, ledger, asking)));
    }
    if !orphans.is_empty() {
        let found: Vec<String> = orphans.iter().map(|path| path.display().to_string()).collect();
        return Err(OpenError::Refused(format!(
            "found {}, but no ledger {}: without it nobody knows which numbers were given; put the ledger back, \
             or name another data directory for a new cluster; if it is lost, and no copy is left: `sequent recover \
             --bump N`, N at least the highest raw id that any one counter has reached",
            found.join(", "),
            ledger.display(),
        )));
    }
    refuse_foreign(asking.about(&config.data))?;
    Ok(Found::Nothing)
}

/// The message about a directory with a version file, but neither ledger nor shard, if no configuration file is used.
fn of_another_place(config: &Config, ledger: &Path, asking: &Asking) -> String {
    let (data, ledger) = (config.data.display(), ledger.display());
    let name_it = "name its configuration: `--config FILE`, or the environment's SEQUENT_CONFIG";
    match owner_file::configured_cluster(asking.about(&config.data)) {
        Some(cluster) => format!(
            "data directory {data} belongs to cluster {cluster}, whose ledger is not {ledger}: {name_it}; nothing is lost by this"
        ),
        None => format!(
            "found {data}/{}, but no ledger {ledger}, and no shard: where the directory belongs to a cluster that has them elsewhere, \
             {name_it}; or name another data directory for a new cluster; only if the ledger was here and is lost, and no copy is \
             left: `sequent recover --bump N`, N at least the highest raw id that any one counter has reached",
            version_file::FILE,
        ),
    }
}

/// Creates the data directory.
pub async fn prepare(config: &Config) -> Result<(), OpenError> {
    let (data, limit) = (config.data.clone(), config.ring.attempt_timeout);
    let make = move |asking: &Asking| make(asking.about(&data)).map_err(|error| unusable(&data, &error));
    disk::asked(&config.data, limit, make).await
}

/// Creates a directory that is its user's alone, whatever the process's umask is.
pub(super) fn make(directory: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(directory)
}

fn is_there(ledger: &Path) -> Result<bool, OpenError> {
    if ledger.is_dir() {
        let found = ledger.display();
        return Err(OpenError::Refused(format!("ledger {found} is a directory: a file is expected")));
    }
    Ok(ledger.exists())
}

fn existing_shards(config: &Config, asking: &Asking) -> Vec<PathBuf> {
    // The layout is not known before the ledger is read.
    let parts = config.shards_of(Layout::WIDEST);
    let file = |place| match place {
        Place::Sqlite(path) => Some(path),
        Place::Server(_) | Place::Memory => None,
    };
    parts.into_iter().filter_map(|part| file(part.place)).filter(|path| asking.about(path).exists()).collect()
}

fn refuse_foreign(data: &Path) -> Result<(), OpenError> {
    let entries = match fs::read_dir(data) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(unusable(data, &error)),
    };
    for entry in entries {
        let name = entry.map_err(|error| unusable(data, &error))?.file_name();
        let text = name.to_string_lossy();
        // A process that creates the cluster at this moment may have got further since the check above.
        let ours = text.starts_with("shard-")
            || text.starts_with("ledger.db")
            || text.starts_with(version_file::FILE);
        if !ours && !text.starts_with('.') && !WELCOME.contains(&&*text) {
            return Err(OpenError::Refused(format!(
                "data directory {} holds {text:?} and no cluster: a new one is made in an empty or absent \
                 directory only",
                data.display(),
            )));
        }
    }
    Ok(())
}

fn unusable(data: &Path, error: &io::Error) -> OpenError {
    OpenError::Refused(format!("data directory {} can't be used: {error}", data.display()))
}
