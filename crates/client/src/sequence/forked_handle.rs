//! A handle in a child of the process that made it: what it holds is the parent's, so it has its like there.

use std::sync::Arc;

use crate::{client::fork_detection::Process, sequence::Sequence};

impl Sequence {
    /// This handle; in a forked child its like.
    #[inline]
    pub(crate) fn here(&self) -> &Self {
        if self.process.is_left() { self.childs() } else { self }
    }

    /// The same, but in a child that has not called a server yet nothing: it may still stand in its parent's runtime,
    /// whose threads it has not got. Who waits has one that runs.
    #[inline]
    pub(crate) fn begun(&self) -> Option<&Self> {
        if self.process.is_left() { self.child.get()?.begun() } else { Some(self) }
    }

    #[cold]
    #[inline(never)]
    fn childs(&self) -> &Self {
        let child = self.child.get_or_init(|| {
            let client = self.client.here().clone();
            // The name was good before, and the child's own table is empty.
            let shared = client
                .ground()
                .shared(self.shared.scope.clone())
                .unwrap_or_else(|_| Arc::clone(&self.shared));
            Box::new(Self { deadline: self.deadline, ..Self::new(client, shared) })
        });
        child.here()
    }

    /// The process that this handle was made in.
    pub(crate) fn process(&self) -> &Process {
        &self.process
    }

    /// Whether this is a child of the process that made this handle.
    #[inline]
    pub(crate) fn is_left(&self) -> bool {
        self.process.is_left()
    }
}
