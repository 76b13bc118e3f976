//! Facts about a file's disk and settings, for read-only examinations.

use std::path::Path;

use sequent_core::{Durability, DurabilityClass, Fact, FactClass};

use super::connection::Connection;
use crate::net::Fault;

/// File systems that other machines may have mounted too, by their Linux magic numbers. FUSE file systems and the
/// shared folders of virtual machines can't be distinguished from local ones.
#[cfg(target_os = "linux")]
const SHARED: [(u32, &str); 9] = [
    (0x6969, "NFS"),
    (0x517b, "SMB"),
    (0xfe53_4d42, "SMB2"),
    (0xff53_4d42, "CIFS"),
    (0x5346_414f, "AFS"),
    (0x00c3_6400, "Ceph"),
    (0x0bd0_0bd0, "Lustre"),
    (0x0116_1970, "GFS2"),
    (0x7461_636f, "OCFS2"),
];

/// The facts about the settings of a file, and its disk.
pub(super) async fn facts(connection: &Connection) -> Result<Vec<Fact>, Fault> {
    let mut facts = losses(&connection.durability);
    if let Some(name) = connection.inner.place.on_thread(|path| Ok(shared(path))).await? {
        let fact = Fact::new(FactClass::Repeats, "file system", name).expected("a disk of this machine");
        let causes = "SQLite's log has its index in memory that machines do not share: two of them on this file count \
            apart, and spoil it";
        let mend = "move the directory to a local disk, or take a store on a server";
        facts.push(fact.causes(causes).mend(mend));
    }
    Ok(facts)
}

fn losses(durability: &Durability) -> Vec<Fact> {
    if durability.class == DurabilityClass::Durable {
        return Vec::new();
    }
    let settings: Vec<String> =
        durability.settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let fact = Fact::new(FactClass::Loses, "journal", settings.join(", "));
    let fact = fact.expected("journal_mode=wal, synchronous=full");
    vec![
        fact.causes("a crash of the machine takes back commits, or tears the file")
            .mend("PRAGMA journal_mode = WAL, with every process stopped"),
    ]
}

#[cfg(target_os = "linux")]
fn shared(path: &Path) -> Option<&'static str> {
    let found = rustix::fs::statfs(path).ok()?;
    // The type of the number differs between platforms; its low 32 bits are the magic number.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::unnecessary_cast,
        reason = "see above"
    )]
    let number = found.f_type as u32;
    SHARED.iter().find(|(known, _)| *known == number).map(|(_, name)| *name)
}

#[cfg(not(target_os = "linux"))]
fn shared(_: &Path) -> Option<&'static str> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_local_disk_and_a_path_that_is_none_are_not_shared() {
        assert_eq!(shared(Path::new(env!("CARGO_MANIFEST_DIR"))), None);
        assert_eq!(shared(Path::new("/no/such/path")), None);
    }

    #[test]
    fn what_may_lose_commits_is_told() {
        let of = |class| {
            let settings = vec![("journal_mode".to_owned(), "memory".to_owned())];
            losses(&Durability { class, settings })
        };
        assert_eq!(of(DurabilityClass::Durable), []);
        assert_eq!(of(DurabilityClass::Lossy)[0].found, "journal_mode=memory");
    }
}
