//! Stores on Redis and Valkey.

use std::sync::Arc;

use sequent_backend::redis::{Owner, Password, RedisOptions, RedisStore, RedisTls};
use sequent_core::{Env, SequenceName, SlotIndex, Store};

use super::{leaving::Leave, misplaced};
use crate::{
    OpenError,
    config::{ServerKind, ServerPlace, TlsWord},
};

pub(super) fn store(
    server: &ServerPlace,
    cluster: &SequenceName,
    slot: SlotIndex,
    env: &Env,
) -> Result<(Arc<dyn Store>, Leave), OpenError> {
    if server.kind != ServerKind::Redis {
        return Err(misplaced(server));
    }
    let from_url = RedisOptions::from_url(server.url.reveal());
    let from_url = from_url.map_err(|error| OpenError::of_source(&error))?;
    let options = RedisOptions {
        password: server.password_file.clone().map_or(from_url.password, Password::File),
        tls: match server.tls {
            TlsWord::Off => RedisTls::Off,
            TlsWord::Prefer | TlsWord::Require | TlsWord::Verify => {
                RedisTls::Verify { ca_file: server.tls_ca_file.clone() }
            }
        },
        connections_max: server.connections_max,
        connect_limit: server.connect_timeout,
        keep_alive: server.keep_alive,
        entropy: Arc::clone(&env.entropy),
        clock: Arc::clone(&env.clock),
        ..from_url
    };
    let store = Arc::new(RedisStore::new(options, Owner { cluster: cluster.clone(), slot }));
    let left = Arc::clone(&store);
    Ok((store, Leave::by(move || Arc::clone(&left), |store| async move { store.disconnect() })))
}
