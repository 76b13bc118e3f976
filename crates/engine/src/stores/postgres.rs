//! Stores and ledgers on PostgreSQL.

use std::sync::Arc;

use sequent_backend::postgres::{
    PostgresLedger, PostgresOptions, PostgresStore, PostgresTls, PostgresUrl, TlsMode,
};
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
    if server.kind != ServerKind::PostgresRow {
        return Err(misplaced(server));
    }
    let (url, options) = options(server, create, env)?;
    let store = Arc::new(PostgresStore::new(url, options));
    let left = Arc::clone(&store);
    Ok((store, Leave::by(move || Arc::clone(&left), |store| async move { store.disconnect() })))
}

pub(super) fn ledger(
    server: &ServerPlace,
    create: bool,
    env: &Env,
) -> Result<(Arc<dyn Ledger>, Leave), OpenError> {
    if server.kind != ServerKind::PostgresLedger {
        return Err(misplaced(server));
    }
    let (url, options) = options(server, create, env)?;
    let ledger = Arc::new(PostgresLedger::new(url, options));
    let left = Arc::clone(&ledger);
    Ok((ledger, Leave::by(move || Arc::clone(&left), |ledger| async move { ledger.disconnect().await })))
}

fn options(
    server: &ServerPlace,
    create: bool,
    env: &Env,
) -> Result<(PostgresUrl, PostgresOptions), OpenError> {
    // What is wrong with either was said when the configuration was read; none of these texts repeats it.
    let url = server.url.reveal().parse().map_err(|error| refused(&error))?;
    let schema = server.schema.as_deref().map(str::parse).transpose().map_err(|error| refused(&error))?;
    let mode = match server.tls {
        TlsWord::Off => TlsMode::Disable,
        TlsWord::Prefer => TlsMode::Prefer,
        TlsWord::Require => TlsMode::Require,
        TlsWord::Verify => TlsMode::VerifyFull,
    };
    let options = PostgresOptions {
        create,
        schema,
        pool: server.connections_max,
        connect_limit: server.connect_timeout,
        keep_alive: server.keep_alive,
        tls: PostgresTls { mode, ca_file: server.tls_ca_file.clone() },
        password_file: server.password_file.clone(),
        entropy: Arc::clone(&env.entropy),
        clock: Arc::clone(&env.clock),
    };
    Ok((url, options))
}

fn refused(error: &dyn std::error::Error) -> OpenError {
    OpenError::Refused(error.to_string())
}
