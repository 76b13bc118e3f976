//! Thread that expires leases. A thread needs no runtime, which may be busy, blocked or gone while old numbers must
//! not leave.

use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Weak},
    thread,
};

use crate::client::{options::TICK, state::ClientState};

/// Starts the thread. It ends only with the client's state. After a suspension it runs at once, or within a tick.
pub(crate) fn start(state: &Arc<ClientState>) -> io::Result<()> {
    let weak: Weak<ClientState> = Arc::downgrade(state);
    let tick = move || {
        while let Some(state) = weak.upgrade() {
            // A panic in here is one of user code, for example of a waker, and its hook has run. Leases must expire
            // all the same.
            drop(catch_unwind(AssertUnwindSafe(|| state.tick())));
            drop(state);
            thread::sleep(TICK);
        }
    };
    thread::Builder::new().name("sequent-expiry".to_owned()).spawn(tick).map(drop)
}
