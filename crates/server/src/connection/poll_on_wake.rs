//! Future that is polled only after its own waker was called.

use std::{
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

/// Future that is polled only after its own waker was called, not on each wake-up of its task. Polling a timer or a
/// watch channel takes locks that all connections share. A finished future is never polled again.
pub(crate) struct PollOnWake<F> {
    future: Option<Pin<Box<F>>>,
    /// Waker of the task that polled last.
    task: Option<Waker>,
    flag: Arc<WakeFlag>,
    waker: Waker,
}

struct WakeFlag {
    is_woken: AtomicBool,
    task: Mutex<Option<Waker>>,
}

impl<F: Future> PollOnWake<F> {
    pub(crate) fn new(future: F) -> Self {
        // Set, so that the first poll reaches the future.
        let flag = Arc::new(WakeFlag { is_woken: AtomicBool::new(true), task: Mutex::default() });
        Self { future: Some(Box::pin(future)), task: None, waker: Waker::from(Arc::clone(&flag)), flag }
    }
}

impl<F: Future> Future for PollOnWake<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = &mut *self;
        let same = this.task.as_ref().is_some_and(|task| task.will_wake(cx.waker()));
        if same && !this.flag.is_woken.load(Ordering::Acquire) {
            return Poll::Pending;
        }
        if !same {
            this.task = Some(cx.waker().clone());
            this.flag.task.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&this.task);
        }
        // Cleared before the poll: a wake-up during the poll is then not lost.
        this.flag.is_woken.store(false, Ordering::Release);
        let Some(future) = &mut this.future else { return Poll::Pending };
        let over = future.as_mut().poll(&mut Context::from_waker(&this.waker));
        if over.is_ready() {
            this.future = None;
        }
        over
    }
}

impl Wake for WakeFlag {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.is_woken.store(true, Ordering::Release);
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(task) = task {
            task.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[tokio::test]
    async fn it_is_looked_at_when_it_rings_and_not_otherwise() {
        let polls = Arc::new(AtomicUsize::new(0));
        let (sender, mut receiver) = tokio::sync::oneshot::channel();
        let seen = Arc::clone(&polls);
        let mut future_under_test = PollOnWake::new(std::future::poll_fn(move |cx| {
            seen.fetch_add(1, Ordering::Relaxed);
            Pin::new(&mut receiver).poll(cx)
        }));
        for _ in 0..10 {
            std::future::poll_fn(|cx| {
                assert!(Pin::new(&mut future_under_test).poll(cx).is_pending());
                Poll::Ready(())
            })
            .await;
        }
        assert_eq!(polls.load(Ordering::Relaxed), 1);
        let task = tokio::spawn(future_under_test);
        tokio::task::yield_now().await;
        sender.send(7).unwrap();
        assert_eq!(task.await.unwrap(), Ok(7));
    }
}
