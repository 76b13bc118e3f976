//! Location and owner of a store or ledger to open, and the handle of an opened one.

use std::{path::Path, sync::Arc};

use sequent_core::{BoxFuture, Env, SequenceName, SlotIndex, SourceError, Store, ledger::Ledger};

use crate::{
    ledger::{CoreLedger, LedgerEngine},
    net::{Connections, Owner, ServerOptions, refused},
    store::CoreStore,
};

/// The location of a store or ledger.
#[derive(Clone, Copy)]
pub enum Where<'a> {
    /// The memory of this process.
    Memory,
    /// In a file.
    File(&'a Path),
    /// A server. The `create` and `env` of [`Site`] apply, not those of its options.
    Server(&'a ServerOptions),
}

/// The location of a store or ledger, and its owner.
#[derive(Clone, Copy)]
pub struct Site<'a> {
    /// The location.
    pub place: Where<'a>,
    /// The cluster and slot of a store; `None` for a ledger.
    pub owner: Option<(&'a SequenceName, SlotIndex)>,
    /// Whether missing tables, collections or files are created.
    pub create: bool,
    /// The clock and the source of randomness.
    pub env: &'a Env,
}

impl<'a> Site<'a> {
    /// The server's options.
    pub(super) fn server(&self) -> Result<ServerOptions, SourceError> {
        match self.place {
            Where::Server(options) => {
                Ok(ServerOptions { create: self.create, env: self.env.clone(), ..options.clone() })
            }
            _ => Err(refused("the options of a server are expected")),
        }
    }

    /// The file's path.
    pub(super) fn path(&self) -> Result<&'a Path, SourceError> {
        match self.place {
            Where::File(path) => Ok(path),
            _ => Err(refused("a file's path is expected")),
        }
    }

    /// The slot that the store belongs to.
    pub(super) fn owner(&self) -> Result<Owner, SourceError> {
        let (cluster, slot) = self.owner.ok_or_else(|| refused("a store belongs to a slot of a cluster"))?;
        Ok(Owner { cluster: cluster.clone(), slot })
    }
}

/// An opened store or ledger.
pub struct Opened<T: ?Sized> {
    /// The handle. It connects at its first call.
    pub handle: Arc<T>,
    /// Closes its connections.
    pub close: Arc<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync>,
}

/// Wraps a store for callers that know no engine.
pub(super) fn opened_store<C: Connections, E: Send + Sync + 'static>(
    store: CoreStore<C, E>,
) -> Opened<dyn Store>
where
    CoreStore<C, E>: Store,
{
    opened(store, |store| store, |store| Box::pin(async move { store.disconnect().await }))
}

/// Wraps a ledger for callers that know no engine.
pub(super) fn opened_ledger<E: LedgerEngine>(ledger: CoreLedger<E>) -> Opened<dyn Ledger> {
    opened(ledger, |ledger| ledger, |ledger| Box::pin(async move { ledger.disconnect().await }))
}

fn opened<O: Send + Sync + 'static, T: ?Sized>(
    opened: O,
    handle: fn(Arc<O>) -> Arc<T>,
    close: fn(Arc<O>) -> BoxFuture<'static, ()>,
) -> Opened<T> {
    let opened = Arc::new(opened);
    let closing = Arc::clone(&opened);
    Opened { handle: handle(opened), close: Arc::new(move || close(Arc::clone(&closing))) }
}
