//! A file for each server that runs on a data directory, with its addresses: how other commands find it.
//!
//! Each file is locked while its server's process runs. The kernel releases the lock however the process
//! ends. Therefore a file that can be locked belongs to a server that has ended.

use std::{
    fs::{self, File, TryLockError},
    io::{self, Read as _, Write as _},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    os::unix::fs::{FileExt as _, MetadataExt},
    path::{Path, PathBuf},
};

use rustix::process::geteuid;
use sequent_core::{Entropy as _, OsEntropy};
use sequent_engine::config::Config;
use serde::{Deserialize, Serialize};

use crate::open_cluster::DATA_DEFAULT;

/// The folder in a data directory.
const FOLDER: &str = "serving";

/// The file in it with the identity that this directory's servers share.
const IDENTITY: &str = "identity";

/// How often a file is made again if another process removes it before it is locked.
const TRIES: usize = 3;

/// The longest file that is read: enough for a few addresses.
const FILE_BYTES_MAX: u64 = 4096;

/// The most files that are read: running servers on one directory, and leftovers.
const FILES_MAX: usize = 64;

/// The addresses of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Addresses {
    pub(crate) grpc: SocketAddr,
    pub(crate) http: SocketAddr,
    /// Absent in the file of an earlier version's server.
    #[serde(default)]
    pub(crate) redis: Option<SocketAddr>,
    pub(crate) admin: SocketAddr,
    /// Whether all of them speak TLS alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) tls: bool,
}

impl Addresses {
    /// The URL of the gRPC API for this machine. A listener on every address is reached on loopback.
    pub(crate) fn reach(&self) -> String {
        self.url(self.grpc)
    }

    /// The same for the admin listener.
    pub(crate) fn reach_admin(&self) -> String {
        self.url(self.admin)
    }

    fn url(&self, listener: SocketAddr) -> String {
        let ip = match listener.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
            ip => ip,
        };
        format!("{}://{}", self.scheme(), SocketAddr::new(ip, listener.port()))
    }

    /// The scheme of their URLs.
    pub(crate) fn scheme(&self) -> &'static str {
        if self.tls { "https" } else { "http" }
    }
}

/// The cluster that a server belongs to. Servers of several clusters may share a directory, each with its
/// configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Of {
    /// The cluster's name.
    pub(crate) cluster: String,
    /// Whether it is the embedded cluster, which has no configuration file.
    pub(crate) embedded: bool,
}

impl Of {
    /// The cluster of a configuration.
    pub(crate) fn config(config: &Config) -> Self {
        Self { cluster: config.cluster.to_string(), embedded: config.embedded }
    }

    /// The cluster of a server whose file does not name one.
    fn unsaid() -> Self {
        Self { cluster: "embedded".to_owned(), embedded: true }
    }
}

/// The content of a server's file.
#[derive(Debug, Serialize, Deserialize)]
struct Announced {
    #[serde(flatten)]
    addresses: Addresses,
    #[serde(default = "Of::unsaid")]
    of: Of,
}

/// Running servers on a data directory.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// The addresses of each.
    pub(crate) servers: Vec<Addresses>,
    /// The identity that each of them reports. Another program may answer there, on a released port or in
    /// another network. It reports another identity, and is not accepted.
    pub(crate) identity: String,
}

/// The file of a running server, until it is dropped or the process ends.
#[derive(Debug)]
pub(crate) struct RunFile {
    path: PathBuf,
    identity: String,
    announced: Announced,
    /// Holds the lock.
    locked: File,
}

impl RunFile {
    /// Writes the addresses of this process, and the cluster that it belongs to.
    pub(crate) fn announce(data: &Path, of: &Of, addresses: &Addresses) -> io::Result<Self> {
        let folder = data.join(FOLDER);
        fs::create_dir_all(&folder)?;
        sweep(&folder);
        let announced = Announced { addresses: *addresses, of: of.clone() };
        let (identity, text) = (identify(&folder)?, serde_json::to_vec(&announced)?);
        for _ in 0..TRIES {
            // The name is random, because in containers every process has id 1.
            let path = folder.join(format!("{:016x}.json", OsEntropy.bits()));
            let mut file = File::create_new(&path)?;
            file.lock()?;
            file.write_all(&text)?;
            // Another server may have removed the file before it was locked.
            if path.exists() {
                return Ok(Self { path, identity, announced, locked: file });
            }
        }
        Err(io::Error::other("the file was removed as often as it was made"))
    }

