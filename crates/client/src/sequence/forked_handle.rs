//! Handle of a forked child. The numbers of a handle belong to the parent, so the child gets a handle of its own.

use std::sync::Arc;

use crate::sequence::Sequence;

impl Sequence {
    /// This handle. In a forked child, the child's own.
    #[inline]
    pub(crate) fn in_this_process(&self) -> &Self {
        if self.fork_guard.is_forked_child() { self.child_handle() } else { self }
    }

    /// This handle. In a forked child, its own, or `None` before its first call that waits: the runtime inherited
    /// from the parent has no threads. A call that waits has a runtime.
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
            // The name was valid before, and the child's table is empty.
            let shared =
                client.state().shared(self.shared.scope.clone()).unwrap_or_else(|_| Arc::clone(&self.shared));
            Box::new(Self { deadline: self.deadline, ..Self::new(client, shared) })
        });
        child.in_this_process()
    }

    /// Whether this process is a forked child of the one that made the handle.
    #[inline]
    pub(crate) fn is_forked_child(&self) -> bool {
        self.fork_guard.is_forked_child()
    }
}
