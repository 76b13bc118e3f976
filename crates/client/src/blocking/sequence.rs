//! Blocking sequence.

use std::{sync::OnceLock, time::Duration};

use crate::{
    blocking::client::Client, error::Error, number::Number, render::text::Issued, sequence::next::no_number,
};

/// Numbers of one sequence, like [`crate::Sequence`]. Cheap to clone, and shared by all threads.
#[derive(Debug, Clone)]
pub struct Sequence {
    inner: crate::sequence::Sequence,
    client: Client,
    /// The handle of a forked child, or the error that prevents it.
    child: OnceLock<Result<Box<Sequence>, Error>>,
}

impl Sequence {
    pub(super) fn new(inner: crate::sequence::Sequence, client: Client) -> Self {
        Self { inner, client, child: OnceLock::new() }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.inner.name()
    }

    /// The same sequence with another deadline for each call.
    #[must_use]
    pub fn deadline(self, deadline: Duration) -> Self {
        Self::new(self.inner.deadline(deadline), self.client)
    }

    /// The next number: from the lease in memory, or from a server if the lease is used up.
    #[inline]
    #[allow(clippy::should_implement_trait, reason = "not an iterator: it may fail, and goes on after that")]
    pub fn next(&self) -> Result<Number, Error> {
        let here = self.in_this_process()?;
        match here.inner.reservoir.draw() {
            Ok(number) => Number::of(number).ok_or_else(no_number),
            Err(empty) => here.client.worker().wait(here.inner.wait(empty)),
        }
    }

    /// A number that is ready, or `None`. It never waits. Without a number, it starts a refill.
    #[inline]
    pub fn try_next(&self) -> Option<Number> {
        self.in_this_process().ok()?.inner.try_next()
    }

    /// `count` numbers in ascending order, or none; at most 1,000,000.
    pub fn next_many(&self, count: usize) -> Result<Vec<Number>, Error> {
        let here = self.in_this_process()?;
        here.client.worker().wait(here.inner.next_many(count))
    }

    /// A number that was never part of a lease. Concurrent callers share one request.
    pub fn next_fresh(&self) -> Result<Number, Error> {
        let here = self.in_this_process()?;
        here.client.worker().wait(here.inner.next_fresh())
    }

    /// The same sequence with a value for its template.
    #[must_use]
    pub fn with(&self, name: impl Into<String>, value: impl Into<String>) -> Self {
        Self::new(self.inner.with(name, value), self.client.clone())
    }

    /// The same sequence at another instant than now.
    #[must_use]
    pub fn at(&self, instant: impl Into<String>) -> Self {
        Self::new(self.inner.at(instant), self.client.clone())
    }

    /// A number with its text.
    pub fn next_text(&self) -> Result<Issued, Error> {
        let here = self.in_this_process()?;
        match here.inner.try_next_text() {
            Some(issued) => Ok(issued),
            None => here.client.worker().wait(here.inner.next_text()),
        }
    }

    /// `count` numbers with their texts, of one instant and one period, or none.
    pub fn next_texts(&self, count: u32) -> Result<Vec<Issued>, Error> {
        let here = self.in_this_process()?;
        here.client.worker().wait(here.inner.next_texts(count))
    }

    /// Waits until a first lease is held.
    pub fn ready(&self) -> Result<(), Error> {
        let here = self.in_this_process()?;
        here.client.worker().wait(here.inner.ready())
    }

    /// A handle for one thread. It is a few times faster than a shared one, since it holds some numbers of its own.
    pub fn local(&self) -> Local {
        let here = self.in_this_process().unwrap_or(self);
        Local { local: here.inner.local(), client: here.client.clone() }
    }

    #[inline]
    fn in_this_process(&self) -> Result<&Self, Error> {
        if self.inner.is_forked_child() { self.child_handle() } else { Ok(self) }
    }

    #[cold]
    #[inline(never)]
    fn child_handle(&self) -> Result<&Self, Error> {
        let child = self.child.get_or_init(|| {
            let client = self.client.in_this_process()?.clone();
            let sequence = client.sequence(self.name())?.deadline(self.inner.deadline);
            let sequence = Self::new(sequence.inner.scoped(&self.inner.shared.scope), client);
            Ok(Box::new(sequence))
        });
        child.as_ref().map_err(Clone::clone)?.in_this_process()
    }
}

/// Handle of one thread, for the highest speed. See [`crate::Local`].
#[derive(Debug)]
pub struct Local {
    local: crate::sequence::local::Local,
    client: Client,
}

impl Local {
    /// A number that is ready, or `None`. It never waits. Without a number, it starts a refill.
    #[inline]
    pub fn try_next(&mut self) -> Option<Number> {
        self.local.try_next()
    }

    /// The next number, like [`Sequence::next`].
    #[inline]
    #[allow(clippy::should_implement_trait, reason = "not an iterator: it may fail, and goes on after that")]
    pub fn next(&mut self) -> Result<Number, Error> {
        match self.local.try_next() {
            Some(number) => Ok(number),
            None => self.wait(),
        }
    }

    #[cold]
    #[inline(never)]
    fn wait(&mut self) -> Result<Number, Error> {
        let client = self.client.in_this_process()?.clone();
        client.worker().wait(self.local.next())
    }
}
