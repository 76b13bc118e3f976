//! Atomic file creation: a new database file appears at its path complete, or not at all.

use std::{
    fs::{self, File, TryLockError},
    io,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use sequent_core::Env;
use sqlx::{ConnectOptions, Connection, sqlite::SqliteSynchronous};

use super::{
    connection::{self, Tables},
    fault::from_driver,
    file_identity::{Place, with_suffix},
};
use crate::net::{Cause, Fault, token};

/// The end of a draft's name, and the number of characters of its token before it.
const DRAFT: &str = ".new";
const DRAFT_TOKEN: usize = 16;

/// Suffixes of the files that SQLite keeps beside a database.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Creates the file unless another process has created it meanwhile. `Busy`: another process is creating a file in this
/// directory.
///
/// The file is built under another name beside its path and then renamed, which fails if the path is taken. A hard link
/// is not used: the file would have two names for a moment, or for good if its creator is killed, and such a file is
/// refused.
///
/// Creators exclude each other by a lock on the directory. Under it they remove what a deleted file left behind
/// (`-wal`, `-shm`), before there is a file that these could be mistaken for, and never after. They also remove the
/// drafts of killed creators.
///
/// `made` becomes true before the file can be at its path, and false again only if it certainly is not.
pub(super) async fn create(place: &Place, tables: &Tables, env: &Env, made: &mut bool) -> Result<(), Fault> {
    let token = token(env);
    let named = token.clone();
    let occupied = place.on_thread(move |path| Site::occupy(path.to_owned(), &named)).await?;
    let Some(site) = occupied else { return Ok(()) };
    if let Err(fault) = build(&site.draft, tables, &token).await.map_err(from_driver) {
        // The cleanup may hang too, so it runs on its own thread.
        let tidy = move |_: &Path| {
            drop(site);
            Ok(())
        };
        let _ = place.on_thread(tidy).await;
        return Err(fault);
    }
    *made = true;
    let finished = place.on_thread(move |_| site.finish().map_err(unavailable)).await;
    if finished.is_err() {
        *made = !matches!(place.look().await, Ok(None));
    }
    finished
}

async fn build(draft: &Path, tables: &Tables, token: &str) -> Result<(), sqlx::Error> {
    // No other process knows the draft, so it is flushed once, when it is complete. With a flush for each step, the
    // four files of a new cluster took forty flushes, one after the other, under the directory's lock.
    let options = connection::options(draft).create_if_missing(true).synchronous(SqliteSynchronous::Off);
    let mut connection = options.connect().await?;
    // Set here because a connection option would be applied before the flushes are switched off.
    sqlx::query("PRAGMA journal_mode = WAL").execute(&mut connection).await?;
    // One transaction for speed. An interrupted creation leaves a draft that no process reads.
    sqlx::query("BEGIN").execute(&mut connection).await?;
    for statement in tables.statements {
        sqlx::query(*statement).execute(&mut connection).await?;
    }
    sqlx::query(tables.first_row).bind(token).execute(&mut connection).await?;
    sqlx::query("COMMIT").execute(&mut connection).await?;
    // Only the database file is moved to the path, so it must contain the whole log. A close would copy the log too,
    // but reports no error on a full disk.
    let sql = "PRAGMA wal_checkpoint(TRUNCATE)";
    let (held_up, _, _): (i64, i64, i64) = sqlx::query_as(sql).fetch_one(&mut connection).await?;
    if held_up != 0 {
        return Err(sqlx::Error::Io(io::Error::other("the new file could not be completed")));
    }
    connection.close().await?;
    Ok(())
}

/// The locked directory and the draft in it.
struct Site {
    directory: File,
    path: PathBuf,
    draft: PathBuf,
}

impl Site {
    /// Locks the directory. `None`: the file exists by now.
    fn occupy(path: PathBuf, token: &str) -> Result<Option<Self>, Fault> {
        let folder = path.parent().unwrap_or(Path::new("/"));
        let directory = File::open(folder).map_err(|error| {
            Fault::away(format!("directory {} can't be opened: {error}", folder.display()))
        })?;
        match directory.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Fault::Busy("another process makes a file here".into()));
            }
            Err(TryLockError::Error(error)) => return Err(unavailable(error)),
        }
        if path.symlink_metadata().is_ok() {
            return Ok(None);
        }
        for suffix in BESIDE {
            remove(&with_suffix(&path, suffix)).map_err(unavailable)?;
        }
        // Old drafts are harmless, so errors are ignored.
        let _ = sweep(folder, &path);
        let draft = with_suffix(&path, &format!(".{}{DRAFT}", &token[..DRAFT_TOKEN]));
        Ok(Some(Self { directory, path, draft }))
    }

    /// Moves the draft to its path, durably: first its content, then its name.
    fn finish(self) -> io::Result<()> {
        File::open(&self.draft)?.sync_all()?;
        match rename_to_nothing(&self.draft, &self.path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => remove(&self.draft)?,
            // The file system has no such rename. The path was free when the directory was locked.
            Err(_) => fs::rename(&self.draft, &self.path)?,
        }
        self.directory.sync_all()
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        for suffix in [""].into_iter().chain(BESIDE) {
            // Old drafts are harmless, so errors are ignored.
            let _ = remove(&with_suffix(&self.draft, suffix));
        }
    }
}

/// Removes the drafts of `path` left by killed creators. The directory is locked, so no draft is in use.
fn sweep(folder: &Path, path: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        if path.file_name().is_some_and(|own| is_draft(own.as_bytes(), name.as_bytes())) {
            remove(&folder.join(name))?;
        }
    }
    Ok(())
}

/// Whether `name` is a draft of `own`, or a file that SQLite keeps beside one.
fn is_draft(own: &[u8], name: &[u8]) -> bool {
    let rest = name.strip_prefix(own).and_then(|rest| rest.strip_prefix(b"."));
    let Some((token, kind)) = rest.and_then(|rest| rest.split_at_checked(DRAFT_TOKEN)) else { return false };
    let kind = kind.strip_prefix(DRAFT.as_bytes());
    let beside = kind.is_some_and(|kind| kind.is_empty() || BESIDE.iter().any(|own| own.as_bytes() == kind));
    beside && token.iter().all(u8::is_ascii_hexdigit)
}

/// Renames atomically; fails if the new name is taken.
#[cfg(target_os = "linux")]
fn rename_to_nothing(from: &Path, to: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE)?)
}

#[cfg(not(target_os = "linux"))]
fn rename_to_nothing(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[allow(clippy::needless_pass_by_value, reason = "it is handed to map_err")]
fn unavailable(error: io::Error) -> Fault {
    Fault::away(Cause::of_io(&error))
}
