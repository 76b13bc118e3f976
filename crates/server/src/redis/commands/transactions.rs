//! `MULTI`, `DISCARD`. `EXEC` is run by the connection.

use crate::redis::{reply::Reply, session::Session, transaction::Transaction};

/// `MULTI`.
pub(super) fn multi(session: &mut Session, reply: &mut Reply<'_>) {
    if session.transaction.is_some() {
        return reply.error("ERR MULTI calls can not be nested");
    }
    match Transaction::begin(&session.share) {
        Ok(transaction) => {
            session.transaction = Some(transaction);
            reply.ok();
        }
        Err(error) => reply.fail(&error),
    }
}

/// `DISCARD`.
pub(super) fn discard(session: &mut Session, reply: &mut Reply<'_>) {
    match session.transaction.take() {
        Some(_) => reply.ok(),
        None => reply.error("ERR DISCARD without MULTI"),
    }
}
