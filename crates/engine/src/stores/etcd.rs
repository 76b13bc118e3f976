//! Ledgers on etcd.

use std::sync::Arc;

use sequent_backend::etcd::{EtcdLedger, EtcdOptions, EtcdTls, Password};
use sequent_core::{Env, ledger::Ledger};

use super::{leaving::Leave, misplaced};
use crate::{
    OpenError,
    config::{ServerKind, ServerPlace},
};

pub(super) fn ledger(
    server: &ServerPlace,
    create: bool,
    env: &Env,
) -> Result<(Arc<dyn Ledger>, Leave), OpenError> {
    if server.kind != ServerKind::Etcd {
        return Err(misplaced(server));
    }
    let from_url = EtcdOptions::from_url(server.url.reveal());
    let from_url = from_url.map_err(|error| OpenError::of_source(&error))?;
    let options = EtcdOptions {
        create,
        password: server.password_file.clone().map_or(from_url.password, Password::File),
        tls: EtcdTls {
            ca_file: server.tls_ca_file.clone(),
            cert_file: server.tls_cert_file.clone(),
            key_file: server.tls_key_file.clone(),
        },
        connections_max: server.connections_max,
        connect_limit: server.connect_timeout,
        entropy: Arc::clone(&env.entropy),
        clock: Arc::clone(&env.clock),
        ..from_url
    };
    let ledger = Arc::new(EtcdLedger::new(options));
    let left = Arc::clone(&ledger);
    Ok((ledger, Leave::by(move || Arc::clone(&left), |ledger| async move { ledger.disconnect().await })))
}
