//! Opening of a SQLite connection: creates the file if allowed, connects, and checks that it is still at its path.
//!
//! It runs in a task of its own. A caller may stop waiting, and on a hanging disk the next call must not begin another
//! opening.

use std::time::Instant;

use sequent_core::Condition;
use tokio::task::JoinHandle;

use super::{
    SqliteOptions, atomic_create,
    connection::{Connection, Tables},
    file_identity::{Found, Place},
    poisoned_files,
};
use crate::net::{Cause, Fault, ON_FILES, Retry};

/// The most tries if the file is replaced while it is being opened.
const OPEN_ROUNDS_MAX: usize = 4;

/// The parameters of an opening.
pub(super) struct Opening {
    pub(super) place: Place,
    pub(super) tables: &'static Tables,
    pub(super) options: SqliteOptions,
    /// Whether this process has created the file or connected to it before.
    pub(super) used: bool,
    /// Whether the connection is read-only, so that nothing is changed.
    pub(super) looks: bool,
}

/// A connection being opened.
pub(super) struct Coming {
    pub(super) since: Instant,
    pub(super) task: JoinHandle<(bool, Result<Connection, Fault>)>,
}

impl Opening {
    /// Starts the opening.
    pub(super) fn begin(self) -> Coming {
        Coming { since: self.options.env.clock.now(), task: tokio::spawn(self.run()) }
    }

    /// The connection, and whether the file counts as used now.
    async fn run(mut self) -> (bool, Result<Connection, Fault>) {
        let done = self.open().await;
        (self.used || done.is_ok(), done)
    }

    async fn open(&mut self) -> Result<Connection, Fault> {
        let options = self.options.clone();
        let mut retry = Retry::new(&ON_FILES, &options.env);
        for _ in 0..OPEN_ROUNDS_MAX {
            let Some(found) = self.place.look().await? else {
                if self.used || !options.create {
                    return Err(missing(self.used));
                }
                self.create(&mut retry).await?;
                continue;
            };
            let Found { file, .. } = found;
            poisoned_files::check(file)?;
            found.only_name()?;
            let mut connection = loop {
                match Connection::open(&self.place, file, self.tables, options.env.clone(), self.looks).await
                {
                    Err(fault @ Fault::Busy(_)) => retry.after(fault).await?,
                    other => break other?,
                }
            };
            if let Some(found) = self.place.look().await?
                && found.file == file
            {
                connection.inner.settle_on(&found);
                return Ok(connection);
            }
            connection.close_checked().await;
        }
        Err(Fault::away("the file changes faster than it can be opened"))
    }

    async fn create(&mut self, retry: &mut Retry<'_>) -> Result<(), Fault> {
        loop {
            match atomic_create::create(&self.place, self.tables, &self.options.env, &mut self.used).await {
                Err(fault @ Fault::Busy(_)) => retry.after(fault).await?,
                other => return other,
            }
        }
    }
}

/// The fault for a missing file that may not be created.
fn missing(used: bool) -> Fault {
    let text = if used {
        "the file was deleted or moved away while this process used it, and no new one is made in its place: put it \
         back, with its -wal if there is one; if it is a shard's and lost for good, restart this process without it"
    } else {
        "no file is there, and none may be made"
    };
    let condition = if used { Condition::Removed } else { Condition::NeverMade };
    Fault::away(Cause::from(text).with(condition))
}
