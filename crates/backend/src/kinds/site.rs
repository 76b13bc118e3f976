//! Where a kind is opened, and what has been opened.

use std::{path::Path, sync::Arc};

use sequent_core::{BoxFuture, Env, ErrorKind, SequenceName, SlotIndex, SourceError, Store, ledger::Ledger};

use crate::net::{Owner, ServerOptions};

/// Where something is opened.
#[derive(Clone, Copy)]
pub enum Where<'a> {
    /// In this process's memory.
    Memory,
    /// In a file.
    File(&'a Path),
    /// On a server; `create` and `env` are the site's.
    Server(&'a ServerOptions),
}

/// Where something is opened, and for whom.
#[derive(Clone, Copy)]
pub struct Site<'a> {
    /// Where.
    pub place: Where<'a>,
    /// The cluster and the slot whose store it is; `None` of a ledger.
    pub owner: Option<(&'a SequenceName, SlotIndex)>,
    /// Whether what is missing is made.
    pub create: bool,
    /// Where time is read, and what is random.
    pub env: &'a Env,
}

impl<'a> Site<'a> {
    /// How the server is reached.
    pub(crate) fn server(&self) -> Result<ServerOptions, SourceError> {
        match self.place {
            Where::Server(options) => {
                Ok(ServerOptions { create: self.create, env: self.env.clone(), ..options.clone() })
            }
            _ => Err(refused("the options of a server are expected")),
        }
    }

    /// The file's path.
    pub(crate) fn path(&self) -> Result<&'a Path, SourceError> {
        match self.place {
            Where::File(path) => Ok(path),
            _ => Err(refused("a file's path is expected")),
        }
    }

    /// Whose slot it is.
    pub(crate) fn owner(&self) -> Result<Owner, SourceError> {
        let (cluster, slot) = self.owner.ok_or_else(|| refused("a store belongs to a slot of a cluster"))?;
        Ok(Owner { cluster: cluster.clone(), slot })
    }
}

/// A store or a ledger, and how it is closed.
pub struct Opened<T: ?Sized> {
    /// It connects at its first call.
    pub handle: Arc<T>,
    /// Closes its connections.
    pub close: Arc<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync>,
}

/// A store on an engine.
pub(crate) fn opened_store<E: crate::store::StoreEngine>(
    store: crate::store::CoreStore<E>,
) -> Opened<dyn Store> {
    let store = Arc::new(store);
    let closing = Arc::clone(&store);
    let close = move || -> BoxFuture<'static, ()> {
        let store = Arc::clone(&closing);
        Box::pin(async move { store.disconnect().await })
    };
    Opened { handle: store, close: Arc::new(close) }
}

/// A ledger on an engine.
pub(crate) fn opened_ledger<E: crate::ledger::LedgerEngine>(
    ledger: crate::ledger::CoreLedger<E>,
) -> Opened<dyn Ledger> {
    let ledger = Arc::new(ledger);
    let closing = Arc::clone(&ledger);
    let close = move || -> BoxFuture<'static, ()> {
        let ledger = Arc::clone(&closing);
        Box::pin(async move { ledger.disconnect().await })
    };
    Opened { handle: ledger, close: Arc::new(close) }
}

pub(super) fn refused(context: impl Into<String>) -> SourceError {
    SourceError::new(ErrorKind::Refused, context.into())
}
