//! State of a connection that commands read and change.

use std::sync::Arc;

use http::{HeaderMap, header};

use crate::{
    auth::{Caller, ConnectionAuth, routes::Need},
    error::ApiError,
    limits::pending_quota::ConnectionShare,
    redis::{reply::Protocol, transaction::Transaction},
};

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
    pub(crate) auth: Arc<ConnectionAuth>,
    /// The token that its client signed in with, as other APIs send it with each request.
    pub(crate) headers: HeaderMap,
}

impl Session {
    pub(crate) fn new(id: u64, share: Arc<ConnectionShare>, auth: Arc<ConnectionAuth>) -> Self {
        Self {
            id,
            protocol: Protocol::default(),
            name: String::new(),
            transaction: None,
            share,
            auth,
            headers: HeaderMap::new(),
        }
    }

    /// As it was at first (`RESET`).
    pub(crate) fn reset(&mut self) {
        *self = Self::new(self.id, Arc::clone(&self.share), Arc::clone(&self.auth));
    }

    /// Signs in by a token. If that fails, whoever was signed in before still is.
    pub(crate) fn sign_in(&mut self, user: Option<&[u8]>, token: &[u8]) -> Result<(), ApiError> {
        let user = user.map(String::from_utf8_lossy);
        let token = self.auth.sign_in(user.as_deref(), &String::from_utf8_lossy(token))?;
        self.headers.insert(header::AUTHORIZATION, token);
        Ok(())
    }

    /// The caller of a command.
    pub(crate) fn caller(&self, command: &str) -> Result<Caller, ApiError> {
        self.auth.caller(Need::of_redis(command), &self.headers)
    }
}
