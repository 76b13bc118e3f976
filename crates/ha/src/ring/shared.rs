//! What a ring shares with its keys and its probe loop.

use std::sync::Arc;

use sequent_core::Layout;

use crate::membership::Membership;

pub(super) struct Shared {
    pub(super) layout: Layout,
    pub(super) membership: Arc<Membership>,
}

impl Drop for Shared {
    /// Wakes the probe loop, so that it ends.
    fn drop(&mut self) {
        self.membership.changed().notify_one();
    }
}
