//! Single driver connection that is never replaced by another.
//!
//! The driver pools connections. If one ends, the pool opens another by itself, to whatever process listens by then.
//! But calls must run on the connection whose instance was read.
//!
//! So each connection is a driver client with a pool of one, and the driver's events are observed. The driver announces
//! a second connection before it opens it. Before each step of a command the event is checked; if it occurred, the
//! command is dropped before it is sent.

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

/// A connection that can't be exchanged for another. Dropping it closes it.
pub(super) struct PinnedConnection {
    database: Database,
    events: Arc<DriverEvents>,
}

/// The state reported by the driver's events.
#[derive(Debug, Default)]
struct DriverEvents {
    /// Number of connections begun.
    begun: AtomicU32,
    /// Whether the pool has closed its connection, or is about to.
    lost: AtomicBool,
    /// The last failure to reach the server.
    failure: Mutex<Option<Error>>,
    failed: Notify,
}

impl PinnedConnection {
    /// A client that connects at its first command.
    pub(super) async fn new(options: &ServerOptions) -> Result<Self, Fault> {
        let events = Arc::<DriverEvents>::default();
        let mut driver = driver_options(options).await?;
        let seen = Arc::clone(&events);
        driver.cmap_event_handler = Some(EventHandler::callback(move |event| seen.pool(&event)));
        let seen = Arc::clone(&events);
        driver.sdam_event_handler = Some(EventHandler::callback(move |event| seen.server(&event)));
        let client = Client::with_options(driver).map_err(|error| fault::of_driver(&error))?;
        Ok(Self { database: client.database(options.url.path()), events })
    }

    /// Runs the first command. The driver connects meanwhile, and its first failure is final.
    pub(super) async fn first(&self, command: Document) -> Result<Document, Fault> {
        tokio::select! {
            biased;
            done = self.run(command) => done,
            () = self.events.failed.notified() => Err(self.events.failure("can't be reached")),
        }
    }

    /// Runs a command on the URL's database.
    pub(super) async fn run(&self, command: Document) -> Result<Document, Fault> {
        if self.events.lost.load(Ordering::SeqCst) {
            return Err(Fault::stale("the driver gave up the connection"));
        }
        let mut reply = pin!(self.database.run_command(command).into_future());
        let done = poll_fn(|context| {
            // A second connection has begun; it can't reach the command before the command's next step.
            if self.events.begun.load(Ordering::SeqCst) > 1 {
                return Poll::Ready(Err(Fault::stale("the driver opened another connection")));
            }
            reply.as_mut().poll(context).map_err(|error| self.fault(&error))
        });
        unacknowledged(done.await?)
    }

    /// If no server was reachable, the fault has the driver's last error.
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

/// Fails on a write that was done here but not acknowledged by a majority or the journal.
fn unacknowledged(reply: Document) -> Result<Document, Fault> {
    match reply.get_document("writeConcernError") {
        Ok(error) => Err(fault::of_document(error)),
        Err(_) => Ok(reply),
    }
}
