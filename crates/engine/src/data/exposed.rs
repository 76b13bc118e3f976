//! Files that other users of the machine can read or change: secrets, settings, and the data.

use std::{
    fs::{self, Metadata},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use rustix::process::getegid;

use super::disk;
use crate::config::{Caution, CautionKind, CautionPlace, Config, Place};

/// Upper limit of the entries of the data directory that are examined: files of 2^10 shards with their logs.
const ENTRIES_MAX: usize = 4096;

/// The most files that a finding names.
const NAMED_MAX: usize = 5;

/// Docker mounts secrets there with the modes of the files behind them, for the users of one container.
const CONTAINER_SECRETS: &str = "/run/secrets";

/// Files with secrets that other users of this machine can read, and settings that they can change. A disk that hangs
/// has none.
pub async fn exposed_settings(config: &Config) -> Vec<Caution> {
    let (secrets, settings) = (config.secret_files(), config.setting_files());
    let work = move || {
        let readable = secrets.iter().filter_map(|(key, path)| readable_secret(key, path));
        readable.chain(settings.iter().filter_map(|(key, path)| writable_setting(key, path))).collect()
    };
    look(config, work).await
}

/// Whether other users of this machine can read or change the data directory, or SQLite files elsewhere. A disk that
/// hangs has none.
pub async fn exposed_data(config: &Config) -> Vec<Caution> {
    let data = config.data.clone();
    let places = config.shards.iter().flatten().map(|part| &part.place);
    let files = places.chain([&config.ledger.place]).filter_map(|place| match place {
        Place::Sqlite(path) if !path.starts_with(&data) => Some(path.clone()),
        _ => None,
    });
    let files: Vec<PathBuf> = files.collect();
    look(config, move || Vec::from_iter(open_data(&data, &files))).await
}

async fn look(config: &Config, work: impl FnOnce() -> Vec<Caution> + Send + 'static) -> Vec<Caution> {
    let limit = config.ring.attempt_timeout;
    disk::asked(&config.data, limit, move |_| Ok(work())).await.unwrap_or_default()
}

fn readable_secret(key: &str, path: &Path) -> Option<Caution> {
    let mode = open_bits(path).filter(|open| open & 0o066 != 0 && !path.starts_with(CONTAINER_SECRETS))?;
    let found = format!("{key} {}: other users have the access {mode:03o}", path.display());
    Some(Caution::new(CautionKind::SecretReadable, CautionPlace::Cluster, found))
}

/// A file that others can change, or put another one in the place of.
fn writable_setting(key: &str, path: &Path) -> Option<Caution> {
    let file = fs::canonicalize(path).ok().filter(|path| !path.starts_with(CONTAINER_SECRETS))?;
    let writable = |path: &Path| open_bits(path).filter(|open| open & 0o022 != 0);
    let folder = file.parent().filter(|folder| !is_sticky(folder));
    let (path, mode) =
        [Some(&*file), folder].into_iter().flatten().find_map(|path| Some((path, writable(path)?)))?;
    let found = format!("{key} {}: other users can change {} ({mode:03o})", file.display(), path.display());
    Some(Caution::new(CautionKind::SettingsWritable, CautionPlace::Cluster, found))
}

/// Whether users can replace their own files alone, as in `/tmp`.
fn is_sticky(directory: &Path) -> bool {
    fs::metadata(directory).is_ok_and(|found| found.mode() & 0o1000 != 0)
}

fn open_data(data: &Path, files: &[PathBuf]) -> Option<Caution> {
    let own = fs::read_dir(data).into_iter().flatten().flatten().take(ENTRIES_MAX).map(|entry| entry.path());
    // A configuration without secrets may be read by anybody.
    let own = own.filter(|path| path.file_name().is_none_or(|name| name != "sequent.toml"));
    let directory = open_bits(data).filter(|open| open & 0o022 != 0).map(|open| (data.to_owned(), open));
    let all = own.chain(files.iter().cloned());
    let open = all.filter_map(|path| Some((open_bits(&path).filter(|open| open & 0o066 != 0)?, path)));
    let mut open: Vec<_> = directory.into_iter().chain(open.map(|(open, path)| (path, open))).collect();
    open.sort();
    let named = open.iter().take(NAMED_MAX).map(|(path, open)| format!("{} ({open:03o})", path.display()));
    let named = named.collect::<Vec<_>>().join(", ");
    let more = open.len().saturating_sub(NAMED_MAX);
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    let found = format!("other users have access to {named}{more}");
    (!open.is_empty()).then(|| Caution::new(CautionKind::DataReadable, CautionPlace::Cluster, found))
}

/// The permissions by which others than the owner and this process's group reach a file, as far as the directories
/// above let them through. In Kubernetes `fsGroup` gives that group everything.
fn open_bits(path: &Path) -> Option<u32> {
    let path = fs::canonicalize(path).ok()?;
    let above = path.ancestors().skip(1).filter_map(|above| fs::metadata(above).ok());
    let (others, group) = above.fold((true, true), |(others, group), above| {
        (others && above.mode() & 0o001 != 0, group && above.mode() & 0o011 != 0)
    });
    let through = if others { 0o007 } else { 0 } | if group { 0o070 } else { 0 };
    Some(of_others(&fs::metadata(&path).ok()?) & through)
}

fn of_others(found: &Metadata) -> u32 {
    let group = if found.gid() == getegid().as_raw() { 0 } else { 0o070 };
    found.mode() & (0o007 | group)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn set(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_file_is_open_as_far_as_the_directories_above_let_others_through() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        fs::create_dir(&data).unwrap();
        let file = data.join("shard-0.db");
        fs::write(&file, "x").unwrap();
        for (above, own, mode, open) in [
            (0o755, 0o755, 0o644, 0o004),
            (0o755, 0o755, 0o666, 0o006),
            (0o755, 0o755, 0o640, 0),
            (0o755, 0o700, 0o644, 0),
            (0o700, 0o755, 0o644, 0),
        ] {
            set(folder.path(), above);
            set(&data, own);
            set(&file, mode);
            assert_eq!(open_bits(&file), Some(open), "{above:o} {own:o} {mode:o}");
            assert_eq!(open_data(&data, &[]).is_some(), open != 0, "{above:o} {own:o} {mode:o}");
            assert_eq!(readable_secret("password_file", &file).is_some(), open != 0);
        }
    }

    #[test]
    fn a_directory_that_others_may_write_to_is_found_and_five_files_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        fs::create_dir(&data).unwrap();
        set(folder.path(), 0o755);
        set(&data, 0o757);
        assert!(open_data(&data, &[]).unwrap().found.ends_with("data (007)"));
        set(&data, 0o755);
        for slot in 0..7 {
            let file = data.join(format!("shard-{slot}.db"));
            fs::write(&file, "x").unwrap();
            set(&file, 0o644);
        }
        let found = open_data(&data, &[]).unwrap().found;
        assert!(found.contains("shard-4.db (004), and 2 more") && !found.contains("shard-5.db"), "{found}");
    }
}
