//! Connection pool of one server: bounded, each connection lent to one operation at a time, and closed when in doubt.
//!
//! A connection returns to the pool only after its operation has ended, so that no reply reaches the next caller:
//!
//! - A dropped operation closes its connection. It also closes the idle connections that were silent since it began: if
//!   the server stopped answering, each of them would cost another caller its time limit.
//! - An operation that failed with more than its own error closes all connections. Those on loan are closed when they
//!   come back.

use std::{
    future::Future,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use sequent_core::{Env, InstanceId, SourceError, Why};
use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::timeout,
};

use super::{
    Cause, Fault, Retry, ServerOptions,
    call::{Connection, Connections, Run, Terms},
    retry::ON_SERVERS,
};

/// Longest time for which an idle connection is trusted without a ping. Servers and proxies close idle connections.
const TRUST_IDLE_MAX: Duration = Duration::from_secs(1);

/// Attempts on a new connection after another instance answered.
const ROUNDS_MAX: usize = 4;

/// The purpose of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The first use by this process. What is missing is created, if the options allow it.
    FirstUse,
    /// A later use: nothing missing is created.
    Use,
    /// Reading only: nothing is written or created.
    Look,
}

impl Purpose {
    /// Whether missing tables or collections are created.
    pub(crate) fn creates(self, options: &ServerOptions) -> bool {
        self == Self::FirstUse && options.create
    }
}

/// A server to which connections can be opened.
pub(crate) trait Server: Send + Sync + 'static {
    /// The type of a connection.
    type Connection: Connection;

    /// Connects, logs in and reads the instance.
    fn connect(&self, purpose: Purpose) -> impl Future<Output = Result<Self::Connection, Fault>> + Send;

    /// The connection options.
    fn options(&self) -> &ServerOptions;

    /// The server's name for errors, without secrets.
    fn shown(&self) -> String {
        self.options().url.to_string()
    }

    /// Time limit of a connect; `None` if the server enforces its own.
    fn connect_timeout(&self) -> Option<Duration> {
        Some(self.options().connect_timeout)
    }
}

/// The connections to one server.
pub struct Pool<S: Server> {
    server: S,
    permits: Semaphore,
    idle: Mutex<IdleList<S::Connection>>,
    /// Whether this process has logged in before.
    is_known: AtomicBool,
}

/// Connections not in use.
struct IdleList<C> {
    connections: Vec<(C, Instant)>,
    /// Raised whenever the existing connections are in doubt. A connection of an older generation is not put back.
    generation: u64,
    /// The instance of the connection opened last.
    instance: Option<InstanceId>,
}

impl<S: Server> Pool<S> {
    pub(crate) fn new(server: S) -> Self {
        let permits = Semaphore::new(server.options().connections());
        let idle = IdleList { connections: Vec::new(), generation: 0, instance: None };
        Self { server, permits, idle: Mutex::new(idle), is_known: AtomicBool::new(false) }
    }

    async fn once<T: Send>(
        &self,
        terms: Terms<'_>,
        run: &Run<'_, S::Connection, T>,
        retry: &mut Retry<'_>,
    ) -> Result<T, Fault> {
        let mut lent = self.lend(terms.looks_again).await?;
        let connection = lent.connection()?;
        let done = retry.attempts(connection, terms, run).await;
        match &done {
            Err(fault) if !fault.leaves_connection_sound() => lent.give_up(),
            _ => lent.give_back(),
        }
        done
    }

    /// Lends a connection: the one used last, or a new one.
    async fn lend(&self, looks_again: bool) -> Result<Lent<'_, S>, Fault> {
        let permit = self.permits.acquire().await.map_err(|_| Fault::away("the pool is closed"))?;
        let since = self.server.options().env.clock.now();
        let (found, generation) = {
            let mut idle = self.idle();
            (idle.connections.pop(), idle.generation)
        };
        let mut lent = Lent { pool: self, connection: None, generation, since, _permit: permit };
        if let Some((connection, idle_since)) = found {
            let idle_for = since.saturating_duration_since(idle_since);
            let connection = lent.connection.insert(connection);
            let answers = idle_for <= self.server.options().keep_alive.min(TRUST_IDLE_MAX)
                || connection.ping().await.is_ok();
            let is_sound = answers && (!looks_again || connection.is_current().await);
            if is_sound {
                return Ok(lent);
            }
            lent.connection = None;
            self.give_up_all();
        }
        lent.generation = self.idle().generation;
        let connection = self.open().await?;
        lent.generation = self.note_instance(connection.instance(), lent.generation);
        lent.connection = Some(connection);
        Ok(lent)
    }

    async fn open(&self) -> Result<S::Connection, Fault> {
        let is_known = self.is_known.load(Ordering::Relaxed);
        let purpose = if is_known { Purpose::Use } else { Purpose::FirstUse };
        let connection = in_time(&self.server, purpose).await?;
        self.is_known.store(true, Ordering::Relaxed);
        Ok(connection)
    }

    /// Records the instance of a connection just opened, and returns the connection's pool generation. If the instance
    /// changed, all older connections are closed.
    fn note_instance(&self, instance: &InstanceId, generation: u64) -> u64 {
        let mut idle = self.idle();
        let before = idle.instance.replace(instance.clone());
        if before.is_none_or(|before| before == *instance) {
            return generation;
        }
        idle.generation += 1;
        let generation = idle.generation;
        let outdated = std::mem::take(&mut idle.connections);
        drop(idle);
        drop(outdated);
        generation
    }

    /// Gives up all connections: idle ones are returned to be dropped, and those on loan are closed when they come
    /// back.
    fn give_up_all(&self) -> Vec<(S::Connection, Instant)> {
        let mut idle = self.idle();
        idle.generation += 1;
        std::mem::take(&mut idle.connections)
    }

    fn idle(&self) -> MutexGuard<'_, IdleList<S::Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failed(&self, name: &str, fault: Fault) -> SourceError {
        let fault = if self.is_known.load(Ordering::Relaxed) { fault.of_known_server() } else { fault };
        fault.into_error(&format!("{name} {}", self.server.shown()))
    }
}

