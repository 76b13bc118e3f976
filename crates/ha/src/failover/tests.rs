//! Endpoints that follow a script, under paused time.

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
        }
    })
}

const DOWN: Act = Act::Fail(ErrorKind::Unavailable);

#[tokio::test(start_paused = true)]
async fn one_is_used_until_it_fails_and_the_other_from_then_on() {
    let bench = Bench::new(2);
    for _ in 0..3 {
        assert_eq!(bench.call().await, (Ok(0), 0));
    }
    bench.set(0, &[DOWN]);
    assert_eq!(bench.call().await, (Ok(1), 0), "at once");
    assert_eq!(bench.states(), [SlotState::Evicted, SlotState::Live]);
    bench.asked();
    assert_eq!(bench.call().await, (Ok(1), 0));
    assert_eq!(bench.asked(), [1], "who is out is not asked");
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_one_that_hangs() {
    let bench = Bench::new(2);
    bench.set(0, &[Act::Hang]);
    assert_eq!(bench.call().await, (Ok(1), 200), "slow_after, and the other one besides");
    assert_eq!(bench.call().await, (Ok(1), 0), "and is asked first from then on");
    sleep(SECOND).await;
    let counts = bench.failover.status()[0].counts;
    assert_eq!((counts.timeouts, counts.evictions), (1, 0), "once is no habit");
}

#[tokio::test(start_paused = true)]
async fn slowness_evicts_but_the_last_that_answers_is_kept() {
    let bench = Bench::new(2);
    bench.set(0, &[Act::After(300)]);
    bench.set(1, &[Act::After(300)]);
    for _ in 0..6 {
        bench.call().await.0.unwrap();
        sleep(SECOND).await;
    }
    assert_eq!(bench.states().iter().filter(|state| **state == SlotState::Live).count(), 1);
    assert!(bench.call().await.0.is_ok());
}

#[tokio::test(start_paused = true)]
async fn who_passes_is_not_blamed_and_another_is_asked() {
    let bench = Bench::new(2);
    bench.set(0, &[Act::Pass]);
    assert_eq!(bench.call().await, (Ok(1), 0));
    bench.set(1, &[Act::Pass]);
    assert_eq!(bench.call().await, (Ok(100), 0), "none knows better: what the last of them said");
    assert_eq!(bench.states(), [SlotState::Live; 2]);
}

#[tokio::test(start_paused = true)]
async fn rescue_is_a_check_that_takes_nothing_from_callers() {
    let bench = Bench::new(2);
    bench.watch();
    bench.set(0, &[DOWN]);
    bench.call().await.0.unwrap();
    bench.asked();
    bench.set(0, &[DOWN, Act::Answer]);
    sleep(SECOND * 20).await;
    assert_eq!(bench.states(), [SlotState::Live; 2]);
    assert_eq!(bench.asked(), [0, 0], "one check that failed, one that passed");
    assert_eq!(bench.call().await, (Ok(1), 0), "who serves goes on serving");
    let rescued = |event: &Event| matches!(event, Event::Rescued { slot: 0, .. });
    assert_eq!(lock(&bench.events).iter().filter(|event| rescued(event)).count(), 1);
}

#[tokio::test(start_paused = true)]
async fn with_all_gone_it_says_so_at_once_and_comes_back_by_itself() {
    let bench = Bench::new(2);
    bench.watch();
    bench.set(0, &[DOWN]);
    bench.set(1, &[DOWN]);
    for _ in 0..20 {
        let (outcome, took) = bench.call().await;
        assert_eq!((outcome, took), (Err(vec![ErrorKind::Unavailable; 2]), 0));
    }
    assert!(bench.asked().len() <= 4, "not hammered");
    sleep(SECOND * 60).await;
    bench.set(0, &[Act::Answer]);
    sleep(SECOND * 2).await;
    assert_eq!(
        bench.call().await,
        (Ok(0), 0),
        "whoever asks tries all of them, whatever the backoff has grown to"
    );
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_goes_away_is_held_against_nobody() {
    let bench = Bench::new(1);
    bench.set(0, &[Act::After(150)]);
    for _ in 0..10 {
        let cut = tokio::time::timeout(Duration::from_millis(1), bench.call()).await;
        assert!(cut.is_err());
    }
    sleep(SECOND).await;
    assert_eq!(bench.failover.status()[0].counts, crate::SlotCounts::default());
}
