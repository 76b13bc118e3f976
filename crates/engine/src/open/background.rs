//! Background jobs of an open cluster, beside the tasks of each key.

use std::{
    sync::{Arc, Weak, atomic::Ordering},
    time::Duration,
};

use sequent_core::ledger::SlotCommand;
use sequent_ha::Ring;
use tokio::sync::watch;

use crate::{
    engine::{Inner, SWEEP_EVERY},
    issue::{next_period, retention},
    open::{
        ledger_watch::{self, Alarm},
        options::Pace,
    },
};

/// The pause before definitions that could not be read are tried again.
const FOLLOW_AGAIN: Duration = Duration::from_secs(1);

/// Starts the background jobs. None of them keeps a dropped cluster open.
pub(crate) fn begin(inner: &Arc<Inner>, pace: Pace, alarm: Alarm) {
    let guard = Arc::clone(&inner.guard);
    inner.tasks.spawn(guard.run());
    inner.tasks.spawn(inner.ring.run());
    inner.tasks.spawn(obey(Arc::clone(&inner.ring), inner.guard.words()));
    let (tell, moved) = watch::channel(());
    inner.tasks.spawn(ledger_watch::watch(Arc::downgrade(inner), alarm, inner.guard.ledger_state(), tell));
    if pace == Pace::Standing {
        inner.tasks.spawn(follow(Arc::downgrade(inner), inner.guard.catalog_version(), moved));
        inner.tasks.spawn(sweep(Arc::downgrade(inner)));
        inner.tasks.spawn(next_period::run(Arc::downgrade(inner)));
        inner.tasks.spawn(retention::run(Arc::downgrade(inner)));
    }
}

/// Passes slot commands to the ring whenever a heartbeat brought others. The commands in force at the start are
/// applied before.
async fn obey(ring: Arc<Ring>, mut words: watch::Receiver<Vec<SlotCommand>>) {
    while words.changed().await.is_ok() {
        let now = words.borrow_and_update().clone();
        ring.apply_commands(&now);
    }
}

/// Reads the definitions again whenever a heartbeat brought another version of them. After a change of the ledger they
/// are read whatever their version is: the ledger may have gone back, and forward again.
async fn follow(engine: Weak<Inner>, mut version: watch::Receiver<u64>, mut moved: watch::Receiver<()>) {
    // The version that was followed last. It is 0 as long as none was.
    let mut followed = 0;
    loop {
        let anew = tokio::select! {
            changed = version.changed() => changed.map(|()| false),
            changed = moved.changed() => changed.map(|()| true),
        };
        let (Ok(anew), Some(engine)) = (anew, engine.upgrade()) else { return };
        let now = *version.borrow_and_update();
        if !anew && now == followed {
            engine.catalog.heard(now);
            continue;
        }
        followed = 0;
        if let Err(error) = engine.follow((!anew).then_some(now)).await {
            tracing::warn!(%error, "definitions can't be read again: those known stay in force");
            // This read is repeated here: the next heartbeat may be late.
            if anew {
                moved.mark_changed();
            } else {
                version.mark_changed();
            }
            tokio::time::sleep(FOLLOW_AGAIN).await;
        } else {
            followed = now;
        }
    }
}

/// Drops idle keys with all their sources.
async fn sweep(engine: Weak<Inner>) {
    loop {
        tokio::time::sleep(SWEEP_EVERY).await;
        let Some(engine) = engine.upgrade() else { return };
        if engine.stopping.load(Ordering::Acquire) {
            return;
        }
        let now = engine.request_clock.now(&*engine.env.clock);
        for live in engine.keys.sweep(|_, live| live.is_idle(live.idle_after(now))) {
            live.reservoir().close();
        }
    }
}
