//! A new file appears at its path complete, or not at all.

use std::{
    ffi::OsString,
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
    place::Place,
};
use crate::net::{Cause, Fault, token};

/// How the name of a draft ends, after a `.` and so many characters of its token.
const DRAFT: &str = ".new";
const DRAFT_TOKEN: usize = 16;

/// What SQLite keeps beside a database.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Makes the file unless somebody else has made it meanwhile. `Busy`: another maker is at work in this directory.
///
/// It is built beside its place under another name and then renamed, which fails where something is already. Not linked:
/// it would have two names for a moment, or for good if its maker is killed, and such a file is refused.
/// Makers exclude each other by a lock on the directory, so that what a deleted file left behind (`-wal`, `-shm`)
/// is removed before there is a file that it could be mistaken for, and never after; and with it the drafts of makers
/// that were killed.
///
/// `made` becomes true before the file can be at its place, and false again only if it certainly is not.
pub(super) async fn create(place: &Place, tables: &Tables, env: &Env, made: &mut bool) -> Result<(), Fault> {
    let token = token(env);
    let named = token.clone();
    let occupied = place.on_thread(move |path| Site::occupy(path.to_owned(), &named)).await?;
    let Some(site) = occupied else { return Ok(()) };
    if let Err(fault) = build(&site.draft, tables, &token).await.map_err(from_driver) {
        // To tidy up may hang as well.
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
    // Nobody knows the draft yet: it is flushed once, when it is complete. Each flush of each step would take the time of
    // all who wait for the directory: the four files of a new cluster were forty flushes, one after the other.
    let options = connection::options(draft).create_if_missing(true).synchronous(SqliteSynchronous::Off);
    let mut connection = options.connect().await?;
    // Only now: an option of the connection would be set before the flushes are off.
    sqlx::query("PRAGMA journal_mode = WAL").execute(&mut connection).await?;
    // One transaction, for the sake of speed: whoever is interrupted leaves a draft that nobody looks at.
    sqlx::query("BEGIN").execute(&mut connection).await?;
    for statement in tables.statements {
        sqlx::query(*statement).execute(&mut connection).await?;
    }
    sqlx::query(tables.first_row).bind(token).execute(&mut connection).await?;
    sqlx::query("COMMIT").execute(&mut connection).await?;
    // Only the file is linked into its place, so all of the log must be in it. A close would try that too, and say
    // nothing if the disk is full.
    let sql = "PRAGMA wal_checkpoint(TRUNCATE)";
    let (held_up, _, _): (i64, i64, i64) = sqlx::query_as(sql).fetch_one(&mut connection).await?;
    if held_up != 0 {
        return Err(sqlx::Error::Io(io::Error::other("the new file could not be completed")));
    }
    connection.close().await?;
    Ok(())
}

/// The directory, locked against other makers, and the draft in it.
struct Site {
    directory: File,
    path: PathBuf,
    draft: PathBuf,
}

impl Site {
    /// Locks the directory. `None`: the file is there by now.
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
        // Litter, and no harm: what can't be removed stays.
        let _ = sweep(folder, &path);
        let draft = with_suffix(&path, &format!(".{}{DRAFT}", &token[..DRAFT_TOKEN]));
        Ok(Some(Self { directory, path, draft }))
    }

    /// Puts the draft in its place, durably: its content first, then its name.
    fn finish(self) -> io::Result<()> {
        File::open(&self.draft)?.sync_all()?;
        match rename_to_nothing(&self.draft, &self.path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => remove(&self.draft)?,
            // A file system that knows no such thing: nothing was there when the directory was locked.
            Err(_) => fs::rename(&self.draft, &self.path)?,
        }
        self.directory.sync_all()
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        for suffix in [""].into_iter().chain(BESIDE) {
            // What can't be removed is litter, and no harm.
            let _ = remove(&with_suffix(&self.draft, suffix));
        }
    }
}

/// Removes the drafts of `path` that killed makers left. The lock on the directory is held: nobody works on one.
fn sweep(folder: &Path, path: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        if path.file_name().is_some_and(|own| is_draft(own.as_bytes(), name.as_bytes())) {
            remove(&folder.join(name))?;
        }
    }
    Ok(())
}

/// Whether `name` is that of a draft of `own`, or of what SQLite keeps beside one.
fn is_draft(own: &[u8], name: &[u8]) -> bool {
    let rest = name.strip_prefix(own).and_then(|rest| rest.strip_prefix(b"."));
    let Some((token, kind)) = rest.and_then(|rest| rest.split_at_checked(DRAFT_TOKEN)) else { return false };
    let kind = kind.strip_prefix(DRAFT.as_bytes());
    let beside = kind.is_some_and(|kind| kind.is_empty() || BESIDE.iter().any(|own| own.as_bytes() == kind));
    beside && token.iter().all(u8::is_ascii_hexdigit)
}

/// Renames unless something is at the new name, in one step.
#[cfg(target_os = "linux")]
fn rename_to_nothing(from: &Path, to: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE)?)
}

#[cfg(not(target_os = "linux"))]
fn rename_to_nothing(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
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
