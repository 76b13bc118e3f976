//! One file and its one connection: verbs one at a time, bounded retries, and connections that are given up.
//!
//! SQLite has one writer at a time anyway. A connection on which a verb was dropped midway, or failed with more than
//! an answer, is closed and never used again: its reply must not reach the next caller.

use std::{path::PathBuf, time::Duration};

use sequent_core::{ErrorKind, SourceError};
use tokio::sync::Mutex;

use super::{
    SqliteOptions,
    fault::Fault,
    link::{Kind, Link},
    opening::Opening,
    patience::Patience,
    place::Place,
    seat::{Loan, Seat},
    severed,
    work::attempt,
};
use crate::sql::Work;

/// How long a close waits before it asks a disk again that did not answer.
const CLOSE_PAUSE: Duration = Duration::from_millis(100);

/// How long a file in use must be found damaged before a person is called for: while a copy is put over it, it makes no
/// sense, and once that is done it may.
const DAMAGED_MIN: Duration = Duration::from_secs(10);

/// A file, whoever uses it in this process.
pub(super) struct Database {
    place: Place,
    kind: &'static Kind,
    options: SqliteOptions,
    seat: Mutex<Seat>,
    /// Whether its connection is there to look.
    looks: bool,
}

impl Database {
    pub(super) fn new(path: PathBuf, kind: &'static Kind, options: SqliteOptions) -> Self {
        let place = Place::new(path, options.clock.clone());
        Self { place, kind, options, seat: Mutex::default(), looks: false }
    }

    pub(super) fn options(&self) -> &SqliteOptions {
        &self.options
    }

    /// Runs a verb on a connection to the file that is at the path before and after.
    pub(super) async fn perform<W: Work<Link>>(&self, work: W) -> Result<W::Out, SourceError> {
        let verb = work.verb();
        // From here: a verb that waits for others' verbs, which wait for a lock, must still have time to say so itself.
        let mut patience = Patience::new(&self.options);
        let mut seat = self.seat.lock().await;
        let done = match self.settle(&mut seat).await {
            Ok(link) => self.attempts(Loan { link: Some(link), seat }, &work, &mut patience).await,
            Err(fault) => Err(self.judge(&mut seat, fault)),
        };
        done.map_err(|fault| fault.into_error(&format!("{} {} {}", verb, self.kind.word, self.place)))
    }

    /// Runs what only reads on a connection of its own, on which nothing can be changed. Only for a process that has no
    /// other one to this file.
    pub(super) async fn look<W: Work<Link>>(&self, work: W) -> Result<W::Out, SourceError> {
        let options = SqliteOptions { create: false, ..self.options.clone() };
        let looking = Self { looks: true, ..Self::new(self.place.path().to_owned(), self.kind, options) };
        let found = looking.perform(work).await;
        looking.close().await;
        found
    }

    /// Runs a verb if there is a connection to run it on.
    pub(super) async fn perform_if_connected<W: Work<Link>>(
        &self,
        work: W,
    ) -> Result<Option<W::Out>, SourceError> {
        let connected = self.seat.lock().await.link.is_some();
        if connected { self.perform(work).await.map(Some) } else { Ok(None) }
    }

    /// Closes the connection. The last process to leave a file takes `-wal` and `-shm` with it.
    ///
    /// It lasts as long as the disk does not answer: whoever can't wait for that gives up on it.
    pub(super) async fn close(&self) {
        let mut seat = self.seat.lock().await;
        seat.arrived().await;
        loop {
            match self.place.look().await {
                Err(Fault::Mute(_)) => tokio::time::sleep(CLOSE_PAUSE).await,
                Err(Fault::Frozen(_)) => return seat.abandon(),
                Ok(Some(found)) if seat.sever(&found) => return,
                _ => break,
            }
        }
        seat.dismiss();
        // One that can't be closed now is kept, and left alone.
        let _ = seat.left().await;
    }

    /// The connection to the file that is at the path now.
    async fn settle(&self, seat: &mut Seat) -> Result<Link, Fault> {
        // First, so that the look is the later one: what came in meanwhile is compared with it.
        seat.arrived_in_time(&self.options.clock).await?;
        let found = match self.place.look().await {
            Err(fault) if fault.forbids_closing() => return Err(fault),
            found => found,
        };
        if let Ok(Some(found)) = &found
            && seat.sever(found)
        {
            return Err(severed::fault());
        }
        seat.left().await?;
        if let (Some(link), Ok(Some(found))) = (&seat.link, &found)
            && link.file() == found.file
            && let Some(link) = seat.link.take()
        {
            return Ok(link);
        }
        seat.dismiss();
        seat.left().await?;
        found?;
        let (place, kind, options) = (self.place.clone(), self.kind, self.options.clone());
        seat.open(Opening { place, kind, options, used: seat.used, looks: self.looks }).await
    }

    async fn attempts<W: Work<Link>>(
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
        let found = match self.place.look().await {
            Err(fault) if fault.forbids_closing() => {
                loan.set_aside();
                return Err(fault);
            }
            found => found.ok().flatten(),
        };
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
        match done {
            Err(fault @ (Fault::Broken(..) | Fault::Damaged(_))) => Err(self.judge(&mut loan.seat, fault)),
            done => {
                if matches!(done, Ok(_) | Err(Fault::Answer(_))) {
                    loan.seat.damaged_since = None;
                }
                loan.give_back();
                done
            }
        }
    }

    /// A damaged file is for a person to mend, but where it was in use, only if it stays so for a while.
    fn judge(&self, seat: &mut Seat, fault: Fault) -> Fault {
        let Fault::Damaged(cause) = fault else { return fault };
        let now = self.options.clock.now();
        let since = *seat.damaged_since.get_or_insert(now);
        let lasts = !seat.used || now.saturating_duration_since(since) >= DAMAGED_MIN;
        Fault::Broken(if lasts { ErrorKind::Refused } else { ErrorKind::Unavailable }, cause)
    }
}

#[cfg(test)]
mod tests;
