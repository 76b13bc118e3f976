//! What looks at the clock while nobody else does: a thread, so that no runtime that is busy, blocked or gone lets old
//! numbers leave.

use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Weak},
    thread,
};

use crate::client::{options::TICK, state::ClientState};

/// Begins; ends with the ground, and with nothing else. After a suspension the sleep is over at once, or within a tick.
pub(crate) fn start(state: &Arc<ClientState>) -> io::Result<()> {
    let state: Weak<ClientState> = Arc::downgrade(state);
    let tick = move || {
        while let Some(here) = state.upgrade() {
            // What panics here is a user's (a waker, say), and has been told where panics are told. Leases age all the same.
            drop(catch_unwind(AssertUnwindSafe(|| here.tick())));
            drop(here);
            thread::sleep(TICK);
        }
    };
    thread::Builder::new().name("sequent-ticker".to_owned()).spawn(tick).map(drop)
}
