//! Stores and ledgers on MySQL and MariaDB.

use std::sync::Arc;

use sequent_backend::mysql::{MysqlLedger, MysqlOptions, MysqlPassword, MysqlStore, MysqlTls};
use sequent_core::{Env, SlotIndex, Store, ledger::Ledger};

use super::{leaving::Leave, misplaced};
use crate::{
    OpenError,
    config::{ServerKind, ServerPlace, TlsWord},
};

pub(super) fn store(
    server: &ServerPlace,
    slot: SlotIndex,
    create: bool,
    env: &Env,
) -> Result<(Arc<dyn Store>, Leave), OpenError> {
    let options = options(server, create, env)?;
    let store = match server.kind {
        ServerKind::MysqlRow => MysqlStore::row(options),
        ServerKind::MysqlSegment => MysqlStore::segment(options),
        ServerKind::MysqlAutoIncrement => MysqlStore::auto_increment(options, &slot.to_string())
            .map_err(|error| OpenError::of_source(&error))?,
        _ => return Err(misplaced(server)),
    };
    let store = Arc::new(store);
    let left = Arc::clone(&store);
    Ok((store, Leave::by(move || Arc::clone(&left), |store| async move { store.disconnect().await })))
}

pub(super) fn ledger(
    server: &ServerPlace,
    create: bool,
    env: &Env,
) -> Result<(Arc<dyn Ledger>, Leave), OpenError> {
    if server.kind != ServerKind::MysqlLedger {
        return Err(misplaced(server));
    }
    let ledger = Arc::new(MysqlLedger::new(options(server, create, env)?));
    let left = Arc::clone(&ledger);
    Ok((ledger, Leave::by(move || Arc::clone(&left), |ledger| async move { ledger.disconnect().await })))
}

fn options(server: &ServerPlace, create: bool, env: &Env) -> Result<MysqlOptions, OpenError> {
    let from_url = MysqlOptions::from_url(server.url.reveal());
    let from_url = from_url.map_err(|error| OpenError::of_source(&error))?;
    let ca_file = server.tls_ca_file.clone();
    Ok(MysqlOptions {
        password: server.password_file.clone().map_or(from_url.password, MysqlPassword::File),
        create,
        connections_max: server.connections_max,
        connect_limit: server.connect_timeout,
        keep_alive: Some(server.keep_alive),
        tls: match server.tls {
            TlsWord::Off => MysqlTls::Off,
            TlsWord::Prefer => MysqlTls::Preferred { ca_file },
            TlsWord::Require | TlsWord::Verify => MysqlTls::Required { ca_file },
        },
        entropy: Arc::clone(&env.entropy),
        clock: Arc::clone(&env.clock),
        ..from_url
    })
}
