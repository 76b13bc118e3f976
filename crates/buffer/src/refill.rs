//! The one refill in flight: a task of its own, going on while demand asks for more.

use std::{future::Future, sync::Arc};

use crate::turn::Turn;
use crate::{inner::Inner, turn};

/// Asks the source until the appetite is stilled or the source fails.
///
/// Who speaks for the task is there before its first poll: a runtime that is shutting down drops it unpolled.
pub(crate) fn run(inner: Arc<Inner>, want: u64) -> impl Future<Output = ()> + Send {
    ask_on(Task(Some(inner)), want)
}

async fn ask_on(task: Task, want: u64) {
    let mut next = Some(want);
    while let (Some(want), Some(inner)) = (next, &task.0) {
        let clock = &inner.setting.env.clock;
        let begun = clock.now();
        let outcome = inner.source.0.take(want).await;
        let took = clock.now().saturating_duration_since(begun);
        next = Turn::begin(inner).refilled(outcome, took);
        if next.is_some() {
            // A source that answers at once must not keep everyone else from running.
            tokio::task::yield_now().await;
        }
    }
    task.done();
}

/// Speaks for a task that ends early: dropped with its runtime, or by a panic in the source.
struct Task(Option<Arc<Inner>>);

impl Task {
    fn done(mut self) {
        self.0 = None;
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        if let Some(inner) = self.0.take() {
            turn::cut_off(&inner);
        }
    }
}
