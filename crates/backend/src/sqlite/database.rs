//! One file and its one connection: verbs one at a time, bounded retries, and connections that are given up.
//!
//! SQLite has one writer at a time anyway. A connection on which a verb was dropped midway, or failed with more than
//! an answer, is closed and never used again: its reply must not reach the next caller.

use std::{
    future::Future,
    path::PathBuf,
    task::{Context, Waker},
    time::{Duration, Instant},
};

use sequent_core::{BoxFuture, ErrorKind, SourceError};
use tokio::sync::{Mutex, MutexGuard};

use super::{
    SqliteOptions, create,
    fault::{Cause, Fault},
    link::{Kind, Link},
    place::Place,
};

/// How long a verb tries against other processes' locks. Sixteen processes on one file waited at most 0.125 s;
/// below an attempt's limit of 1 s, so that a locked file is said to be contended, which costs no connection.
const BUSY_WAIT_MAX: Duration = Duration::from_millis(800);

/// The longest pause between two tries; the real one is random up to this, so that nobody starves.
const BUSY_PAUSE_MAX: Duration = Duration::from_millis(1);

/// How often a file that is replaced while it is being opened is tried again.
const OPEN_ROUNDS_MAX: usize = 4;

/// How long a file that this process has used must be gone before another is made in its place: who restores a copy
/// by `rm` and `cp` shall not find a new file between the two.
const GONE_MIN: Duration = Duration::from_secs(3);

/// How a verb's statements are held together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Frame {
    /// Each statement by itself.
    Bare,
    /// One view of the file for all of them.
    Read,
    /// All or none.
    Write,
}

/// A verb, made so that it can be run again: after `Busy` it has done nothing.
pub(super) trait Work: Sync {
    /// What it returns.
    type Out: Send;
    /// Its name, for errors.
    const VERB: &'static str;
    /// How its statements are held together.
    const FRAME: Frame;
    /// Runs it once.
    fn run(&self, link: &mut Link) -> impl Future<Output = Result<Self::Out, Fault>> + Send;
}

/// A file, whoever uses it in this process.
pub(super) struct Database {
    place: Place,
    kind: &'static Kind,
    options: SqliteOptions,
    seat: Mutex<Seat>,
}

