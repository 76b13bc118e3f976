//! A file for each server that runs on a data directory, with its addresses: how other commands find it.
//!
//! A file a server, locked while its process runs: the kernel lets go of the lock however the process ends, so a file
//! that can be locked was left by a dead one.

use std::{
    fs::{self, File, TryLockError},
    io::{self, Read as _, Write as _},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::{Path, PathBuf},
};

use sequent_core::{Entropy as _, OsEntropy};
use sequent_engine::config::Config;
use serde::{Deserialize, Serialize};

/// The folder in a data directory.
const FOLDER: &str = "serving";

/// The file in it that says which directory's servers these are.
const IDENTITY: &str = "identity";

/// How often a file is made that another process removes before it is locked.
const TRIES: usize = 3;

/// The longest file that is read: a handful of addresses.
const FILE_BYTES_MAX: u64 = 4096;

/// Files that are looked at, at most: as many servers at work on one directory, and leftovers.
const FILES_MAX: usize = 64;

/// The addresses of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Addresses {
    pub(crate) grpc: SocketAddr,
    pub(crate) http: SocketAddr,
    pub(crate) admin: SocketAddr,
}

impl Addresses {
    /// Where the gRPC API is reached from this machine: a listener on every address is reached on loopback.
    pub(crate) fn reach(&self) -> String {
        reach(self.grpc)
    }

    /// The same of the admin listener.
    pub(crate) fn reach_admin(&self) -> String {
        reach(self.admin)
    }
}

fn reach(listener: SocketAddr) -> String {
    let ip = match listener.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    format!("http://{}", SocketAddr::new(ip, listener.port()))
}

/// Of which cluster a server is: with a configuration each, servers of several may share a directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Of {
    /// Its name.
    pub(crate) cluster: String,
    /// Whether it is the one that is there without a configuration file.
    pub(crate) embedded: bool,
}

impl Of {
    /// The cluster that a configuration is about.
    pub(crate) fn config(config: &Config) -> Self {
        Self { cluster: config.cluster.to_string(), embedded: config.embedded }
    }

    /// What servers were of that did not say so yet.
    fn unsaid() -> Self {
        Self { cluster: "embedded".to_owned(), embedded: true }
    }
}

/// What a server leaves in the directory.
#[derive(Debug, Serialize, Deserialize)]
struct Announced {
    #[serde(flatten)]
    addresses: Addresses,
    #[serde(default = "Of::unsaid")]
    of: Of,
}

/// Servers at work on a data directory.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// Where each of them listens.
    pub(crate) servers: Vec<Addresses>,
    /// What each of them says that it is of: whoever else answers there, on a port that was let go or in another network,
    /// is not believed.
    pub(crate) identity: String,
}

/// A server's word that it is at work, until it is dropped or the process ends.
#[derive(Debug)]
pub(crate) struct RunFile {
    path: PathBuf,
    identity: String,
    /// Holds the lock.
    _locked: File,
}

impl RunFile {
    /// Says where this process serves, and of which cluster it is.
    pub(crate) fn announce(data: &Path, of: &Of, addresses: &Addresses) -> io::Result<Self> {
        let folder = data.join(FOLDER);
        fs::create_dir_all(&folder)?;
        sweep(&folder);
        let announced = Announced { addresses: *addresses, of: of.clone() };
        let (identity, text) = (identify(&folder)?, serde_json::to_vec(&announced)?);
        for _ in 0..TRIES {
            // Not the process's number: in containers, all of them are 1.
            let path = folder.join(format!("{:016x}.json", OsEntropy.bits()));
            let mut file = File::create_new(&path)?;
            file.lock()?;
            file.write_all(&text)?;
            // Another one's sweep may have come before the lock.
            if path.exists() {
                return Ok(Self { path, identity, _locked: file });
            }
        }
        Err(io::Error::other("the file was removed as often as it was made"))
    }

    /// What this directory's servers say that they are of.
    pub(crate) fn identity(&self) -> &str {
        &self.identity
    }
}

impl Drop for RunFile {
    fn drop(&mut self) {
        // What can't be removed is found dead: the lock goes with the process.
        drop(fs::remove_file(&self.path));
    }
}

