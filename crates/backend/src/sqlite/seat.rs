//! The one connection of a file in this process: on its way in, in its place, on loan to a verb, or on its way out.

use std::{sync::Arc, time::Instant};

use sequent_core::{Clock, ErrorKind};
use tokio::{runtime::Handle, sync::MutexGuard, task::JoinHandle, time::timeout};

use super::{
    fault::Fault,
    link::Link,
    opening::{Coming, Opening},
    place::Found,
    severed,
    turns::ANSWER_MAX,
};

/// The place of the one connection.
#[derive(Default)]
pub(super) struct Seat {
    pub(super) link: Option<Link>,
    /// A connection on its way in, whoever began it.
    pub(super) coming: Option<Coming>,
    /// A connection on its way out. Two connections to different files under one name must never overlap: they
    /// would share the `-shm` beside it.
    leaving: Option<JoinHandle<Option<Link>>>,
    /// A connection that must not be used again, and can't be closed before its files may be written.
    aside: Option<Link>,
    /// Whether the file was made here, or connected to, before.
    pub(super) used: bool,
    /// Since when the file has been found damaged each time.
    pub(super) damaged_since: Option<Instant>,
}

impl Seat {
    /// A new connection. Whoever stops waiting for it leaves it to the next.
    pub(super) async fn open(&mut self, opening: Opening) -> Result<Link, Fault> {
        self.coming = Some(opening.begin());
        self.arrived()
            .await
            .unwrap_or_else(|| Err(Fault::broken(ErrorKind::Unavailable, "no connection")))?;
        self.link.take().ok_or_else(|| Fault::broken(ErrorKind::Unavailable, "no connection"))
    }

    /// Waits until a connection on its way in is there, and takes it; `None` where none was on its way.
    pub(super) async fn arrived(&mut self) -> Option<Result<(), Fault>> {
        let coming = self.coming.as_mut()?;
        let came = (&mut coming.task).await;
        self.coming = None;
        let (used, came) = match came {
            Ok((used, came)) => (used, came),
            Err(error) => (self.used, Err(Fault::broken(ErrorKind::Unavailable, error.to_string()))),
        };
        self.used |= used;
        Some(came.map(|link| self.link = Some(link)))
    }

    /// The same for a connection that an earlier verb asked for, and stopped waiting for. Why that one failed is no matter
    /// to this verb, unless the disk hangs.
    pub(super) async fn arrived_in_time(&mut self, clock: &Arc<dyn Clock>) -> Result<(), Fault> {
        let Some(coming) = &self.coming else { return Ok(()) };
        let left = ANSWER_MAX.saturating_sub(clock.now().saturating_duration_since(coming.since));
        timeout(left, self.arrived()).await.map(drop).map_err(|_| Fault::mute())
    }

    /// Sends the connection on its way out, if there is one.
    pub(super) fn dismiss(&mut self) {
        if let Some(link) = self.link.take() {
            self.send_off(link);
        }
    }

    /// In a task of its own: nobody else may come by for long, and others wait for its locks.
    fn send_off(&mut self, link: Link) {
        match Handle::try_current() {
            Ok(runtime) => self.leaving = Some(runtime.spawn(link.close())),
            Err(_) => drop(link),
        }
    }

    /// Lets go of every connection without closing it: its thread and its locks end with the process.
    pub(super) fn abandon(&mut self) {
        std::mem::forget((self.link.take(), self.aside.take()));
    }

    /// Whether a connection was severed from its log. It is then abandoned, and the file noted.
    pub(super) fn sever(&mut self, found: &Found) -> bool {
        let severed = [&self.link, &self.aside].into_iter().flatten().any(|link| link.is_severed(found));
        if severed {
            severed::note(found.file);
            self.abandon();
        }
        severed
    }

    /// Waits until a connection on its way out is gone. The files were seen to be such as may be written.
    pub(super) async fn left(&mut self) -> Result<(), Fault> {
        if let Some(link) = self.aside.take() {
            self.send_off(link);
        }
        let Some(leaving) = &mut self.leaving else { return Ok(()) };
        let kept = leaving.await;
        self.leaving = None;
        if let Ok(Some(link)) = kept {
            self.aside = Some(link);
            let cause = "a connection could not be closed: its files could not be written, or their disk did not answer";
            return Err(Fault::frozen(cause));
        }
        Ok(())
    }
}

/// The connection while a verb has it. Dropped before it is given back, it is sent away.
pub(super) struct Loan<'a> {
    pub(super) link: Option<Link>,
    pub(super) seat: MutexGuard<'a, Seat>,
}

impl Loan<'_> {
    pub(super) fn give_back(mut self) {
        self.seat.link = self.link.take();
    }

    /// Gives the connection back if it was severed from its log, only for it to be abandoned.
    pub(super) fn sever(&mut self, found: &Found) -> bool {
        let severed = self.link.as_ref().is_some_and(|link| link.is_severed(found));
        if severed {
            self.seat.link = self.link.take();
            self.seat.sever(found);
        }
        severed
    }

    /// Neither used again nor closed, until the files may be written.
    pub(super) fn set_aside(mut self) {
        self.seat.aside = self.link.take();
    }
}

impl Drop for Loan<'_> {
    fn drop(&mut self) {
        if let Some(link) = self.link.take() {
            self.seat.send_off(link);
        }
    }
}
