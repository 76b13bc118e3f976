//! The one connection of a file in this process: on its way in, in its place, on loan to a verb, or on its way out.

use std::{sync::Arc, time::Instant};

use sequent_core::Clock;
use tokio::{runtime::Handle, sync::MutexGuard, task::JoinHandle, time::timeout};

use super::{
    connection::Connection,
    disk_gate::ANSWER_MAX,
    fault::mute,
    opening::{Coming, Opening},
    place::Found,
    poisoned_files,
};
use crate::net::{Cause, Fault};

/// The place of the one connection.
#[derive(Default)]
pub(super) struct ConnectionSlot {
    pub(super) connection: Option<Connection>,
    /// A connection on its way in, whoever began it.
    pub(super) coming: Option<Coming>,
    /// A connection on its way out. Two connections to different files under one name must never overlap: they
    /// would share the `-shm` beside it.
    leaving: Option<JoinHandle<Option<Connection>>>,
    /// A connection that must not be used again, and can't be closed before its files may be written.
    aside: Option<Connection>,
    /// Whether the file was made here, or connected to, before.
    pub(super) used: bool,
    /// Since when the file has been found damaged each time.
    pub(super) damaged_since: Option<Instant>,
}

impl ConnectionSlot {
    /// A new connection. Whoever stops waiting for it leaves it to the next.
    pub(super) async fn open(&mut self, opening: Opening) -> Result<Connection, Fault> {
        self.coming = Some(opening.begin());
        self.arrived().await.unwrap_or_else(|| Err(Fault::away("no connection")))?;
        self.connection.take().ok_or_else(|| Fault::away("no connection"))
    }

    /// Waits until a connection on its way in is there, and takes it; `None` where none was on its way.
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

    /// The same for a connection that an earlier verb asked for, and stopped waiting for. Why that one failed is no matter
    /// to this verb, unless the disk hangs.
    pub(super) async fn arrived_in_time(&mut self, clock: &Arc<dyn Clock>) -> Result<(), Fault> {
        let Some(coming) = &self.coming else { return Ok(()) };
        let left = ANSWER_MAX.saturating_sub(clock.now().saturating_duration_since(coming.since));
        timeout(left, self.arrived()).await.map(drop).map_err(|_| mute())
    }

    /// Sends the connection on its way out, if there is one.
    pub(super) fn dismiss(&mut self) {
        if let Some(connection) = self.connection.take() {
            self.send_off(connection);
        }
    }

    /// In a task of its own: nobody else may come by for long, and others wait for its locks.
    fn send_off(&mut self, connection: Connection) {
        match Handle::try_current() {
            Ok(runtime) => self.leaving = Some(runtime.spawn(connection.close_checked())),
            Err(_) => drop(connection),
        }
    }

    /// Lets go of every connection without closing it: its thread and its locks end with the process.
    pub(super) fn abandon(&mut self) {
        std::mem::forget((self.connection.take(), self.aside.take()));
    }

    /// Whether a connection was severed from its log. It is then abandoned, and the file noted.
    pub(super) fn sever(&mut self, found: &Found) -> bool {
        let severed = [&self.connection, &self.aside]
            .into_iter()
            .flatten()
            .any(|connection| connection.is_severed(found));
        if severed {
            poisoned_files::note(found.file);
            self.abandon();
        }
        severed
    }

    /// Waits until a connection on its way out is gone. The files were seen to be such as may be written.
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

/// The connection while a verb has it. Dropped before it is given back, it is sent away.
pub(super) struct Loan<'a> {
    pub(super) connection: Option<Connection>,
    pub(super) slot: MutexGuard<'a, ConnectionSlot>,
}

impl Loan<'_> {
    pub(super) fn give_back(mut self) {
        self.slot.connection = self.connection.take();
    }

    /// Gives the connection back if it was severed from its log, only for it to be abandoned.
    pub(super) fn sever(&mut self, found: &Found) -> bool {
        let severed = self.connection.as_ref().is_some_and(|connection| connection.is_severed(found));
        if severed {
            self.slot.connection = self.connection.take();
            self.slot.sever(found);
        }
        severed
    }

    /// Neither used again nor closed, until the files may be written.
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
