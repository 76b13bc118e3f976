//! Background thread of a blocking client, and how callers wait for its work.

use std::{
    future::Future,
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
};

use tokio::{
    runtime::{Builder, Handle},
    sync::oneshot,
};

use crate::error::{Error, SERVER_UNAVAILABLE};

/// Runtime on a thread of its own. Both end with the last handle.
#[derive(Debug, Clone)]
pub(crate) struct Worker {
    handle: Handle,
    _stop: Arc<oneshot::Sender<()>>,
}

impl Worker {
    pub(crate) fn start() -> Result<Self, Error> {
        let failed = |error| Error::new(SERVER_UNAVAILABLE, format!("no thread for the client: {error}"));
        let runtime = Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel::<()>();
        let work = move || drop(runtime.block_on(stopped));
        thread::Builder::new().name("sequent-client".to_owned()).spawn(work).map_err(failed)?;
        Ok(Self { handle, _stop: Arc::new(stop) })
    }

    /// Waits for `work` on the calling thread. A runtime of that thread is not used.
    pub(crate) fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        let _timers = self.handle.enter();
        let waker = Waker::from(Arc::new(Unpark(thread::current())));
        let mut cx = Context::from_waker(&waker);
        let mut work = pin!(work);
        loop {
            match work.as_mut().poll(&mut cx) {
                Poll::Ready(done) => return done,
                Poll::Pending => thread::park(),
            }
        }
    }
}

/// Waker that unparks a thread.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
