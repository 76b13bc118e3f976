//! Connection slot: the single connection of a file in this process, while it opens, is idle, is on loan to a call, or
//! closes.

use std::{sync::Arc, time::Instant};

use sequent_core::Clock;
use tokio::{runtime::Handle, sync::MutexGuard, task::JoinHandle, time::timeout};

use super::{
    connect::{Coming, Opening},
    connection::Connection,
    disk_gate::ANSWER_MAX,
    fault::mute,
    file_identity::Found,
    poisoned_files,
};
use crate::net::{Cause, Fault};

/// The slot of the single connection.
#[derive(Default)]
pub(super) struct ConnectionSlot {
    pub(super) connection: Option<Connection>,
    /// A connection being opened, whichever call began it.
    pub(super) coming: Option<Coming>,
    /// A connection being closed. Two connections to different files under one name must never overlap: they would
    /// share the `-shm` beside it.
    leaving: Option<JoinHandle<Option<Connection>>>,
    /// A connection that must not be used again, and can't be closed before its files can be written.
    aside: Option<Connection>,
    /// Whether this process has created the file or connected to it before.
    pub(super) used: bool,
    /// Since when each attempt has found the file damaged.
    pub(super) damaged_since: Option<Instant>,
}

impl ConnectionSlot {
    /// Opens a connection. A call that stops waiting leaves it to the next call.
    pub(super) async fn open(&mut self, opening: Opening) -> Result<Connection, Fault> {
        self.coming = Some(opening.begin());
        self.arrived().await.unwrap_or_else(|| Err(Fault::away("no connection")))?;
        self.connection.take().ok_or_else(|| Fault::away("no connection"))
    }

    /// Waits for the connection being opened, and takes it; `None` if there is none.
    pub(super) async fn arrived(&mut self) -> Option<Result<(), Fault>> {
        let coming = self.coming.as_mut()?;
        let came = (&mut coming.task).await;
        self.coming = None;
        let (used, came) = match came {
            Ok((used, came)) => (used, came),
            Err(error) => (self.used, Err(Fault::away(error.to_string()))),
        };
        self.used |= used;
        Some(came.map(|connection| self.connection = Some(connection)))
    }

    /// As `arrived`, for a connection that an earlier call began and no longer waits for. Its error does not concern
    /// this call, unless the disk hangs.
    pub(super) async fn arrived_in_time(&mut self, clock: &Arc<dyn Clock>) -> Result<(), Fault> {
        let Some(coming) = &self.coming else { return Ok(()) };
        let left = ANSWER_MAX.saturating_sub(clock.now().saturating_duration_since(coming.since));
        timeout(left, self.arrived()).await.map(drop).map_err(|_| mute())
    }

    /// Begins to close the connection, if there is one.
    pub(super) fn dismiss(&mut self) {
        if let Some(connection) = self.connection.take() {
            self.send_off(connection);
        }
    }

    /// The close runs in a task of its own: no later call may come for long, while other processes wait for its locks.
    fn send_off(&mut self, connection: Connection) {
        match Handle::try_current() {
            Ok(runtime) => self.leaving = Some(runtime.spawn(connection.close_checked())),
            Err(_) => drop(connection),
        }
    }

    /// Leaks every connection without closing it. Their threads and locks end with the process.
    pub(super) fn abandon(&mut self) {
        std::mem::forget((self.connection.take(), self.aside.take()));
    }

    /// Whether a connection was severed from its log. It is then leaked, and its file noted.
    pub(super) fn sever(&mut self, found: &Found) -> bool {
        let severed = [&self.connection, &self.aside]
            .into_iter()
            .flatten()
            .any(|connection| connection.inner.is_severed(found));
        if severed {
            poisoned_files::note(found.file);
            self.abandon();
        }
        severed
    }

    /// Waits until the closing connection is gone. The caller has checked that the files can be written.
    pub(super) async fn left(&mut self) -> Result<(), Fault> {
        if let Some(connection) = self.aside.take() {
            self.send_off(connection);
        }
        let Some(leaving) = &mut self.leaving else { return Ok(()) };
        let kept = leaving.await;
        self.leaving = None;
        if let Ok(Some(connection)) = kept {
            self.aside = Some(connection);
            let cause = "a connection could not be closed: its files could not be written, or their disk did not answer";
            return Err(Fault::Frozen(Cause::from(cause)));
        }
        Ok(())
    }
}

/// A connection on loan to a call. If it is dropped before it is given back, it is closed.
pub(super) struct Loan<'a> {
    pub(super) connection: Option<Connection>,
    pub(super) slot: MutexGuard<'a, ConnectionSlot>,
}

impl Loan<'_> {
    pub(super) fn give_back(mut self) {
        self.slot.connection = self.connection.take();
    }

    /// If the connection was severed from its log, puts it back into the slot, which leaks it.
    pub(super) fn sever(&mut self, found: &Found) -> bool {
        let severed = self.connection.as_ref().is_some_and(|connection| connection.inner.is_severed(found));
        if severed {
            self.slot.connection = self.connection.take();
            self.slot.sever(found);
        }
        severed
    }

    /// Keeps the connection unused and open, until the files can be written.
    pub(super) fn set_aside(mut self) {
        self.slot.aside = self.connection.take();
    }
}

impl Drop for Loan<'_> {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            self.slot.send_off(connection);
        }
    }
}
