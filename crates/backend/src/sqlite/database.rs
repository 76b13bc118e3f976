//! One file and its one connection: verbs one at a time, bounded retries, and connections that are given up.
//!
//! SQLite has one writer at a time anyway. A connection on which a verb was dropped midway, or failed with more than
//! an answer, is closed and never used again: its reply must not reach the next caller.

use std::{path::PathBuf, time::Duration};

use sequent_core::{Env, ErrorKind, SourceError};
use tokio::sync::Mutex;

use super::{
    SqliteOptions,
    connection::{Connection, Tables},
    connection_slot::{ConnectionSlot, Loan},
    fault::forbids_closing,
    opening::Opening,
    place::Place,
    poisoned_files,
};
use crate::net::{Connections, Fault, ON_FILES, Operation, Retry};

/// How long a close waits before it asks a disk again that did not answer.
const CLOSE_PAUSE: Duration = Duration::from_millis(100);

/// How long a file in use must be found damaged before a person is called for: while a copy is put over it, it makes no
/// sense, and once that is done it may.
const DAMAGED_MIN: Duration = Duration::from_secs(10);

/// A file, whoever uses it in this process.
pub struct Database {
    place: Place,
    tables: &'static Tables,
    options: SqliteOptions,
    slot: Mutex<ConnectionSlot>,
    /// Whether its connection is there to look.
    looks: bool,
}

impl Database {
    pub(super) fn new(path: PathBuf, tables: &'static Tables, options: SqliteOptions) -> Self {
        let place = Place::new(path, options.env.clock.clone());
        Self { place, tables, options, slot: Mutex::default(), looks: false }
    }

    /// The connection to the file that is at the path now.
    async fn settle(&self, slot: &mut ConnectionSlot) -> Result<Connection, Fault> {
        // First, so that the look is the later one: what came in meanwhile is compared with it.
        slot.arrived_in_time(&self.options.env.clock).await?;
        let found = match self.place.look().await {
            Err(fault) if forbids_closing(&fault) => return Err(fault),
            found => found,
        };
        if let Ok(Some(found)) = &found
            && slot.sever(found)
        {
            return Err(poisoned_files::fault());
        }
        slot.left().await?;
        if let (Some(connection), Ok(Some(found))) = (&slot.connection, &found)
            && connection.file() == found.file
            && let Some(connection) = slot.connection.take()
        {
            return Ok(connection);
        }
        slot.dismiss();
        slot.left().await?;
        found?;
        let (place, tables, options) = (self.place.clone(), self.tables, self.options.clone());
        slot.open(Opening { place, tables, options, used: slot.used, looks: self.looks }).await
    }

    async fn attempts<O: Operation<Connection>>(
        &self,
        mut loan: Loan<'_>,
        operation: &O,
        retry: &mut Retry<'_>,
    ) -> Result<O::Out, Fault> {
        let Some(connection) = &mut loan.connection else {
            return Err(Fault::away("no connection"));
        };
        let done = retry.attempts(connection, operation).await;
        let file = connection.file();
        let found = match self.place.look().await {
            Err(fault) if forbids_closing(&fault) => {
                loan.set_aside();
                return Err(fault);
            }
            found => found.ok().flatten(),
        };
        if let Some(found) = &found
            && loan.sever(found)
        {
            return Err(poisoned_files::fault());
        }
        if found.map(|found| found.file) != Some(file) {
            // What it counted in is not what the next caller will find: its numbers are burnt.
            let gone = format!("the file at the path is no longer {file}");
            return Err(SourceError::new(ErrorKind::Reborn, gone).into());
        }
        match done {
            Err(fault @ (Fault::Broken(..) | Fault::Damaged(_))) => Err(self.judge(&mut loan.slot, fault)),
            done => {
                if matches!(done, Ok(_) | Err(Fault::Answer(_))) {
                    loan.slot.damaged_since = None;
                }
                loan.give_back();
                done
            }
        }
    }

    /// A damaged file is for a person to mend, but where it was in use, only if it stays so for a while.
    fn judge(&self, slot: &mut ConnectionSlot, fault: Fault) -> Fault {
        let Fault::Damaged(cause) = fault else { return fault };
        let now = self.options.env.clock.now();
        let since = *slot.damaged_since.get_or_insert(now);
        let lasts = !slot.used || now.saturating_duration_since(since) >= DAMAGED_MIN;
        Fault::Broken(if lasts { ErrorKind::Refused } else { ErrorKind::Unavailable }, cause)
    }
}

impl Connections for Database {
    type Connection = Connection;

    fn env(&self) -> &Env {
        &self.options.env
    }

    /// On a connection to the file that is at the path before and after.
    async fn perform<O: Operation<Connection>>(&self, operation: O) -> Result<O::Out, SourceError> {
        // From here: one that waits for others, which wait for a lock, must still have time to say so itself.
        let mut retry = Retry::new(&ON_FILES, &self.options.env);
        let mut slot = self.slot.lock().await;
        let done = match self.settle(&mut slot).await {
            Ok(connection) => {
                let loan = Loan { connection: Some(connection), slot };
                self.attempts(loan, &operation, &mut retry).await
            }
            Err(fault) => Err(self.judge(&mut slot, fault)),
        };
        done.map_err(|fault| {
            fault.into_error(&format!("{} {} {}", operation.name(), self.tables.kind, self.place))
        })
    }

    /// Only for a process that has no other connection to this file.
    async fn look<O: Operation<Connection>>(&self, operation: O) -> Result<O::Out, SourceError> {
        let options = SqliteOptions { create: false, ..self.options.clone() };
        let looking = Self { looks: true, ..Self::new(self.place.path().to_owned(), self.tables, options) };
        let found = looking.perform(operation).await;
        looking.close().await;
        found
    }

    async fn perform_if_connected<O: Operation<Connection>>(
        &self,
        operation: O,
    ) -> Result<Option<O::Out>, SourceError> {
        let is_connected = self.slot.lock().await.connection.is_some();
        if is_connected { self.perform(operation).await.map(Some) } else { Ok(None) }
    }

    /// The last process to leave a file takes `-wal` and `-shm` with it.
    ///
    /// It lasts as long as the disk does not answer: whoever can't wait for that gives up on it.
    async fn close(&self) {
        let mut slot = self.slot.lock().await;
        slot.arrived().await;
        loop {
            match self.place.look().await {
                Err(Fault::Mute(_)) => tokio::time::sleep(CLOSE_PAUSE).await,
                Err(Fault::Frozen(_)) => return slot.abandon(),
                Ok(Some(found)) if slot.sever(&found) => return,
                _ => break,
            }
        }
        slot.dismiss();
        // One that can't be closed now is kept, and left alone.
        let _ = slot.left().await;
    }
}

#[cfg(test)]
mod tests;