/// The servers of a cluster that are at work on a data directory; `None` where nobody serves.
pub(crate) fn servers(data: &Path, of: &Of) -> Option<Found> {
    let folder = data.join(FOLDER);
    let identity = fs::read_to_string(folder.join(IDENTITY)).ok()?;
    let announced = files(&folder).into_iter().filter_map(|path| alive(&path));
    let servers: Vec<Addresses> =
        announced.filter(|found| found.of == *of).map(|found| found.addresses).collect();
    (!servers.is_empty()).then_some(Found { servers, identity })
}

/// The directory's identity, made by the first server.
fn identify(folder: &Path) -> io::Result<String> {
    let place = folder.join(IDENTITY);
    if !place.exists() {
        let new = format!("{:016x}{:016x}", OsEntropy.bits(), OsEntropy.bits());
        let draft = folder.join(format!("{IDENTITY}.{new}"));
        fs::write(&draft, &new)?;
        // Whole or not at all, and never over another one's.
        let linked = fs::hard_link(&draft, &place);
        fs::remove_file(&draft)?;
        match linked {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
    }
    fs::read_to_string(place)
}

fn alive(path: &Path) -> Option<Announced> {
    let file = File::open(path).ok()?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => {}
        Ok(()) | Err(TryLockError::Error(_)) => return None,
    }
    let mut text = String::new();
    file.take(FILE_BYTES_MAX).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

/// Removes what dead servers left.
fn sweep(folder: &Path) {
    for path in files(folder) {
        let dead = File::open(&path).is_ok_and(|file| file.try_lock().is_ok());
        if dead {
            drop(fs::remove_file(path));
        }
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let json = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "json");
    entries.filter_map(|entry| Some(entry.ok()?.path())).filter(json).take(FILES_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(grpc: &str) -> Addresses {
        let other = "127.0.0.1:1".parse().unwrap();
        Addresses { grpc: grpc.parse().unwrap(), http: other, admin: other }
    }

    fn own() -> Of {
        Of { cluster: "shop".to_owned(), embedded: false }
    }

    #[test]
    fn servers_of_another_cluster_are_left_alone() {
        let data = tempfile::tempdir().unwrap();
        let here = addresses("127.0.0.1:7420");
        let _presence = RunFile::announce(data.path(), &own(), &here).unwrap();
        for other in [
            Of { cluster: "bank".to_owned(), ..own() },
            // A configuration may bear the name that there is without one.
            Of { embedded: true, ..own() },
        ] {
            assert_eq!(servers(data.path(), &other), None, "{other:?}");
        }
        assert_eq!(servers(data.path(), &own()).unwrap().servers, [here]);
    }

    #[test]
    fn servers_are_found_while_they_live() {
        let data = tempfile::tempdir().unwrap();
        assert_eq!(servers(data.path(), &own()), None);
        let here = addresses("127.0.0.1:7420");
        let presence = RunFile::announce(data.path(), &own(), &here).unwrap();
        let found = servers(data.path(), &own()).unwrap();
        assert_eq!((&found.servers[..], found.identity.as_str()), (&[here][..], presence.identity()));
        let other = RunFile::announce(data.path(), &own(), &addresses("127.0.0.1:7430")).unwrap();
        assert_eq!(other.identity(), presence.identity());
        assert_eq!(servers(data.path(), &own()).unwrap().servers.len(), 2);
        drop((presence, other));
        assert_eq!(servers(data.path(), &own()), None);
    }

    #[test]
    fn what_a_dead_server_left_is_not_found_and_goes() {
        let data = tempfile::tempdir().unwrap();
        let left = data.path().join(FOLDER).join("4000000.json");
        fs::create_dir_all(left.parent().unwrap()).unwrap();
        fs::write(&left, serde_json::to_vec(&addresses("127.0.0.1:9")).unwrap()).unwrap();
        assert_eq!(servers(data.path(), &own()), None);
        let here = addresses("127.0.0.1:7420");
        let _presence = RunFile::announce(data.path(), &own(), &here).unwrap();
        assert!(!left.exists());
        assert_eq!(servers(data.path(), &own()).unwrap().servers, [here]);
    }

    #[test]
    fn a_listener_on_every_address_is_reached_on_loopback() {
        assert_eq!(addresses("0.0.0.0:7420").reach(), "http://127.0.0.1:7420");
        assert_eq!(addresses("[::]:7420").reach(), "http://[::1]:7420");
        assert_eq!(addresses("10.0.0.7:7420").reach(), "http://10.0.0.7:7420");
    }
}
