//! A handle in a child of the process that made it: what it holds is the parent's, so it has its like there.

use std::sync::Arc;

use crate::{client::fork_detection::ForkGuard, sequence::Sequence};

impl Sequence {
    /// This handle; in a forked child its like.
    #[inline]
    pub(crate) fn in_this_process(&self) -> &Self {
        if self.fork_guard.is_forked_child() { self.child_handle() } else { self }
    }

    /// The same, but in a child that has not called a server yet nothing: it may still stand in its parent's runtime,
    /// whose threads it has not got. Who waits has one that runs.
    #[inline]
    pub(crate) fn in_this_process_if_started(&self) -> Option<&Self> {
        if self.fork_guard.is_forked_child() {
            self.child.get()?.in_this_process_if_started()
        } else {
            Some(self)
        }
    }

    #[cold]
    #[inline(never)]
    fn child_handle(&self) -> &Self {
        let child = self.child.get_or_init(|| {
            let client = self.client.in_this_process().clone();
            // The name was good before, and the child's own table is empty.
            let shared =
                client.state().shared(self.shared.scope.clone()).unwrap_or_else(|_| Arc::clone(&self.shared));
            Box::new(Self { deadline: self.deadline, ..Self::new(client, shared) })
        });
        child.in_this_process()
    }

    /// The process that this handle was made in.
    pub(crate) fn fork_guard(&self) -> &ForkGuard {
        &self.fork_guard
    }

    /// Whether this is a child of the process that made this handle.
    #[inline]
    pub(crate) fn is_forked_child(&self) -> bool {
        self.fork_guard.is_forked_child()
    }
}
