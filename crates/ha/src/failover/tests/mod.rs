//! Endpoints that follow a script, under paused time.

mod calls;
mod gone;

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};

use sequent_core::{BoxFuture, Env, ErrorKind, Event, Events, SlotIndex, SourceError};
use sequent_testkit::{PausedClock, SeededEntropy};
use tokio::time::sleep;

use super::{Failover, Said};
use crate::{RingConfig, SlotState, lock};

const SECOND: Duration = Duration::from_secs(1);

/// What one ask does.
#[derive(Debug, Clone, Copy)]
enum Act {
    Answer,
    After(u64),
    Pass,
    Fail(ErrorKind),
    Hang,
    Panic,
}

/// Endpoints: each does its last act for ever.
struct Bench {
    failover: Arc<Failover>,
    acts: Arc<Mutex<Vec<VecDeque<Act>>>>,
    asked: Arc<Mutex<Vec<SlotIndex>>>,
    events: Arc<Mutex<Vec<Event>>>,
}

impl Bench {
    fn new(members: SlotIndex) -> Self {
        let events = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&events);
        let env = Env {
            clock: Arc::new(PausedClock::new()),
            // Its first bits are even: the first of two members is asked first.
            entropy: Arc::new(SeededEntropy::new(1)),
            events: Events::to(move |event| lock(&kept).push(event)),
        };
        let failover = Failover::new(members, RingConfig::default(), env);
        failover.prefer(0);
        let acts = (0..members).map(|_| VecDeque::from([Act::Answer])).collect();
        Self { failover, acts: Arc::new(Mutex::new(acts)), asked: Arc::default(), events }
    }

    fn set(&self, member: usize, acts: &[Act]) {
        lock(&self.acts)[member] = acts.iter().copied().collect();
    }

    /// Who answered, and how many milliseconds that took.
    async fn call(&self) -> (Result<SlotIndex, Vec<ErrorKind>>, u128) {
        let begun = self.failover.roster.env().clock.now();
        let (acts, asked) = (Arc::clone(&self.acts), Arc::clone(&self.asked));
        let outcome = self.failover.call(move |member| ask(&acts, &asked, member)).await;
        let took = self.failover.roster.env().clock.now() - begun;
        let kinds = outcome.map_err(|failures| failures.iter().map(|failure| failure.kind).collect());
        (kinds, took.as_millis())
    }

    fn asked(&self) -> Vec<SlotIndex> {
        std::mem::take(&mut lock(&self.asked))
    }

    fn states(&self) -> Vec<SlotState> {
        self.failover.status().iter().map(|member| member.state).collect()
    }

    fn watch(&self) {
        let (acts, asked) = (Arc::clone(&self.acts), Arc::clone(&self.asked));
        tokio::spawn(self.failover.run(move |member| {
            let work = ask(&acts, &asked, member);
            Box::pin(async move {
                match work.await {
                    Said::Fault(error) => Err(error),
                    _ => Ok(()),
                }
            })
        }));
    }
}

fn ask(
    acts: &Mutex<Vec<VecDeque<Act>>>,
    asked: &Mutex<Vec<SlotIndex>>,
    member: SlotIndex,
) -> BoxFuture<'static, Said<SlotIndex>> {
    lock(asked).push(member);
    let acts = &mut lock(acts)[usize::from(member)];
    let act = if acts.len() > 1 { acts.pop_front() } else { acts.front().copied() };
    Box::pin(async move {
        match act.unwrap() {
            Act::Answer => Said::Answer(member),
            Act::After(ms) => {
                sleep(Duration::from_millis(ms)).await;
                Said::Answer(member)
            }
            Act::Pass => Said::Pass(100 + member),
            Act::Fail(kind) => Said::Fault(SourceError::new(kind, "scripted")),
            Act::Hang => std::future::pending().await,
            Act::Panic => panic!("scripted"),
        }
    })
}

const DOWN: Act = Act::Fail(ErrorKind::Unavailable);
