//! A reservoir over a scripted source, under paused time, with recorded events.

#![allow(dead_code, reason = "each test file uses a part of it")]
#![allow(clippy::unwrap_used, reason = "what fails here fails the test")]

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use sequent_buffer::{Reservoir, ReservoirConfig, ReservoirContext, Spawner};
use sequent_core::{Blocks, Clock, Env, Event, Events, Reply, Source};
use sequent_testkit::{PausedClock, ScriptedSource, SeededEntropy};

pub(crate) const SECOND: Duration = Duration::from_secs(1);

/// Leases of a fixed size that expire after two seconds.
pub(crate) struct Leases(pub(crate) ScriptedSource, pub(crate) u64);

impl Source for Leases {
    fn take(&self, _: u64) -> Reply<'_, Blocks> {
        let until = now() + 2 * SECOND;
        Box::pin(async move { Ok(self.0.take(self.1).await?.until(Some(until))) })
    }
}

#[allow(clippy::disallowed_methods, reason = "the tests' clock is tokio's")]
pub(crate) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// A reservoir, its clock and its events.
pub(crate) struct Fixture {
    pub(crate) reservoir: Reservoir,
    pub(crate) context: Arc<ReservoirContext>,
    pub(crate) clock: Arc<PausedClock>,
    pub(crate) events: Arc<Mutex<Vec<Event>>>,
}

/// A reservoir over `source` with the default config.
pub(crate) fn over(source: &Arc<ScriptedSource>) -> Fixture {
    with(Arc::clone(source) as Arc<dyn Source>, ReservoirConfig::default())
}

/// A reservoir over any source with any config.
pub(crate) fn with(source: Arc<dyn Source>, config: ReservoirConfig) -> Fixture {
    let (clock, events) = (Arc::new(PausedClock::new()), Arc::new(Mutex::new(Vec::new())));
    let kept = Arc::clone(&events);
    let env = Env {
        clock: clock.clone(),
        entropy: Arc::new(SeededEntropy::new(1)),
        events: Events::to(move |event| kept.lock().unwrap().push(event)),
    };
    let spawn: Spawner = Arc::new(|refill| drop(tokio::spawn(refill)));
    let context = Arc::new(ReservoirContext { config, drain_mode: Arc::default(), env, spawn });
    Fixture { reservoir: Reservoir::with_context(source, Arc::clone(&context)), context, clock, events }
}

impl Fixture {
    /// The instant after `span`.
    #[allow(clippy::unnecessary_wraps, reason = "a deadline as the calls take it")]
    pub(crate) fn within(&self, span: Duration) -> Option<Instant> {
        Some(self.clock.now() + span)
    }

    /// How many numbers were reported as discarded.
    pub(crate) fn dropped(&self) -> u64 {
        let count = |event: &Event| match event {
            Event::Dropped { count, .. } => *count,
            _ => 0,
        };
        self.events.lock().unwrap().iter().map(count).sum()
    }
}

/// Lets every task run until all wait.
pub(crate) async fn settle() {
    tokio::time::sleep(Duration::from_nanos(1)).await;
}
