//! Merged calls: requests that arrive during a call are sent together in the next one.

use tokio::sync::{mpsc, oneshot};

use crate::BoxFuture;

/// Queue of requests that are answered by batched calls, one call at a time.
///
/// A request never waits for a batch to fill. The first is sent at once, together with those already queued; later ones share
/// the next call. If a caller goes away, only its answer is lost; the request is still sent.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// use sequent_core::Merge;
/// let (merge, driver) = Merge::new(1024, 64, |asks: Vec<u64>| {
///     Box::pin(async move { asks.into_iter().map(|ask| ask * 2).collect() })
/// });
/// tokio::spawn(driver);
/// assert_eq!(merge.ask(21).await, Ok(42));
/// # });
/// ```
pub struct Merge<A, R> {
    queue: mpsc::Sender<(A, oneshot::Sender<R>)>,
}

/// The driver of a [`Merge`] has ended, or its call returned fewer answers than requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the merged call has ended")]
pub struct MergeClosed;

impl<A, R> Clone for Merge<A, R> {
    fn clone(&self) -> Self {
        Self { queue: self.queue.clone() }
    }
}

impl<A, R> std::fmt::Debug for Merge<A, R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Merge").field("free", &self.queue.capacity()).finish()
    }
}

impl<A: Send + 'static, R: Send + 'static> Merge<A, R> {
    /// Creates the queue and its driver, a future that the caller must spawn.
    ///
    /// At most `queue` requests wait; further callers wait to get in. `call` gets at most `most` requests and returns their
    /// answers in the same order. The driver ends when all handles are dropped and the queue is empty.
    pub fn new<F>(
        queue: usize,
        most: usize,
        mut call: F,
    ) -> (Self, impl Future<Output = ()> + Send + use<A, R, F>)
    where
        F: FnMut(Vec<A>) -> BoxFuture<'static, Vec<R>> + Send + 'static,
    {
        let (sender, mut receiver) = mpsc::channel::<(A, oneshot::Sender<R>)>(queue.max(1));
        let driver = async move {
            let mut batch = Vec::new();
            while receiver.recv_many(&mut batch, most.max(1)).await > 0 {
                // Callers answered by the last call are about to ask again. Without this yield, the first of them would be sent
                // alone each time, and the others would wait for it.
                yield_once().await;
                while batch.len() < most
                    && let Ok(ask) = receiver.try_recv()
                {
                    batch.push(ask);
                }
                let (asks, callers): (Vec<A>, Vec<_>) = batch.drain(..).unzip();
                for (answer, caller) in call(asks).await.into_iter().zip(callers) {
                    // If the caller went away, its answer is dropped and the numbers in it are burnt.
                    drop(caller.send(answer));
                }
            }
        };
        (Self { queue: sender }, driver)
    }

    /// Joins the next call and waits for the answer to this request.
    pub async fn ask(&self, ask: A) -> Result<R, MergeClosed> {
        let (sender, receiver) = oneshot::channel();
        self.queue.send((ask, sender)).await.map_err(|_| MergeClosed)?;
        receiver.await.map_err(|_| MergeClosed)
    }
}

/// Yields once to other ready tasks, under any executor.
async fn yield_once() {
    let mut waited = false;
    std::future::poll_fn(|cx| {
        if std::mem::replace(&mut waited, true) {
            return std::task::Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        std::task::Poll::Pending
    })
    .await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    #[tokio::test]
    async fn asks_that_wait_travel_together() {
        let sizes = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&sizes);
        let (merge, driver) = Merge::new(64, 8, move |asks: Vec<u32>| {
            noted.lock().unwrap().push(asks.len());
            Box::pin(async move {
                tokio::task::yield_now().await;
                asks
            })
        });
        let callers: Vec<_> = (0..20)
            .map(|ask| {
                let merge = merge.clone();
                tokio::spawn(async move { merge.ask(ask).await })
            })
            .collect();
        tokio::spawn(driver);
        for (ask, caller) in (0..20).zip(callers) {
            assert_eq!(caller.await.unwrap(), Ok(ask));
        }
        assert_eq!(*sizes.lock().unwrap(), [8, 8, 4]);
    }

    #[tokio::test]
    async fn a_short_answer_is_an_error_not_a_hang() {
        let (merge, driver) = Merge::new(1, 1, |_: Vec<u32>| Box::pin(async { Vec::<u32>::new() }));
        tokio::spawn(driver);
        assert_eq!(merge.ask(1).await, Err(MergeClosed));
    }
}
