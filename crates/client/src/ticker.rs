//! What looks at the clock while nobody else does: a thread, so that no runtime that is busy, blocked or gone lets old
//! numbers leave.

use std::{
    io,
    sync::{Arc, Weak},
    thread,
};

use crate::{ground::Ground, options::TICK};

/// Begins; ends with the ground. After a suspension the sleep is over at once, or within a tick.
pub(crate) fn start(ground: &Arc<Ground>) -> io::Result<()> {
    let ground: Weak<Ground> = Arc::downgrade(ground);
    let tick = move || {
        while let Some(here) = ground.upgrade() {
            here.tick();
            drop(here);
            thread::sleep(TICK);
        }
    };
    thread::Builder::new().name("sequent-ticker".to_owned()).spawn(tick).map(drop)
}
