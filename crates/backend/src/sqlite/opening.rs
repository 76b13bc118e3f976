//! How a connection comes in: the file made if need be, opened, and still at its path.
//!
//! In a task of its own: whoever waits for it may go away, and where the disk hangs, what was begun must not be begun
//! again and again.

use std::time::Instant;

use sequent_core::ErrorKind;
use tokio::task::JoinHandle;

use super::{
    SqliteOptions, create,
    fault::Fault,
    link::{Kind, Link},
    patience::Patience,
    place::{Found, Place},
    severed,
};

/// How often a file that is replaced while it is being opened is tried again.
const OPEN_ROUNDS_MAX: usize = 4;

/// What is to be opened.
pub(super) struct Opening {
    pub(super) place: Place,
    pub(super) kind: &'static Kind,
    pub(super) options: SqliteOptions,
    /// Whether the file was made here, or connected to, before.
    pub(super) used: bool,
    /// Whether it is opened to look, so that nothing is changed.
    pub(super) looks: bool,
}

/// A connection on its way in.
pub(super) struct Coming {
    pub(super) since: Instant,
    pub(super) task: JoinHandle<(bool, Result<Link, Fault>)>,
}

impl Opening {
    /// Begins it.
    pub(super) fn begin(self) -> Coming {
        Coming { since: self.options.clock.now(), task: tokio::spawn(self.run()) }
    }

    /// The connection, and whether the file counts as used now.
    async fn run(mut self) -> (bool, Result<Link, Fault>) {
        let done = self.open().await;
        (self.used || done.is_ok(), done)
    }

    async fn open(&mut self) -> Result<Link, Fault> {
        let options = self.options.clone();
        let mut patience = Patience::new(&options);
        for _ in 0..OPEN_ROUNDS_MAX {
            let Some(found) = self.place.look().await? else {
                if self.used || !options.create {
                    return Err(missing(self.used));
                }
                self.create(&mut patience).await?;
                continue;
            };
            let Found { file, .. } = found;
            severed::check(file)?;
            found.only_name()?;
            let mut link = loop {
                match Link::open(&self.place, file, self.kind, options.clock.clone(), self.looks).await {
                    Err(Fault::Busy(cause)) => patience.after(cause).await?,
                    other => break other?,
                }
            };
            if let Some(found) = self.place.look().await?
                && found.file == file
            {
                link.settle_on(&found);
                return Ok(link);
            }
            link.close().await;
        }
        Err(Fault::broken(ErrorKind::Unavailable, "the file changes faster than it can be opened"))
    }

    async fn create(&mut self, patience: &mut Patience<'_>) -> Result<(), Fault> {
        loop {
            match create::create(&self.place, self.kind, &*self.options.entropy, &mut self.used).await {
                Err(Fault::Busy(cause)) => patience.after(cause).await?,
                other => return other,
            }
        }
    }
}

/// What is said where no file is, and none is made.
fn missing(used: bool) -> Fault {
    let cause = if used {
        "the file was deleted or moved away while this process used it, and no new one is made in its place: put it \
         back, with its -wal if there is one; if it is a shard's and lost for good, restart this process without it"
    } else {
        "no file is there, and none may be made"
    };
    Fault::broken(ErrorKind::Unavailable, cause)
}