impl<S: Server> Connections for Pool<S> {
    type Connection = S::Connection;

    fn env(&self) -> &Env {
        &self.server.options().env
    }

    async fn perform<T: Send>(
        &self,
        terms: Terms<'_>,
        run: &Run<'_, S::Connection, T>,
    ) -> Result<T, SourceError> {
        let mut retry = Retry::new(&ON_SERVERS, self.env());
        let mut rounds = 1;
        let done = loop {
            match self.once(terms, run, &mut retry).await {
                Err(Fault::Stale(_)) if rounds < ROUNDS_MAX => rounds += 1,
                done => break done,
            }
        };
        done.map_err(|fault| self.failed(terms.name, fault))
    }

    async fn look<T: Send>(
        &self,
        terms: Terms<'_>,
        run: &Run<'_, S::Connection, T>,
    ) -> Result<T, SourceError> {
        let looked = async {
            let mut connection = in_time(&self.server, Purpose::Look).await?;
            let found = connection.attempt(terms.mode, run).await?;
            connection.close().await;
            Ok(found)
        };
        looked
            .await
            .map_err(|fault: Fault| fault.into_error(&format!("{} {}", terms.name, self.server.shown())))
    }

    async fn is_connected(&self) -> bool {
        !self.idle().connections.is_empty()
    }

    async fn close(&self) {
        for (connection, _) in self.give_up_all() {
            connection.close().await;
        }
    }
}

/// A connection on loan to an operation.
struct Lent<'a, S: Server> {
    pool: &'a Pool<S>,
    connection: Option<S::Connection>,
    generation: u64,
    since: Instant,
    _permit: SemaphorePermit<'a>,
}

impl<S: Server> Lent<'_, S> {
    fn connection(&mut self) -> Result<&mut S::Connection, Fault> {
        self.connection.as_mut().ok_or_else(|| Fault::away("no connection"))
    }

    /// Puts the connection back. Every request on it has been answered.
    fn give_back(mut self) {
        let now = self.pool.server.options().env.clock.now();
        let Some(connection) = self.connection.take() else { return };
        let mut idle = self.pool.idle();
        if idle.generation == self.generation {
            idle.connections.push((connection, now));
        }
    }

    /// Closes this connection and all others: they may have lost the same server, and each would fail once more.
    fn give_up(mut self) {
        drop(self.connection.take());
        drop(self.pool.give_up_all());
    }
}

impl<S: Server> Drop for Lent<'_, S> {
    fn drop(&mut self) {
        let Some(connection) = self.connection.take() else { return };
        drop(connection);
        let since = self.since;
        let was_silent = |(_, idle_since): &mut (S::Connection, Instant)| *idle_since < since;
        let silent: Vec<_> = self.pool.idle().connections.extract_if(.., was_silent).collect();
        drop(silent);
    }
}

/// Connects within the time limit.
async fn in_time<S: Server>(server: &S, purpose: Purpose) -> Result<S::Connection, Fault> {
    match server.connect_timeout() {
        Some(limit) => within(limit, server.connect(purpose)).await?,
        None => server.connect(purpose).await,
    }
}

/// Waits for a step of a connect, at most this long.
pub(crate) async fn within<T>(limit: Duration, step: impl Future<Output = T>) -> Result<T, Fault> {
    timeout(limit, step).await.map_err(|_| Fault::away(not_within(limit)))
}

/// The cause of a connect that timed out.
pub(crate) fn not_within(limit: Duration) -> Cause {
    Cause::from(format!("not connected within {} ms", limit.as_millis())).told(Why::TimedOut)
}
