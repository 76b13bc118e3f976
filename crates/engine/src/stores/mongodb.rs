//! Stores on MongoDB.

use std::sync::Arc;

use sequent_backend::mongodb::{MongodbOptions, MongodbStore, MongodbTls, UrlError};
use sequent_core::{Env, SlotIndex, Store, ledger::Ledger};

use super::{leaving::Leave, misplaced};
use crate::{
    OpenError,
    config::{ServerKind, ServerPlace, TlsWord},
};

pub(super) fn store(
    server: &ServerPlace,
    _: SlotIndex,
    create: bool,
    env: &Env,
) -> Result<(Arc<dyn Store>, Leave), OpenError> {
    if server.kind != ServerKind::Mongodb {
        return Err(misplaced(server));
    }
    // What is wrong with it was said when the configuration was read; the text does not repeat it.
    let url = server.url.reveal().parse().map_err(|error: UrlError| OpenError::Refused(error.to_string()))?;
    let options = MongodbOptions {
        create,
        pool: server.connections_max,
        connect_limit: server.connect_timeout,
        keep_alive: server.keep_alive,
        tls: match server.tls {
            TlsWord::Require => MongodbTls::Unchecked,
            TlsWord::Verify => MongodbTls::Verified { ca_file: server.tls_ca_file.clone() },
            TlsWord::Off | TlsWord::Prefer => MongodbTls::Off,
        },
        password_file: server.password_file.clone(),
        entropy: Arc::clone(&env.entropy),
        clock: Arc::clone(&env.clock),
    };
    let store = Arc::new(MongodbStore::new(url, options));
    let left = Arc::clone(&store);
    Ok((store, Leave::by(move || Arc::clone(&left), |store| async move { store.disconnect() })))
}

/// No ledger is kept there: the configuration lets no such word through.
pub(super) fn ledger(server: &ServerPlace, _: bool, _: &Env) -> Result<(Arc<dyn Ledger>, Leave), OpenError> {
    Err(misplaced(server))
}
