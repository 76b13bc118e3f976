//! Something to wait for beside the work, that costs the work nothing.

use std::{
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

/// A future that is looked at only when it was woken itself, not each time that its task was woken for something else:
/// looking at a timer or a watched value takes locks that all connections share. Once over, it is never looked at again.
pub(crate) struct Aside<F> {
    future: Option<Pin<Box<F>>>,
    /// Who polled it last, and is woken.
    task: Option<Waker>,
    bell: Arc<Bell>,
    waker: Waker,
}

struct Bell {
    rung: AtomicBool,
    task: Mutex<Option<Waker>>,
}

impl<F: Future> Aside<F> {
    pub(crate) fn new(future: F) -> Self {
        // The first poll looks.
        let bell = Arc::new(Bell { rung: AtomicBool::new(true), task: Mutex::default() });
        Self { future: Some(Box::pin(future)), task: None, waker: Waker::from(Arc::clone(&bell)), bell }
    }
}

impl<F: Future> Future for Aside<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = &mut *self;
        let same = this.task.as_ref().is_some_and(|task| task.will_wake(cx.waker()));
        if same && !this.bell.rung.load(Ordering::Acquire) {
            return Poll::Pending;
        }
        if !same {
            this.task = Some(cx.waker().clone());
            this.bell.task.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&this.task);
        }
        // Before the look: who rings during it is heard.
        this.bell.rung.store(false, Ordering::Release);
        let Some(future) = &mut this.future else { return Poll::Pending };
        let over = future.as_mut().poll(&mut Context::from_waker(&this.waker));
        if over.is_ready() {
            this.future = None;
        }
        over
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.rung.store(true, Ordering::Release);
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
        let looks = Arc::new(AtomicUsize::new(0));
        let (sender, mut receiver) = tokio::sync::oneshot::channel();
        let seen = Arc::clone(&looks);
        let mut aside = Aside::new(std::future::poll_fn(move |cx| {
            seen.fetch_add(1, Ordering::Relaxed);
            Pin::new(&mut receiver).poll(cx)
        }));
        for _ in 0..10 {
            std::future::poll_fn(|cx| {
                assert!(Pin::new(&mut aside).poll(cx).is_pending());
                Poll::Ready(())
            })
            .await;
        }
        assert_eq!(looks.load(Ordering::Relaxed), 1);
        let task = tokio::spawn(aside);
        tokio::task::yield_now().await;
        sender.send(7).unwrap();
        assert_eq!(task.await.unwrap(), Ok(7));
    }
}
