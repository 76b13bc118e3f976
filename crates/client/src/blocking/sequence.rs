//! A sequence for threads that may wait.

use std::{sync::OnceLock, time::Duration};

use crate::{
    blocking::client::Client, error::Error, number::Number, render::text::Issued, sequence::next::no_number,
};

/// Numbers of one sequence, as [`crate::Sequence`] gives them. Cheap to clone, to be shared by all threads.
#[derive(Debug, Clone)]
pub struct Sequence {
    inner: crate::sequence::Sequence,
    client: Client,
    /// The same handle, in a child of the process that made this one; or why there is none.
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

    /// The same sequence, each of whose takes may wait this long.
    #[must_use]
    pub fn deadline(self, deadline: Duration) -> Self {
        Self::new(self.inner.deadline(deadline), self.client)
    }

    /// A number: from the lease in memory at once, and only where that is dry, from a server.
    #[inline]
    #[allow(clippy::should_implement_trait, reason = "not an iterator: it may fail, and goes on after that")]
    pub fn next(&self) -> Result<Number, Error> {
        let here = self.in_this_process()?;
        match here.inner.draw() {
            Ok(number) => Number::of(number).ok_or_else(no_number),
            Err(empty) => here.client.worker().wait(here.inner.wait(empty)),
        }
    }

    /// A number that is ready, or `None`: never waits. Finding nothing, it sends for more.
    #[inline]
    pub fn try_next(&self) -> Option<Number> {
        self.in_this_process().ok()?.inner.try_next()
    }

    /// So many numbers, ascending, or none; at most 1,000,000.
    pub fn next_many(&self, count: usize) -> Result<Vec<Number>, Error> {
        let here = self.in_this_process()?;
        here.client.worker().wait(here.inner.next_many(count))
    }

    /// A number that no lease has held; callers that wait at the same time are answered by one request.
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

    /// So many numbers with their texts, of one instant and one period, or none.
    pub fn next_texts(&self, count: u32) -> Result<Vec<Issued>, Error> {
        let here = self.in_this_process()?;
        here.client.worker().wait(here.inner.next_texts(count))
    }

    /// Waits until a first lease is held.
    pub fn ready(&self) -> Result<(), Error> {
        let here = self.in_this_process()?;
        here.client.worker().wait(here.inner.ready())
    }

    /// A handle for one thread, a few times faster than a shared one: it holds some numbers of its own.
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
            let sequence = client.sequence(self.name())?.deadline(self.inner.timeout_duration());
            let sequence = Self::new(sequence.inner.scoped(self.inner.scope()), client);
            Ok(Box::new(sequence))
        });
        child.as_ref().map_err(Clone::clone)?.in_this_process()
    }
}

/// A handle of its own, for the last factor of speed, as [`crate::Local`] is.
#[derive(Debug)]
pub struct Local {
    local: crate::sequence::local::Local,
    client: Client,
}

impl Local {
    /// A number that is ready, or `None`: never waits. Finding nothing, it sends for more.
    #[inline]
    pub fn try_next(&mut self) -> Option<Number> {
        self.local.try_next()
    }

    /// A number, as [`Sequence::next`] gives it.
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
