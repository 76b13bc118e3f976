//! Checks across locations: no location twice, none volatile unless allowed, no slot outside the ring.

use std::{
    collections::{BTreeMap, BTreeSet},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{Mutex, mpsc},
    thread,
    time::Duration,
};

use sequent_backend::net::ServerOptions;
use sequent_core::{SlotIndex, sync};

use super::{Fault, LedgerSection, Place, RingSection, ShardPart, reading::Reader};

/// Puts a relative path under the data directory.
pub(super) fn put_under(data: &Path, place: &mut Place) {
    match place {
        Place::Sqlite(path) => *path = data.join(&*path),
        Place::Server(server) => {
            let ServerOptions { password_file, tls_ca_file, tls_cert_file, tls_key_file, .. } =
                &mut server.options;
            let files = [password_file, tls_ca_file, tls_cert_file, tls_key_file];
            files.into_iter().flatten().for_each(|path| *path = data.join(&*path));
        }
        Place::Memory => {}
    }
}

/// Records every fault that concerns more than one key. Shards come with their positions in the file's list.
pub(super) fn check(
    reader: &mut Reader<'_>,
    ring: &RingSection,
    shards: &[(usize, ShardPart)],
    ledger: &LedgerSection,
) {
    check_volatile(reader, ring, shards, ledger);
    let mut slots: BTreeMap<SlotIndex, usize> = BTreeMap::new();
    let mut used: BTreeMap<Identity, String> = BTreeMap::new();
    if let Some((identity, key, _)) = identity_of(&ledger.place) {
        used.insert(identity, format!("ledger.{key}"));
    }
    for (at, part) in shards {
        check_slot(reader, ring, *at, part.slot);
        if let Some(first) = slots.insert(part.slot, *at) {
            let bound = format!("shard[{first}] has the same slot: each slot has one store");
            reader.fault(Fault::new(format!("shard[{at}].slot"), part.slot, bound));
        }
        let Some((identity, key, what)) = identity_of(&part.place) else { continue };
        let key = format!("shard[{at}].{key}");
        if let Some(first) = used.insert(identity, key.clone()) {
            let bound = format!("{first} is the same {what}: {}", not_shared(&part.place));
            reader.fault(Fault::new(key, &part.place, bound));
        }
    }
}

/// Why no location is used twice, and what to do.
fn not_shared(place: &Place) -> &'static str {
    match place {
        Place::Server(server) if server.kind.has_code_tables() => {
            "it has one stamp, one mark and one fence a key, those of one slot or of the ledger; make another database on \
             that server, and let table_name lead from it to tables that are elsewhere: \"DATABASE.%s_code_%d\""
        }
        Place::Server(server) if server.options.url.driver().has_schema => {
            "it has one stamp, one mark and one cell a key, those of one slot or of the ledger; name another schema or database"
        }
        Place::Server(server) if server.options.url.driver().name == "memcached" => {
            "a restart would empty both; name another server"
        }
        Place::Server(server) if server.options.url.driver().name == "redis" => {
            "whatever empties it would empty both; name another database"
        }
        Place::Server(_) => {
            "it has one stamp, one mark and one cell a key, those of one slot or of the ledger; make another database on that \
             server"
        }
        Place::Sqlite(_) | Place::Memory => {
            "it has one stamp, one mark and one cell a key, those of one slot or of the ledger; name another file"
        }
    }
}

/// A location's identity, the key that names it, and its kind for messages.
fn identity_of(place: &Place) -> Option<(Identity, &'static str, &'static str)> {
    match place {
        Place::Sqlite(path) => Some((identity(path), "path", "file")),
        Place::Server(server) => Some((Identity::Database(server.identity()), "url", "database")),
        Place::Memory => None,
    }
}

fn check_slot(reader: &mut Reader<'_>, ring: &RingSection, at: usize, slot: SlotIndex) {
    let Some(bits) = ring.shard_bits else { return };
    let slots: SlotIndex = 1 << bits;
    if slot >= slots {
        let bound = format!("0 to {} are allowed with shard_bits = {bits}", slots - 1);
        reader.fault(Fault::new(format!("shard[{at}].slot"), slot, bound));
    }
}

fn check_volatile(
    reader: &mut Reader<'_>,
    ring: &RingSection,
    shards: &[(usize, ShardPart)],
    ledger: &LedgerSection,
) {
    let bound = "ring.allow_volatile = true is demanded for what is lost with its process";
    let volatile = shards.iter().filter(|(_, part)| part.place == Place::Memory);
    let mut keys: Vec<String> = volatile.map(|(at, _)| format!("shard[{at}].store")).collect();
    if ledger.place == Place::Memory {
        keys.push("ledger.store".to_owned());
    }
    if !ring.allow_volatile {
        for key in keys {
            reader.fault(Fault::new(key, "\"memory\"", bound));
        }
    }
}

/// The identity of a location: equal for two names of one location.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Identity {
    /// A file that exists, whatever its names.
    Inode { device: u64, inode: u64 },
    /// A file that does not exist yet: links and dots are resolved as far as the path exists.
    Path(PathBuf),
    /// Tables of a server.
    Database(String),
}

/// A disk that does not respond for so long is considered hanging.
const ANSWER_MAX: Duration = Duration::from_secs(1);

/// Directories whose disk has not responded: each is waited for once, and one thread hangs with it.
static MUTE: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// The identity of a file. A disk that hangs does not block the start: its files are then identified by their paths,
/// and later by their stamps.
fn identity(path: &Path) -> Identity {
    let mute = || sync::lock(&MUTE);
    let folder = path.parent().unwrap_or(path).to_owned();
    if mute().contains(&folder) {
        return Identity::Path(lexical(path));
    }
    let ((tell, told), asked) = (mpsc::channel(), (path.to_owned(), folder.clone()));
    let look = move || {
        let (path, folder) = asked;
        let found = look(&path);
        mute().remove(&folder);
        drop(tell.send(found));
    };
    let looking = thread::Builder::new().spawn(look);
    let found = looking.ok().and_then(|_| told.recv_timeout(ANSWER_MAX).ok());
    found.unwrap_or_else(|| {
        mute().insert(folder);
        Identity::Path(lexical(path))
    })
}

fn look(path: &Path) -> Identity {
    if let Ok(found) = std::fs::metadata(path) {
        return Identity::Inode { device: found.dev(), inode: found.ino() };
    }
    let by_parent = || Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?));
    Identity::Path(by_parent().unwrap_or_else(|| lexical(path)))
}

/// The absolute path without `.` and `..`.
fn lexical(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).components() {
        match part {
            std::path::Component::ParentDir => drop(plain.pop()),
            other => plain.push(other),
        }
    }
    plain
}
