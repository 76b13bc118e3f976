//! Servers at work on a data directory: each says where it listens, and the other commands find it.
//!
//! A file a server, locked while its process lives: the kernel lets go of the lock however the process ends, so a file
//! that can be locked was left by a dead one.

use std::{
    fs::{self, File, TryLockError},
    io::{self, Read as _, Write as _},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

/// The folder in a data directory.
const FOLDER: &str = "serving";

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
    /// Where the gRPC door is reached from this machine: a listener on every address is reached on loopback.
    pub(crate) fn reach(&self) -> String {
        let ip = match self.grpc.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
            ip => ip,
        };
        format!("http://{}", SocketAddr::new(ip, self.grpc.port()))
    }
}

/// A server's word that it is at work, until it is dropped or the process ends.
#[derive(Debug)]
pub(crate) struct Presence {
    path: PathBuf,
    /// Holds the lock.
    _locked: File,
}

impl Presence {
    /// Says where this process serves.
    pub(crate) fn announce(data: &Path, addresses: &Addresses) -> io::Result<Self> {
        let folder = data.join(FOLDER);
        fs::create_dir_all(&folder)?;
        sweep(&folder);
        let path = folder.join(format!("{}.json", std::process::id()));
        // Written aside and renamed, locked already: whoever sees it sees all of it, and that it is alive.
        let draft = folder.join(format!("{}.draft", std::process::id()));
        let mut file = File::create(&draft)?;
        file.lock()?;
        file.write_all(&serde_json::to_vec(addresses)?)?;
        fs::rename(&draft, &path)?;
        Ok(Self { path, _locked: file })
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        // What can't be removed is found dead: the lock goes with the process.
        drop(fs::remove_file(&self.path));
    }
}

/// The servers at work on a data directory, in no particular order; none where nobody serves.
pub(crate) fn servers(data: &Path) -> Vec<Addresses> {
    files(&data.join(FOLDER)).into_iter().filter_map(|path| alive(&path)).collect()
}

fn alive(path: &Path) -> Option<Addresses> {
    let file = File::open(path).ok()?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => {}
        Ok(()) | Err(TryLockError::Error(_)) => return None,
    }
    let mut text = String::new();
    file.take(FILE_BYTES_MAX).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

/// Removes what dead servers left. A process that locks its draft at this moment keeps it: only what can be locked goes.
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
    entries.take(FILES_MAX).filter_map(|entry| Some(entry.ok()?.path())).filter(json).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(grpc: &str) -> Addresses {
        let other = "127.0.0.1:1".parse().unwrap();
        Addresses { grpc: grpc.parse().unwrap(), http: other, admin: other }
    }

    #[test]
    fn a_server_is_found_while_it_lives() {
        let data = tempfile::tempdir().unwrap();
        assert_eq!(servers(data.path()), []);
        let here = addresses("127.0.0.1:7420");
        let presence = Presence::announce(data.path(), &here).unwrap();
        assert_eq!(servers(data.path()), [here]);
        drop(presence);
        assert_eq!(servers(data.path()), []);
    }

    #[test]
    fn what_a_dead_server_left_is_not_found_and_goes() {
        let data = tempfile::tempdir().unwrap();
        let left = data.path().join(FOLDER).join("4000000.json");
        fs::create_dir_all(left.parent().unwrap()).unwrap();
        fs::write(&left, serde_json::to_vec(&addresses("127.0.0.1:9")).unwrap()).unwrap();
        assert_eq!(servers(data.path()), []);
        let here = addresses("127.0.0.1:7420");
        let _presence = Presence::announce(data.path(), &here).unwrap();
        assert!(!left.exists());
        assert_eq!(servers(data.path()), [here]);
    }

    #[test]
    fn a_listener_on_every_address_is_reached_on_loopback() {
        assert_eq!(addresses("0.0.0.0:7420").reach(), "http://127.0.0.1:7420");
        assert_eq!(addresses("[::]:7420").reach(), "http://[::1]:7420");
        assert_eq!(addresses("10.0.0.7:7420").reach(), "http://10.0.0.7:7420");
    }
}