    /// Announces that all listeners speak TLS alone from now on.
    pub(crate) fn require_tls(&mut self) -> io::Result<()> {
        self.announced.addresses.tls = true;
        // It only grows, so no reader finds the end of the text before.
        self.locked.write_all_at(&serde_json::to_vec(&self.announced)?, 0)
    }

    /// The identity that this directory's servers report.
    pub(crate) fn identity(&self) -> &str {
        &self.identity
    }
}

impl Drop for RunFile {
    fn drop(&mut self) {
        // If the file can't be removed, it counts as a leftover: the lock ends with the process.
        drop(fs::remove_file(&self.path));
    }
}

/// The running servers of a cluster on a data directory; `None` if there are none. Files of users that are not
/// trusted do not count: in a shared working directory anybody may write a `sequent-data`.
pub(crate) fn servers(data: &Path, of: &Of) -> Option<Found> {
    servers_of(data, of, &trusted(data)?)
}

/// The same, of files that these users own.
fn servers_of(data: &Path, of: &Of, trusted: &[u32]) -> Option<Found> {
    let folder = data.join(FOLDER);
    let is_trusted = |path: &Path| fs::metadata(path).is_ok_and(|found| trusted.contains(&found.uid()));
    if !is_trusted(&folder) || !is_trusted(&folder.join(IDENTITY)) {
        return None;
    }
    let identity = fs::read_to_string(folder.join(IDENTITY)).ok()?;
    let own = files(&folder).into_iter().filter(|path| is_trusted(path));
    let announced = own.filter_map(|path| alive(&path));
    let servers: Vec<Addresses> =
        announced.filter(|found| found.of == *of).map(|found| found.addresses).collect();
    (!servers.is_empty()).then_some(Found { servers, identity })
}

/// The users whose files count: this one and root. If a data directory was named, so is its owner: root looks after
/// servers of other users.
fn trusted(data: &Path) -> Option<Vec<u32>> {
    let owner = (data != Path::new(DATA_DEFAULT)).then(|| fs::metadata(data)).transpose().ok()?;
    Some([geteuid().as_raw(), 0].into_iter().chain(owner.map(|found| found.uid())).collect())
}

/// The directory's identity, made by the first server.
fn identify(folder: &Path) -> io::Result<String> {
    let place = folder.join(IDENTITY);
    if !place.exists() {
        let new = format!("{:016x}{:016x}", OsEntropy.bits(), OsEntropy.bits());
        let draft = folder.join(format!("{IDENTITY}.{new}"));
        fs::write(&draft, &new)?;
        // The link makes the file with its whole content, and never replaces another server's.
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

/// Removes the files of servers that have ended.
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
        let redis = Some(other);
        Addresses { grpc: grpc.parse().unwrap(), http: other, redis, admin: other, tls: false }
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
            // A configuration may have the same name as the embedded cluster.
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
    fn a_server_that_wants_tls_from_now_on_is_found_so() {
        let data = tempfile::tempdir().unwrap();
        let mut presence = RunFile::announce(data.path(), &own(), &addresses("127.0.0.1:7420")).unwrap();
        presence.require_tls().unwrap();
        let found = servers(data.path(), &own()).unwrap().servers.remove(0);
        assert_eq!(found.reach_admin(), "https://127.0.0.1:1");
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
    fn files_of_other_users_do_not_count() {
        let data = tempfile::tempdir().unwrap();
        let _presence = RunFile::announce(data.path(), &own(), &addresses("127.0.0.1:7420")).unwrap();
        let me = fs::metadata(data.path()).unwrap().uid();
        assert!(servers_of(data.path(), &own(), &[me]).is_some());
        assert_eq!(servers_of(data.path(), &own(), &[me + 1]), None);
        assert_eq!(trusted(data.path()).unwrap().len(), 3, "a directory that was named counts by its owner");
        assert_eq!(
            trusted(Path::new(DATA_DEFAULT)).unwrap().len(),
            2,
            "anybody may have made the default one"
        );
    }

    #[test]
    fn a_listener_on_every_address_is_reached_on_loopback() {
        assert_eq!(addresses("0.0.0.0:7420").reach(), "http://127.0.0.1:7420");
        assert_eq!(addresses("[::]:7420").reach(), "http://[::1]:7420");
        assert_eq!(addresses("10.0.0.7:7420").reach(), "http://10.0.0.7:7420");
    }
}