/// The place of the one connection.
#[derive(Default)]
struct Seat {
    link: Option<Link>,
    /// A connection on its way out. Two connections to different files under one name must never overlap: they
    /// would share the `-shm` beside it.
    leaving: Option<BoxFuture<'static, ()>>,
    /// Whether there was a connection before.
    used: bool,
    /// Since when the file of an earlier connection has been gone.
    gone_since: Option<Instant>,
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
        let done = match self.settle(&mut seat).await {
            Ok(link) => self.attempts(Loan { link: Some(link), seat }, &work).await,
            Err(fault) => Err(fault),
        };
        done.map_err(|fault| fault.into_error(&format!("{} {} {}", W::VERB, self.kind.word, self.place)))
    }

    /// Closes the connection. The last process to leave a file takes `-wal` and `-shm` with it.
    pub(super) async fn close(&self) {
        let mut seat = self.seat.lock().await;
        seat.dismiss();
        seat.left().await;
    }

    /// The connection to the file that is at the path now.
    async fn settle(&self, seat: &mut Seat) -> Result<Link, Fault> {
        seat.left().await;
        let found = self.place.look().await;
        if let (Some(link), Ok(Some(file))) = (&seat.link, &found)
            && link.file() == *file
            && let Some(link) = seat.link.take()
        {
            return Ok(link);
        }
        seat.dismiss();
        seat.left().await;
        self.check_gone(seat, found?.is_none())?;
        let link = self.open().await?;
        seat.used = true;
        Ok(link)
    }

    fn check_gone(&self, seat: &mut Seat, gone: bool) -> Result<(), Fault> {
        if !gone || !seat.used || !self.options.create {
            seat.gone_since = None;
            return Ok(());
        }
        let now = self.options.clock.now();
        let since = *seat.gone_since.get_or_insert(now);
        if now.saturating_duration_since(since) >= GONE_MIN {
            return Ok(());
        }
        let cause = format!("the file is gone: if it stays so for {GONE_MIN:?}, a new one is made");
        Err(Fault::broken(ErrorKind::Unavailable, cause))
    }

    async fn open(&self) -> Result<Link, Fault> {
        let mut patience = Patience::new(&self.options);
        for _ in 0..OPEN_ROUNDS_MAX {
            let Some(file) = self.place.look().await? else {
                self.create(&mut patience).await?;
                continue;
            };
            let link = loop {
                let clock = self.options.clock.clone();
                match Link::open(&self.place, file, self.kind, clock).await {
                    Err(Fault::Busy(cause)) => patience.after(cause).await?,
                    other => break other?,
                }
            };
            if self.place.look().await? == Some(file) {
                return Ok(link);
            }
            link.close().await;
        }
        Err(Fault::broken(ErrorKind::Unavailable, "the file changes faster than it can be opened"))
    }

    async fn create(&self, patience: &mut Patience<'_>) -> Result<(), Fault> {
        if !self.options.create {
            return Err(Fault::broken(ErrorKind::Unavailable, "no file is there, and none may be made"));
        }
        loop {
            match create::create(&self.place, self.kind, &*self.options.entropy).await {
                Err(Fault::Busy(cause)) => patience.after(cause).await?,
                other => return other,
            }
        }
    }

    async fn attempts<W: Work>(&self, mut loan: Loan<'_>, work: &W) -> Result<W::Out, Fault> {
        let Some(link) = &mut loan.link else {
            return Err(Fault::broken(ErrorKind::Unavailable, "no connection"));
        };
        let mut patience = Patience::new(&self.options);
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
        if self.place.look().await.ok().flatten() != Some(file) {
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

/// Once: within its frame, and out of it again whatever happens.
async fn attempt<W: Work>(link: &mut Link, work: &W) -> Result<W::Out, Fault> {
    let begin = match W::FRAME {
        Frame::Bare => return work.run(link).await,
        Frame::Read => "BEGIN",
        Frame::Write => "BEGIN IMMEDIATE",
    };
    link.run(sqlx::query(begin)).await?;
    let done = match work.run(link).await {
        Ok(out) => link.run(sqlx::query("COMMIT")).await.map(|_| out),
        Err(fault) => Err(fault),
    };
    if !matches!(done, Ok(_) | Err(Fault::Broken(..))) {
        link.run(sqlx::query("ROLLBACK"))
            .await
            .map_err(|_| Fault::broken(ErrorKind::Unavailable, "a transaction could not be rolled back"))?;
    }
    done
}

impl Seat {
    /// Sends the connection on its way out, if there is one.
    fn dismiss(&mut self) {
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

    /// Waits until a connection on its way out is gone.
    async fn left(&mut self) {
        if let Some(leaving) = &mut self.leaving {
            leaving.await;
            self.leaving = None;
        }
    }
}

/// The connection while a verb has it. Dropped before it is given back, it is sent away.
struct Loan<'a> {
    link: Option<Link>,
    seat: MutexGuard<'a, Seat>,
}

impl Loan<'_> {
    fn give_back(mut self) {
        self.seat.link = self.link.take();
    }
}

impl Drop for Loan<'_> {
    fn drop(&mut self) {
        if let Some(link) = self.link.take() {
            self.seat.send_off(link);
        }
    }
}

/// What is left of a verb's time against other processes' locks.
struct Patience<'a> {
    options: &'a SqliteOptions,
    until: Instant,
}

impl<'a> Patience<'a> {
    fn new(options: &'a SqliteOptions) -> Self {
        Self { options, until: options.clock.now() + BUSY_WAIT_MAX }
    }

    /// Waits a moment, or gives up with the cause.
    async fn after(&mut self, cause: Cause) -> Result<(), Fault> {
        if self.options.clock.now() >= self.until {
            return Err(Fault::Busy(cause));
        }
        tokio::time::sleep(BUSY_PAUSE_MAX.mul_f64(self.options.entropy.fraction())).await;
        Ok(())
    }
}
