//! Stores on memcached.

use std::sync::Arc;

use sequent_backend::memcached::{MemcachedOptions, MemcachedStore, Owner, Password};
use sequent_core::{Env, SequenceName, SlotIndex, Store};

use super::{leaving::Leave, misplaced};
use crate::{
    OpenError,
    config::{ServerKind, ServerPlace},
};

pub(super) fn store(
    server: &ServerPlace,
    cluster: &SequenceName,
    slot: SlotIndex,
    env: &Env,
) -> Result<(Arc<dyn Store>, Leave), OpenError> {
    if server.kind != ServerKind::Memcached {
        return Err(misplaced(server));
    }
    let from_url = MemcachedOptions::from_url(server.url.reveal());
    let from_url = from_url.map_err(|error| OpenError::of_source(&error))?;
    let options = MemcachedOptions {
        password: server.password_file.clone().map_or(from_url.password, Password::File),
        connections_max: server.connections_max,
        connect_limit: server.connect_timeout,
        entropy: Arc::clone(&env.entropy),
        clock: Arc::clone(&env.clock),
        ..from_url
    };
    let store = Arc::new(MemcachedStore::new(options, Owner { cluster: cluster.clone(), slot }));
    let left = Arc::clone(&store);
    Ok((store, Leave::by(move || Arc::clone(&left), |store| async move { store.disconnect() })))
}
