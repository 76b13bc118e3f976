//! State of a connection that commands read and change.

use crate::{
    limits::pending_quota::ConnectionShare,
    redis::{reply::Protocol, transaction::Transaction},
};

use std::sync::Arc;

/// State of one connection.
pub(crate) struct Session {
    /// The number of the connection in this process.
    pub(crate) id: u64,
    pub(crate) protocol: Protocol,
    /// The name that the client gave it; empty if none.
    pub(crate) name: String,
    /// Commands since `MULTI`.
    pub(crate) transaction: Option<Transaction>,
    /// Its part of the quota of pending requests.
    pub(crate) share: Arc<ConnectionShare>,
}

impl Session {
    pub(crate) fn new(id: u64, share: Arc<ConnectionShare>) -> Self {
        Self { id, protocol: Protocol::default(), name: String::new(), transaction: None, share }
    }

    /// As it was at first (`RESET`).
    pub(crate) fn reset(&mut self) {
        *self = Self::new(self.id, Arc::clone(&self.share));
    }
}
