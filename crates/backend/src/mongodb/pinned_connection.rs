//! One connection of the driver, and no other.
//!
//! The driver pools connections, and opens another one by itself where the last one ended: to whatever process listens
//! there by then. Calls must run on the connection on which it was learned which instance answers. So each one is a client of
//! the driver's with a pool of one, and the driver's events are listened to. It tells of a second connection before it opens
//! it; before each step of a command it is looked whether it did, and if so the command is dropped, which was not sent yet.

use std::{
    future::{IntoFuture, poll_fn},
    pin::pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    task::Poll,
};

use mongodb::{
    Client, Database,
    bson::Document,
    error::{Error, ErrorKind as Said},
    event::{EventHandler, cmap::CmapEvent, sdam::SdamEvent},
};
use tokio::sync::Notify;

use super::{fault, server::driver_options};
use crate::net::{Fault, ServerOptions};

/// A connection that can't be exchanged for another. Whatever is given up is closed by being dropped.
pub(super) struct PinnedConnection {
    database: Database,
    admin: Database,
    events: Arc<DriverEvents>,
}

/// What the driver's events said.
#[derive(Debug, Default)]
struct DriverEvents {
    /// Connections that were begun.
    begun: AtomicU32,
    /// The pool gave up its connection, or is about to.
    lost: AtomicBool,
    /// Why the server could not be reached last, and that it could not.
    failure: Mutex<Option<Error>>,
    failed: Notify,
}

impl PinnedConnection {
    /// One that connects at its first command.
    pub(super) async fn new(options: &ServerOptions) -> Result<Self, Fault> {
        let events = Arc::<DriverEvents>::default();
        let mut driver = driver_options(options).await?;
        let seen = Arc::clone(&events);
        driver.cmap_event_handler = Some(EventHandler::callback(move |event| seen.pool(&event)));
        let seen = Arc::clone(&events);
        driver.sdam_event_handler = Some(EventHandler::callback(move |event| seen.server(&event)));
        let client = Client::with_options(driver).map_err(|error| fault::of_driver(&error))?;
        Ok(Self { database: client.database(options.url.path()), admin: client.database("admin"), events })
    }

    /// Runs the first command: the driver connects meanwhile, and its first failure to do so is final.
    pub(super) async fn first(&self, command: Document) -> Result<Document, Fault> {
        tokio::select! {
            biased;
            done = self.send(&self.admin, command) => done,
            () = self.events.failed.notified() => Err(self.events.failure("can't be reached")),
        }
    }

    /// Runs a command on the URL's database.
    pub(super) async fn run(&self, command: Document) -> Result<Document, Fault> {
        self.send(&self.database, command).await
    }

    /// Runs a command on the database `admin`, where some belong that need no privilege there.
    pub(super) async fn run_on_admin(&self, command: Document) -> Result<Document, Fault> {
        self.send(&self.admin, command).await
    }

    async fn send(&self, database: &Database, command: Document) -> Result<Document, Fault> {
        if self.events.lost.load(Ordering::SeqCst) {
            return Err(Fault::stale("the driver gave up the connection"));
        }
        let mut reply = pin!(database.run_command(command).into_future());
        let done = poll_fn(|context| {
            // A second connection that was begun is not handed to the command before its next step.
            if self.events.begun.load(Ordering::SeqCst) > 1 {
                return Poll::Ready(Err(Fault::stale("the driver opened another connection")));
            }
            reply.as_mut().poll(context).map_err(|error| self.fault(&error))
        });
        unacknowledged(done.await?)
    }

    /// Where no server was to be had, the driver's last attempt says why.
    fn fault(&self, error: &Error) -> Fault {
        match &*error.kind {
            Said::ServerSelection { message, .. } => self.events.failure(message),
            _ => fault::of_driver(error),
        }
    }
}

impl DriverEvents {
    fn pool(&self, event: &CmapEvent) {
        match event {
            CmapEvent::ConnectionCreated(_) => drop(self.begun.fetch_add(1, Ordering::SeqCst)),
            CmapEvent::ConnectionClosed(_) | CmapEvent::PoolCleared(_) => {
                self.lost.store(true, Ordering::SeqCst);
            }
            _ => {}
        }
    }

    fn server(&self, event: &SdamEvent) {
        if let SdamEvent::ServerHeartbeatFailed(event) = event {
            *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(event.failure.clone());
            self.failed.notify_one();
        }
    }

    fn failure(&self, otherwise: &str) -> Fault {
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone();
        failure.map_or_else(|| Fault::away(otherwise), |error| fault::of_driver(&error))
    }
}

/// A write that was done here, and that the majority, or the journal, did not acknowledge.
fn unacknowledged(reply: Document) -> Result<Document, Fault> {
    let Ok(error) = reply.get_document("writeConcernError") else { return Ok(reply) };
    let code = error.get_i32("code").unwrap_or_default();
    let text = |name| error.get_str(name).unwrap_or_default();
    Err(fault::of_command(code, text("codeName"), text("errmsg")))
}
