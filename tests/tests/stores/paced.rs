//! Callers over HTTP who ask at a fixed pace, whatever happens, and notes of who gave what when.

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::{
    task::JoinSet,
    time::{MissedTickBehavior, interval, sleep},
};

use crate::http::Http;

/// How many of something are shown.
const SHOWN_MAX: usize = 10;

/// Of which sequence and by which server, each counted from 0, and when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct From {
    pub(crate) key: usize,
    pub(crate) server: usize,
    pub(crate) at: Instant,
}

/// All that was given and refused.
#[derive(Default)]
pub(crate) struct Notes {
    given: Mutex<Vec<(From, u64)>>,
    refused: Mutex<Vec<(From, String)>>,
}

/// The callers, until told to stop: one a sequence and server.
pub(crate) struct Paced {
    pub(crate) notes: Arc<Notes>,
    begun: Instant,
    counts: Arc<Vec<AtomicUsize>>,
    stopped: Arc<AtomicBool>,
    callers: JoinSet<()>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Notes {
    fn note(&self, from: From, outcome: Result<Vec<u64>, String>) {
        match outcome {
            Ok(numbers) => locked(&self.given).extend(numbers.into_iter().map(|number| (from, number))),
            Err(error) => locked(&self.refused).push((from, error)),
        }
    }

    /// What was given, of which this holds.
    pub(crate) fn given(&self, holds: impl Fn(&From) -> bool) -> Vec<(From, u64)> {
        locked(&self.given).iter().filter(|(from, _)| holds(from)).copied().collect()
    }

    /// What was refused, of which this holds.
    pub(crate) fn refused(&self, holds: impl Fn(&From) -> bool) -> Vec<(From, String)> {
        locked(&self.refused).iter().filter(|(from, _)| holds(from)).cloned().collect()
    }

    /// Numbers that were given a second time, with both times, in their order.
    pub(crate) fn twice(&self) -> Vec<(u64, From, From)> {
        let mut first = HashMap::new();
        let mut twice = Vec::new();
        for (from, number) in locked(&self.given).iter() {
            if let Some(before) = first.insert((from.key, *number), *from) {
                twice.push((*number, before, *from));
            }
        }
        twice
    }
}

impl Paced {
    /// Each caller asks for `count` numbers, and then again after `every`; their first requests are spread over that time.
    pub(crate) fn start(apis: &[SocketAddr], names: &[String], count: usize, every: Duration) -> Self {
        let counts = Arc::new(names.iter().map(|_| AtomicUsize::new(count)).collect());
        let mut paced = Self {
            notes: Arc::default(),
            begun: Instant::now(),
            counts,
            stopped: Arc::default(),
            callers: JoinSet::new(),
        };
        let callers = u32::try_from(apis.len() * names.len()).unwrap();
        for (at, (server, key)) in
            (0..apis.len()).flat_map(|server| (0..names.len()).map(move |key| (server, key))).enumerate()
        {
            let delay = every * u32::try_from(at).unwrap() / callers;
            paced.call(apis[server], (server, key), names[key].clone(), (delay, every));
        }
        paced
    }

    fn call(
        &mut self,
        api: SocketAddr,
        (server, key): (usize, usize),
        name: String,
        (delay, every): (Duration, Duration),
    ) {
        let (notes, counts, stopped) =
            (Arc::clone(&self.notes), Arc::clone(&self.counts), Arc::clone(&self.stopped));
        self.callers.spawn(async move {
            sleep(delay).await;
            let mut ticks = interval(every);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            let mut http = None;
            while !stopped.load(Ordering::Relaxed) {
                ticks.tick().await;
                let outcome = ask(&mut http, api, &name, counts[key].load(Ordering::Relaxed)).await;
                notes.note(From { key, server, at: Instant::now() }, outcome);
            }
        });
    }

    /// From now on so many numbers a request of these sequences.
    pub(crate) fn ask_for(&self, keys: impl IntoIterator<Item = usize>, count: usize) {
        for key in keys {
            self.counts[key].store(count, Ordering::Relaxed);
        }
    }

    /// Each caller ends with the request that it is in.
    pub(crate) async fn end(self) -> Arc<Notes> {
        self.stopped.store(true, Ordering::Relaxed);
        self.callers.join_all().await;
        self.notes.shown(self.begun);
        self.notes
    }
}

impl Notes {
    /// How much there is of each; and of what came twice, the first.
    fn shown(&self, begun: Instant) {
        let twice = self.twice();
        let (given, refused) = (locked(&self.given).len(), locked(&self.refused).len());
        println!("{given} numbers, {} twice; {refused} refusals", twice.len());
        for (number, before, from) in twice.iter().take(SHOWN_MAX) {
            let [first, second] =
                [before, from].map(|from| (from.server, from.at.saturating_duration_since(begun)));
            println!("    {number} of sequence {}: by {first:?} and {second:?}", from.key);
        }
    }
}

async fn ask(http: &mut Option<Http>, api: SocketAddr, name: &str, count: usize) -> Result<Vec<u64>, String> {
    // A server asks connections of some age to be made anew.
    let mut own = match http.take() {
        Some(own) if own.is_open() => own,
        _ => Http::connect(api).await?,
    };
    let outcome = own.next_of(name, count).await;
    // A refusal leaves the connection as it is; another error means that it is gone.
    let is_refusal = |error: &String| error.starts_with("503 ") || error.starts_with("409 ");
    if outcome.as_ref().map_or_else(is_refusal, |_| true) {
        *http = Some(own);
    }
    outcome
}
