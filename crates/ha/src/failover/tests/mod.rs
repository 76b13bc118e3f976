//! Tests of the failover: scripted endpoints, under paused time.

mod all_down;
mod calls;

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};

use sequent_core::{BoxFuture, Env, ErrorKind, Event, Events, SlotIndex, SourceError};
use sequent_testkit::{PausedClock, SeededEntropy};
use tokio::time::sleep;

use super::{Failover, outcome::Outcome};
use crate::{config::RingConfig, status::SlotState, sync::lock};

const SECOND: Duration = Duration::from_secs(1);

/// The behaviour of one request.
#[derive(Debug, Clone, Copy)]
enum Act {
    Answer,
    After(u64),
    Pass,
    Fail(ErrorKind),
    Hang,
    Panic,
}

/// Scripted endpoints. Each repeats its last act.
struct Fixture {
    failover: Arc<Failover>,
    acts: Arc<Mutex<Vec<VecDeque<Act>>>>,
    asked: Arc<Mutex<Vec<SlotIndex>>>,
    events: Arc<Mutex<Vec<Event>>>,
}

impl Fixture {
    fn new(endpoints: SlotIndex) -> Self {
        let events = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&events);
        let env = Env {
            clock: Arc::new(PausedClock::new()),
            // Its first bits are even, so the first of two endpoints is asked first.
            entropy: Arc::new(SeededEntropy::new(1)),
            events: Events::to(move |event| lock(&kept).push(event)),
        };
        let failover = Failover::new(endpoints, RingConfig::default(), env);
        failover.state.prefer(0);
        let acts = (0..endpoints).map(|_| VecDeque::from([Act::Answer])).collect();
        Self { failover, acts: Arc::new(Mutex::new(acts)), asked: Arc::default(), events }
    }

    fn set(&self, endpoint: usize, acts: &[Act]) {
        lock(&self.acts)[endpoint] = acts.iter().copied().collect();
    }

    /// The endpoint that answered, and how many milliseconds that took.
    async fn call(&self) -> (Result<SlotIndex, Vec<ErrorKind>>, u128) {
        let began = self.failover.state.membership.env().clock.now();
        let (acts, asked) = (Arc::clone(&self.acts), Arc::clone(&self.asked));
        let outcome = self.failover.call(move |endpoint| ask(&acts, &asked, endpoint)).await;
        let took = self.failover.state.membership.env().clock.now() - began;
        let kinds = outcome.map_err(|failures| failures.iter().map(|failure| failure.kind).collect());
        (kinds, took.as_millis())
    }

    fn asked(&self) -> Vec<SlotIndex> {
        std::mem::take(&mut lock(&self.asked))
    }

    fn states(&self) -> Vec<SlotState> {
        self.failover.status().iter().map(|endpoint| endpoint.state).collect()
    }

    fn watch(&self) {
        let (acts, asked) = (Arc::clone(&self.acts), Arc::clone(&self.asked));
        tokio::spawn(self.failover.run(move |endpoint| {
            let work = ask(&acts, &asked, endpoint);
            Box::pin(async move {
                match work.await {
                    Outcome::Fault(error) => Err(error),
                    _ => Ok(()),
                }
            })
        }));
    }
}

fn ask(
    acts: &Mutex<Vec<VecDeque<Act>>>,
    asked: &Mutex<Vec<SlotIndex>>,
    endpoint: SlotIndex,
) -> BoxFuture<'static, Outcome<SlotIndex>> {
    lock(asked).push(endpoint);
    let acts = &mut lock(acts)[usize::from(endpoint)];
    let act = if acts.len() > 1 { acts.pop_front() } else { acts.front().copied() };
    Box::pin(async move {
        match act.unwrap() {
            Act::Answer => Outcome::Answer(endpoint),
            Act::After(ms) => {
                sleep(Duration::from_millis(ms)).await;
                Outcome::Answer(endpoint)
            }
            Act::Pass => Outcome::TryNext(100 + endpoint),
            Act::Fail(kind) => Outcome::Fault(SourceError::new(kind, "scripted")),
            Act::Hang => std::future::pending().await,
            Act::Panic => panic!("scripted"),
        }
    })
}

const DOWN: Act = Act::Fail(ErrorKind::Unavailable);
