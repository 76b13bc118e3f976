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

/// Wakes a waiting caller when its deadline passes.
pub(crate) type Timer = Pin<Box<Sleep>>;

/// What a look at the queue found.
#[derive(Debug)]
pub(crate) enum Found {
    Answer(Answer),
    /// Nothing yet; the timer, if there is one, is to be polled and given back.
    Waiting(Option<Timer>),
}

/// A caller that waits: a place in the queue by its number, so that a future that never waits carries nothing to be dropped.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place(u64);

impl Place {
    /// The answer at once, or a place in the queue.
    pub(crate) fn enter(
        inner: &Inner,
        (want, miss): (u64, Option<Miss>),
        deadline: Option<Instant>,
        cx: &mut Context<'_>,
    ) -> Result<Answer, Self> {
        let timer = |deadline: Instant| Box::pin(sleep_until(deadline.into()));
        let ask = Ask { want, miss, waker: Some(cx.waker()) };
        let place = match Turn::begin(inner).serve(ask) {
            Reply::Done(answer) => return Ok(answer),
            Reply::Waiting(id) => Self(id),
        };
        match place.wait(inner, deadline.map(timer), cx) {
            Poll::Ready(answer) => Ok(answer),
            Poll::Pending => Err(place),
        }
    }

    pub(crate) fn poll(self, inner: &Inner, cx: &mut Context<'_>) -> Poll<Answer> {
        match Turn::begin(inner).look(self.0, cx.waker()) {
            Found::Answer(answer) => Poll::Ready(answer),
            Found::Waiting(timer) => self.wait(inner, timer, cx),
        }
    }

    /// Passes the turn on, and what was dealt and not fetched to the next.
    pub(crate) fn leave(self, inner: &Inner) {
        Turn::begin(inner).leave(self.0);
    }

    fn wait(self, inner: &Inner, timer: Option<Timer>, cx: &mut Context<'_>) -> Poll<Answer> {
        let Some(mut timer) = timer else { return Poll::Pending };
        if timer.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Turn::begin(inner).give_up(self.0));
        }
        Turn::begin(inner).keep_timer(self.0, timer);
        Poll::Pending
    }
}

/// `count` numbers or none: waits, and passes the turn on when it is dropped.
#[derive(Debug)]
pub(crate) struct Many<'a> {
    pub(crate) inner: &'a Inner,
    pub(crate) count: u64,
    /// The draw that found nothing, where one was tried.
    pub(crate) miss: Option<Miss>,
    pub(crate) deadline: Option<Instant>,
    pub(crate) place: Option<Place>,
}

impl Future for Many<'_> {
    type Output = Answer;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Answer> {
        let Some(place) = self.place else {
            return match Place::enter(self.inner, (self.count, self.miss.take()), self.deadline, cx) {
                Ok(answer) => Poll::Ready(answer),
                Err(place) => {
                    self.place = Some(place);
                    Poll::Pending
                }
            };
        };
        let answer = std::task::ready!(place.poll(self.inner, cx));
        self.place = None;
        Poll::Ready(answer)
    }
}

impl Drop for Many<'_> {
    fn drop(&mut self) {
        if let Some(place) = self.place {
            place.leave(self.inner);
        }
    }
}
