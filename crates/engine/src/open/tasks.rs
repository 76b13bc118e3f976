//! The set of background tasks. The engine owns it, and stops all of them at the end.

use std::sync::{Arc, Mutex};

use sequent_buffer::Spawner;
use sequent_core::{BoxFuture, sync};
use tokio::task::JoinSet;

/// One set of tasks. After [`Tasks::stop`] nothing can be added. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Tasks(Arc<Mutex<Option<JoinSet<()>>>>);

impl Tasks {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(Some(JoinSet::new()))))
    }

    /// Adds a task, and removes those that have ended.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        if let Some(set) = sync::lock(&self.0).as_mut() {
            while set.try_join_next().is_some() {}
            set.spawn(task);
        }
    }

    /// The same as a function, for the layers below.
    pub(crate) fn spawner(&self) -> Spawner {
        let tasks = self.clone();
        Arc::new(move |task: BoxFuture<'static, ()>| tasks.spawn(task))
    }

    /// Aborts every task.
    pub(crate) async fn stop(&self) {
        let set = sync::lock(&self.0).take();
        if let Some(mut set) = set {
            set.shutdown().await;
        }
    }
}
