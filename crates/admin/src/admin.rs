//! Handle for operators' commands on a cluster.

use std::{sync::Arc, time::Duration};

use sequent_core::{Layout, ledger::Ledger};
use sequent_engine::{ClusterHandle, Engine, OpenError, Options, config::Config};

/// Handle for operators' commands on an existing cluster. It takes no number, stamps nothing, and needs no
/// shard that answers. Cheap to clone.
#[derive(Clone)]
pub struct Admin(pub(crate) Arc<ClusterHandle>);

impl Admin {
    /// Opens the ledger of an existing cluster; never makes one.
    pub async fn open(config: &Config, options: &Options) -> Result<Self, OpenError> {
        Ok(Self(Arc::new(ClusterHandle::open(config, options).await?)))
    }

    /// The handle for the cluster of a running engine; it ends with the engine.
    pub fn of(engine: &Engine) -> Self {
        Self(Arc::clone(engine.cluster()))
    }

    /// What can be read of the cluster: lists, and the state of each store.
    pub fn cluster(&self) -> &ClusterHandle {
        &self.0
    }

    /// Closes the files that it has opened; returns those that could not be closed in time.
    pub async fn close(&self) -> Vec<String> {
        self.0.close().await
    }

    pub(crate) fn layout(&self) -> Layout {
        self.0.layout()
    }

    pub(crate) fn ledger(&self) -> &dyn Ledger {
        &*self.0.ledger
    }

    pub(crate) fn limit(&self) -> Duration {
        self.0.limit
    }
}
