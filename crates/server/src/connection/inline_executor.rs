//! Executor of HTTP/2 streams: polls each stream once in place, and spawns it only if it is pending.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::{Context, Waker},
};

use hyper::rt::Executor;

/// Executor that polls a stream within the task of its connection. Only a pending stream gets a task of its own.
///
/// A response that is ready thus needs no task, no wake-up and no change of thread. A task per stream, as
/// hyper-util's `TokioExecutor` starts, costs more than such a response.
///
/// A panic ends only its own stream, as it would in a task. Otherwise it would end all requests of the connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InlineExecutor;

impl<F> Executor<F> for InlineExecutor
where
    F: Future<Output = ()> + Send + 'static,
{
    fn execute(&self, stream: F) {
        let mut stream: Pin<Box<F>> = Box::pin(stream);
        // The no-op waker loses no wake-up: a spawned task polls the stream at least once more.
        let mut context = Context::from_waker(Waker::noop());
        // After a panic the stream is not polled again. It is dropped, and the peer gets a reset.
        match catch_unwind(AssertUnwindSafe(|| stream.as_mut().poll(&mut context))) {
            Ok(outcome) if outcome.is_pending() => drop(tokio::spawn(stream)),
            Ok(_) => {}
            Err(_) => tracing::error!("a request ended in a panic: this is a defect, please report it"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    };

    #[tokio::test]
    async fn a_panic_ends_its_own_stream_only() {
        InlineExecutor.execute(async { panic!("as expected by this test") });
        let done = Arc::new(AtomicBool::new(false));
        let next = Arc::clone(&done);
        InlineExecutor.execute(async move { next.store(true, Ordering::Relaxed) });
        assert!(done.load(Ordering::Relaxed));
    }

    #[tokio::test]
    async fn what_is_ready_runs_in_place_and_what_waits_is_woken_later() {
        let done = Arc::new(AtomicBool::new(false));
        let mark = |done: &Arc<AtomicBool>| {
            let done = Arc::clone(done);
            move || done.store(true, Ordering::Relaxed)
        };
        let ready = mark(&done);
        InlineExecutor.execute(async move { ready() });
        assert!(done.swap(false, Ordering::Relaxed), "before execute returned");
        let (sender, receiver) = tokio::sync::oneshot::channel::<()>();
        let (late, over) = (mark(&done), Arc::new(tokio::sync::Notify::new()));
        let ended = Arc::clone(&over);
        InlineExecutor.execute(async move {
            receiver.await.unwrap();
            late();
            ended.notify_one();
        });
        assert!(!done.load(Ordering::Relaxed));
        sender.send(()).unwrap();
        over.notified().await;
        assert!(done.load(Ordering::Relaxed));
    }
}
