//! SQLite file with its single connection: one call at a time, with bounded retries.
//!
//! SQLite has a single writer anyway. A connection on which a call was dropped midway, or failed with more than the
//! call's own error, is closed and never reused: its reply must not reach the next caller.

use std::{path::PathBuf, time::Duration};

use sequent_core::{Env, ErrorKind, SourceError};
use tokio::sync::Mutex;

use super::{
    SqliteOptions,
    connect::Opening,
    connection::{Connection, Tables},
    connection_slot::{ConnectionSlot, Loan},
    fault::forbids_closing,
    file_identity::Place,
    poisoned_files,
};
use crate::net::{Connections, Fault, ON_FILES, Retry, Run, Terms};

/// Pause of a close before it asks a disk again that did not answer.
const CLOSE_PAUSE: Duration = Duration::from_millis(100);

/// Time for which a file in use must be found damaged before it is reported to an operator. While a copy is written
/// over it, its contents are temporarily invalid.
const DAMAGED_MIN: Duration = Duration::from_secs(10);

/// A file, shared by all its users in this process.
pub struct Database {
    place: Place,
    tables: &'static Tables,
    options: SqliteOptions,
    slot: Mutex<ConnectionSlot>,
    /// Whether its connection is read-only.
    looks: bool,
}

impl Database {
    pub(super) fn new(path: PathBuf, tables: &'static Tables, options: SqliteOptions) -> Self {
        let place = Place::new(path, options.env.clock.clone());
        Self { place, tables, options, slot: Mutex::default(), looks: false }
    }

    /// The connection to the file now at the path.
    async fn settle(&self, slot: &mut ConnectionSlot) -> Result<Connection, Fault> {
        // Before the check of the path, so that the arrived connection is compared with the path's later state.
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
            && connection.inner.file == found.file
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

    async fn attempts<T: Send>(
        &self,
        mut loan: Loan<'_>,
        terms: Terms<'_>,
        run: &Run<'_, Connection, T>,
        retry: &mut Retry<'_>,
    ) -> Result<T, Fault> {
        let Some(connection) = &mut loan.connection else {
            return Err(Fault::away("no connection"));
        };
        let done = retry.attempts(connection, terms, run).await;
        let file = connection.inner.file;
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
            // The file in which the call counted is not the one that the next call will find, so its numbers are
            // discarded.
            let gone = format!("the file at the path is no longer {file}");
            return Err(SourceError::new(ErrorKind::InstanceChanged, gone).into());
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

    /// A damaged file needs an operator. One that was in use counts as temporary until it stays damaged for
    /// [`DAMAGED_MIN`].
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

    /// Runs on a connection to the file that is at the path both before and after the call.
    async fn perform<T: Send>(
        &self,
        terms: Terms<'_>,
        run: &Run<'_, Connection, T>,
    ) -> Result<T, SourceError> {
        // The limit begins before the wait for the slot. A call that waits behind others, which wait for a lock, still
        // has to report contention itself in time.
        let mut retry = Retry::new(&ON_FILES, &self.options.env);
        let mut slot = self.slot.lock().await;
        let done = match self.settle(&mut slot).await {
            Ok(connection) => {
                let loan = Loan { connection: Some(connection), slot };
                self.attempts(loan, terms, run, &mut retry).await
            }
            Err(fault) => Err(self.judge(&mut slot, fault)),
        };
        done.map_err(|fault| fault.into_error(&format!("{} {} {}", terms.name, self.tables.kind, self.place)))
    }

    /// Only for a process without another connection to this file.
    async fn look<T: Send>(&self, terms: Terms<'_>, run: &Run<'_, Connection, T>) -> Result<T, SourceError> {
        let options = SqliteOptions { create: false, ..self.options.clone() };
        let looking = Self { looks: true, ..Self::new(self.place.path().to_owned(), self.tables, options) };
        let found = looking.perform(terms, run).await;
        looking.close().await;
        found
    }

    async fn is_connected(&self) -> bool {
        self.slot.lock().await.connection.is_some()
    }

    /// Closes the connection. The last process that closes a file removes `-wal` and `-shm`.
    ///
    /// This waits for as long as the disk does not answer; a caller that can't wait drops the future.
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
        // A connection that can't be closed now is kept open and unused.
        let _ = slot.left().await;
    }
}

#[cfg(test)]
mod tests;
