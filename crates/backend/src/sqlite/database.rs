//! One file and its one connection: verbs one at a time, bounded retries, and connections that are given up.
//!
//! SQLite has one writer at a time anyway. A connection on which a verb was dropped midway, or failed with more than
//! an answer, is closed and never used again: its reply must not reach the next caller.

use std::{path::PathBuf, time::Duration};

use sequent_core::{ErrorKind, SourceError};
use tokio::sync::Mutex;

use super::{
    SqliteOptions, create,
    fault::Fault,
    link::{Kind, Link},
    patience::Patience,
    place::{Found, Place},
    seat::{Loan, Seat},
    severed,
    work::{Work, attempt},
};

/// How often a file that is replaced while it is being opened is tried again.
const OPEN_ROUNDS_MAX: usize = 4;

/// How long a file that this process has used must be gone before another is made in its place: who restores a copy
/// by `rm` and `cp` shall not find a new file between the two.
const GONE_MIN: Duration = Duration::from_secs(3);

/// A file, whoever uses it in this process.
pub(super) struct Database {
    place: Place,
    kind: &'static Kind,
    options: SqliteOptions,
    seat: Mutex<Seat>,
}

impl Database {
    pub(super) fn new(path: PathBuf, kind: &'static Kind, options: SqliteOptions) -> Self {
        Self { place: Place::new(path), kind, options, seat: Mutex::default() }
    }

    pub(super) fn options(&self) -> &SqliteOptions {
        &self.options
    }

    /// Runs a verb on a connection to the file that is at the path before and after.
    pub(super) async fn perform<W: Work>(&self, work: W) -> Result<W::Out, SourceError> {
        let mut seat = self.seat.lock().await;
        let mut patience = Patience::new(&self.options);
        let done = match self.settle(&mut seat, &mut patience).await {
            Ok(link) => self.attempts(Loan { link: Some(link), seat }, &work, &mut patience).await,
            Err(fault) => Err(fault),
        };
        done.map_err(|fault| fault.into_error(&format!("{} {} {}", W::VERB, self.kind.word, self.place)))
    }

    /// Closes the connection. The last process to leave a file takes `-wal` and `-shm` with it.
    pub(super) async fn close(&self) {
        let mut seat = self.seat.lock().await;
        match self.place.look().await {
            Err(Fault::Frozen(_)) => return seat.abandon(),
            Ok(Some(found)) if seat.sever(&found) => return,
            _ => {}
        }
        seat.dismiss();
        seat.left().await;
    }

    /// The connection to the file that is at the path now.
    async fn settle(&self, seat: &mut Seat, patience: &mut Patience<'_>) -> Result<Link, Fault> {
        let found = self.place.look().await;
        if let Err(Fault::Frozen(cause)) = found {
            return Err(Fault::Frozen(cause));
        }
        if let Ok(Some(found)) = &found
            && seat.sever(found)
        {
            return Err(severed::fault());
        }
        seat.left().await;
        if let (Some(link), Ok(Some(found))) = (&seat.link, &found)
            && link.file() == found.file
            && let Some(link) = seat.link.take()
        {
            return Ok(link);
        }
        seat.dismiss();
        seat.left().await;
        let make = found?.is_none() && self.may_make(seat);
        let link = self.open(make, patience).await?;
        (seat.used, seat.gone_since) = (true, None);
        Ok(link)
    }

    /// Whether a missing file may be made now.
    fn may_make(&self, seat: &mut Seat) -> bool {
        let now = self.options.clock.now();
        let since = *seat.gone_since.get_or_insert(now);
        self.options.create && (!seat.used || now.saturating_duration_since(since) >= GONE_MIN)
    }

    async fn open(&self, make: bool, patience: &mut Patience<'_>) -> Result<Link, Fault> {
        for _ in 0..OPEN_ROUNDS_MAX {
            let Some(Found { file, .. }) = self.place.look().await? else {
                if !make {
                    return Err(self.missing());
                }
                self.create(patience).await?;
                continue;
            };
            severed::check(file)?;
            let mut link = loop {
                let clock = self.options.clock.clone();
                match Link::open(&self.place, file, self.kind, clock).await {
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

    fn missing(&self) -> Fault {
        let cause = if self.options.create {
            format!("the file is gone: if it stays so for {GONE_MIN:?}, a new one is made")
        } else {
            "no file is there, and none may be made".to_owned()
        };
        Fault::broken(ErrorKind::Unavailable, cause)
    }

    async fn create(&self, patience: &mut Patience<'_>) -> Result<(), Fault> {
        loop {
            match create::create(&self.place, self.kind, &*self.options.entropy).await {
                Err(Fault::Busy(cause)) => patience.after(cause).await?,
                other => return other,
            }
        }
    }

    async fn attempts<W: Work>(
        &self,
        mut loan: Loan<'_>,
        work: &W,
        patience: &mut Patience<'_>,
    ) -> Result<W::Out, Fault> {
        let Some(link) = &mut loan.link else {
            return Err(Fault::broken(ErrorKind::Unavailable, "no connection"));
        };
        let done = loop {
            match attempt(link, work).await {
                Err(Fault::Busy(cause)) => match patience.after(cause).await {
                    Ok(()) => {}
                    Err(fault) => break Err(fault),
                },
                other => break other,
            }
        };
        let file = link.file();
        let found = self.place.look().await;
        if let Err(Fault::Frozen(cause)) = found {
            loan.set_aside();
            return Err(Fault::Frozen(cause));
        }
        let found = found.ok().flatten();
        if let Some(found) = &found
            && loan.sever(found)
        {
            return Err(severed::fault());
        }
        if found.map(|found| found.file) != Some(file) {
            // What it counted in is not what the next caller will find: its numbers are burnt.
            let gone = format!("the file at the path is no longer {file}");
            return Err(SourceError::new(ErrorKind::Reborn, gone).into());
        }
        if !matches!(done, Err(Fault::Broken(..))) {
            loan.give_back();
        }
        done
    }
}
