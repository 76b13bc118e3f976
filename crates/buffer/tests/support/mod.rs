//! A reservoir over a scripted source, under paused time, with its events kept.

#![allow(dead_code, reason = "each test file uses a part of it")]
#![allow(clippy::unwrap_used, reason = "what fails here fails the test")]

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use sequent_buffer::{Reservoir, ReservoirConfig, Setting, Spawner};
use sequent_core::{Blocks, BoxFuture, Clock, Env, Event, Events, Source, SourceError};
use sequent_testkit::{PausedClock, ScriptedSource, SeededEntropy};

pub(crate) const SECOND: Duration = Duration::from_secs(1);

/// Leases of so many numbers each, good for two seconds.
pub(crate) struct Leases(pub(crate) ScriptedSource, pub(crate) u64);

impl Source for Leases {
    fn take(&self, _: u64) -> BoxFuture<'_, Result<Blocks, SourceError>> {
        let until = now() + 2 * SECOND;
        Box::pin(async move { Ok(self.0.take(self.1).await?.until(Some(until))) })
    }
}

#[allow(clippy::disallowed_methods, reason = "the tests' clock is tokio's")]
pub(crate) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// A reservoir, and what it tells an operator.
pub(crate) struct Bench {
    pub(crate) reservoir: Reservoir,
    pub(crate) setting: Arc<Setting>,
    pub(crate) clock: Arc<PausedClock>,
    pub(crate) events: Arc<Mutex<Vec<Event>>>,
}

/// Over `source`, with the default config.
pub(crate) fn over(source: &Arc<ScriptedSource>) -> Bench {
    with(Arc::clone(source) as Arc<dyn Source>, ReservoirConfig::default())
}

/// Over any source, with any config.
pub(crate) fn with(source: Arc<dyn Source>, config: ReservoirConfig) -> Bench {
    let (clock, events) = (Arc::new(PausedClock::new()), Arc::new(Mutex::new(Vec::new())));
    let kept = Arc::clone(&events);
    let env = Env {
        clock: clock.clone(),
        entropy: Arc::new(SeededEntropy::new(1)),
        events: Events::to(move |event| kept.lock().unwrap().push(event)),
    };
    let spawn: Spawner = Arc::new(|refill| drop(tokio::spawn(refill)));
    let setting = Arc::new(Setting { config, ebbs: Arc::default(), env, spawn });
    Bench { reservoir: Reservoir::within(source, Arc::clone(&setting)), setting, clock, events }
}

impl Bench {
    /// So far from now.
    #[allow(clippy::unnecessary_wraps, reason = "a deadline as the calls take it")]
    pub(crate) fn within(&self, span: Duration) -> Option<Instant> {
        Some(self.clock.now() + span)
    }

    /// How many numbers were reported as given up.
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
