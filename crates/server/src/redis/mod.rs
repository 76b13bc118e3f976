//! Redis listener: the protocol of Redis (RESP2 and RESP3), so that any Redis client is a client.
//!
//! A connection reads what has arrived, runs each command of it, and writes the replies together: at the end, or once
//! they are long. `INCR` of a number that is ready needs no task, lock or allocation, and equal commands that follow one
//! another take their numbers at once.
//!
//! Reading order: `connection`, `execute`, `commands`; `request` and `reply` are the protocol, `wire` the bytes.

mod commands;
mod connection;
mod context;
mod execute;
mod inline;
#[cfg(test)]
mod oracle_tests;
mod reply;
mod request;
mod session;
mod transaction;
mod wire;

use std::sync::Arc;

use crate::{
    auth::ConnectionAuth,
    connection::{ConnectionContext, ended::EndReason, idle_timeout_io::IdleTimeoutIo},
    limits::pending_quota::ConnectionShare,
    redis::context::Context,
    service::NumberService,
    shutdown::phase::PhaseWatch,
    tls::acceptor::PeerStream,
};

/// Redis listener: serves each connection.
#[derive(Clone)]
pub(crate) struct RedisServer(Arc<Context>);

impl RedisServer {
    pub(crate) fn new(service: NumberService, phases: PhaseWatch) -> Self {
        Self(Arc::new(Context::new(service, phases)))
    }

    /// Serves one connection. Returns why it ended, if that was on account of its peer.
    pub(crate) async fn serve(
        self,
        stream: PeerStream,
        caller: (Arc<ConnectionShare>, Arc<ConnectionAuth>),
        context: ConnectionContext,
    ) -> Option<EndReason> {
        connection::serve(self.0, IdleTimeoutIo::new(stream, None), caller, context).await
    }
}
