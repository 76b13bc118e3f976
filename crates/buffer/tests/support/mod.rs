//! A reservoir over a scripted source, under paused time, with its events kept.

#![allow(dead_code, reason = "each test file uses a part of it")]
#![allow(clippy::unwrap_used, reason = "what fails here fails the test")]

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use sequent_buffer::{Reservoir, ReservoirConfig, Spawner};
use sequent_core::{Clock, Env, Event, Events, Source};
use sequent_testkit::{PausedClock, ScriptedSource, SeededEntropy};

/// A reservoir, and what it tells an operator.
pub(crate) struct Bench {
    pub(crate) reservoir: Reservoir,
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
    Bench { reservoir: Reservoir::new(source, config, env, spawn), clock, events }
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
