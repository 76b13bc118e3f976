//! How a connection comes in: the file made if need be, opened, and still at its path.
//!
//! In a task of its own: whoever waits for it may go away, and where the disk hangs, what was begun must not be begun
//! again and again.

use std::time::Instant;

use sequent_core::Condition;
use tokio::task::JoinHandle;

use super::{
    SqliteOptions, atomic_create,
    connection::{Connection, Tables},
    place::{Found, Place},
    poisoned_files,
};
use crate::net::{Cause, Fault, ON_FILES, Retry};

/// How often a file that is replaced while it is being opened is tried again.
const OPEN_ROUNDS_MAX: usize = 4;

/// What is to be opened.
pub(super) struct Opening {
    pub(super) place: Place,
    pub(super) tables: &'static Tables,
    pub(super) options: SqliteOptions,
    /// Whether the file was made here, or connected to, before.
    pub(super) used: bool,
    /// Whether it is opened to look, so that nothing is changed.
    pub(super) looks: bool,
}

/// A connection on its way in.
pub(super) struct Coming {
    pub(super) since: Instant,
    pub(super) task: JoinHandle<(bool, Result<Connection, Fault>)>,
}

impl Opening {
    /// Begins it.
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
                connection.settle_on(&found);
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

/// What is said where no file is, and none is made.
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
