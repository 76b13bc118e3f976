//! Where HTTP/2 streams run: in place, as long as they need not wait.

use std::{
    pin::Pin,
    task::{Context, Waker},
};

use hyper::rt::Executor;

/// Runs a stream at once, within its connection's task, and gives it a task of its own only if it has to wait.
///
/// An answer that is ready costs no task, no wake-up and no trip to another thread: with a task for each stream, as
/// stock servers have it, those cost more than the answer does.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Inline;

impl<F> Executor<F> for Inline
where
    F: Future<Output = ()> + Send + 'static,
{
    fn execute(&self, stream: F) {
        let mut stream: Pin<Box<F>> = Box::pin(stream);
        // Whoever was told of this waker is told of the task's, since a task polls at least once.
        if stream.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending() {
            tokio::spawn(stream);
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
    async fn what_is_ready_runs_in_place_and_what_waits_is_woken_later() {
        let done = Arc::new(AtomicBool::new(false));
        let mark = |done: &Arc<AtomicBool>| {
            let done = Arc::clone(done);
            move || done.store(true, Ordering::Relaxed)
        };
        let ready = mark(&done);
        Inline.execute(async move { ready() });
        assert!(done.swap(false, Ordering::Relaxed), "before execute returned");
        let (sender, receiver) = tokio::sync::oneshot::channel::<()>();
        let (late, over) = (mark(&done), Arc::new(tokio::sync::Notify::new()));
        let ended = Arc::clone(&over);
        Inline.execute(async move {
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
