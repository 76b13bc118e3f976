//! A caller in the queue, up to its deadline.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
    time::Instant,
};

use tokio::time::{Sleep, sleep_until};

use crate::{
    gate::Miss,
    inner::Inner,
    queue::Answer,
    turn::{Ask, Reply, Turn},
};

/// A place in the queue of a reservoir. Dropping it passes the turn on.
#[derive(Debug)]
pub(crate) struct Wait<'a> {
    inner: &'a Inner,
    id: Option<u64>,
    deadline: Option<Pin<Box<Sleep>>>,
}

impl<'a> Wait<'a> {
    /// The answer at once, or a place in the queue.
    pub(crate) fn begin(
        inner: &'a Inner,
        want: u64,
        miss: Option<Miss>,
        deadline: Option<Instant>,
        cx: &mut Context<'_>,
    ) -> Result<Answer, Self> {
        let ask = Ask { want, miss, waker: Some(cx.waker()) };
        let id = match Turn::begin(inner).serve(ask) {
            Reply::Done(answer) => return Ok(answer),
            Reply::Waiting(id) => Some(id),
            Reply::Dry => None,
        };
        let deadline = deadline.map(|deadline| Box::pin(sleep_until(deadline.into())));
        let mut place = Self { inner, id, deadline };
        match place.poll(cx) {
            Poll::Ready(answer) => Ok(answer),
            Poll::Pending => Err(place),
        }
    }

    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Answer> {
        let Some(id) = self.id else { return Poll::Pending };
        if let Some(answer) = Turn::begin(self.inner).fetch(id, cx.waker()) {
            self.id = None;
            return Poll::Ready(answer);
        }
        let passed = self.deadline.as_mut().is_some_and(|deadline| deadline.as_mut().poll(cx).is_ready());
        if !passed {
            return Poll::Pending;
        }
        self.id = None;
        Poll::Ready(Turn::begin(self.inner).give_up(id))
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        if let Some(id) = self.id.take() {
            Turn::begin(self.inner).leave(id);
        }
    }
}
