//! The one connection of a file in this process: in its place, on loan to a verb, or on its way out.

use std::{
    task::{Context, Waker},
    time::Instant,
};

use sequent_core::BoxFuture;
use tokio::sync::MutexGuard;

use super::{link::Link, place::Found, severed};

/// The place of the one connection.
#[derive(Default)]
pub(super) struct Seat {
    pub(super) link: Option<Link>,
    /// A connection on its way out. Two connections to different files under one name must never overlap: they
    /// would share the `-shm` beside it.
    leaving: Option<BoxFuture<'static, ()>>,
    /// A connection that must not be used again, and can't be closed before its files may be written.
    aside: Option<Link>,
    /// Whether there was a connection before.
    pub(super) used: bool,
    /// Since when the file of an earlier connection has been gone.
    pub(super) gone_since: Option<Instant>,
}

impl Seat {
    /// Sends the connection on its way out, if there is one.
    pub(super) fn dismiss(&mut self) {
        if let Some(link) = self.link.take() {
            self.send_off(link);
        }
    }

    fn send_off(&mut self, link: Link) {
        let mut leaving: BoxFuture<'static, ()> = Box::pin(link.close());
        // The first poll tells the connection's thread to end, which rolls back what it had begun: nobody else may
        // come by for long, and others wait for its locks.
        let polled = leaving.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        self.leaving = polled.is_pending().then_some(leaving);
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

    /// Waits until a connection on its way out is gone. The files may be written.
    pub(super) async fn left(&mut self) {
        if let Some(link) = self.aside.take() {
            self.send_off(link);
        }
        if let Some(leaving) = &mut self.leaving {
            leaving.await;
            self.leaving = None;
        }
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
