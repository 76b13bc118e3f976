//! Scripted endpoint, and a client of several.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use sequent_core::{Block, BoxFuture, ErrorKind, SourceError};
use sequent_testkit::{PausedClock, SeededEntropy};
use tokio::time::sleep;

use crate::{
    client::{Client, environment::Environment, options::Options},
    error::{Error, PROTOCOL},
    transport::{GrantResponse, NumberRequest, Refusal, TemplateData, Transport, Verb, foreign},
};

/// Age of a lease of these endpoints.
pub(super) const AGE: Duration = Duration::from_secs(10);

/// Behaviour of an endpoint for each request, until it is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    Give,
    After(u64),
    /// Serves the request and loses the response.
    Swallow,
    Down,
    Draining,
    Hang,
    Say(&'static str),
    Refuse(&'static str),
    /// Refuses leases.
    Dense,
    /// Refuses a caller that holds a higher number than this.
    Behind(i64),
    /// Refuses counts above this.
    AtMost(u32),
    /// Fails, and panics when its address is read.
    Nameless,
    Short,
    /// Answers like another program.
    Foreign,
}

/// Endpoint of a cluster that all endpoints share.
pub(super) struct Endpoint {
    name: usize,
    last: Arc<AtomicU64>,
    act: Mutex<Act>,
    asks: Mutex<Vec<(Verb, u32)>>,
}

impl Endpoint {
    pub(super) fn act(&self, act: Act) {
        *self.act.lock().unwrap() = act;
    }

    /// Requests since the previous call.
    pub(super) fn asks(&self) -> Vec<(Verb, u32)> {
        std::mem::take(&mut self.asks.lock().unwrap())
    }

    /// The highest number that was given.
    pub(super) fn given(&self) -> i64 {
        i64::try_from(self.last.load(Ordering::Relaxed)).unwrap()
    }

    fn give(&self, ask: &NumberRequest) -> GrantResponse {
        let first = self.last.fetch_add(u64::from(ask.count), Ordering::Relaxed) + 1;
        let blocks = vec![Block::new(first, 1, u64::from(ask.count)).unwrap()];
        GrantResponse { blocks, max_age: Some(AGE), version: 1, template_data: TemplateData::default() }
    }
}

fn down(text: &str) -> SourceError {
    SourceError::new(ErrorKind::Unavailable, text)
}

fn no_server() -> SourceError {
    foreign(Error::new(PROTOCOL, "404"))
}

impl Transport for Endpoint {
    fn address(&self) -> String {
        let act = *self.act.lock().unwrap();
        assert!(act != Act::Nameless, "scripted");
        format!("http://{}", self.name)
    }

    fn ask(self: Arc<Self>, ask: NumberRequest) -> BoxFuture<'static, Result<GrantResponse, Refusal>> {
        self.asks.lock().unwrap().push((ask.verb, ask.count));
        let act = *self.act.lock().unwrap();
        Box::pin(async move {
            match act {
                Act::AtMost(most) if ask.count > most => {
                    let bound = format!("1 to {most} are allowed");
                    Err(Refusal::Final(Error::field("count", ask.count, bound)))
                }
                Act::Dense if ask.verb == Verb::Lease => Err(Refusal::Final(Error::field(
                    "placement",
                    "dense",
                    "ask for its numbers one call each",
                ))),
                Act::Behind(at) if ask.above > at => {
                    Err(Refusal::Final(Error::new("CLUSTER_BEHIND", "older than its caller")))
                }
                Act::Give | Act::AtMost(_) | Act::Dense | Act::Behind(_) => Ok(self.give(&ask)),
                Act::After(ms) => {
                    let granted = self.give(&ask);
                    sleep(Duration::from_millis(ms)).await;
                    Ok(granted)
                }
                Act::Swallow => {
                    drop(self.give(&ask));
                    Err(Refusal::Fault(down("connection reset")))
                }
                Act::Down | Act::Nameless => Err(Refusal::Fault(down("connection refused"))),
                Act::Draining => Err(Refusal::Fault(down("it is stopping"))),
                Act::Hang => std::future::pending().await,
                Act::Say(reason) => Err(Refusal::Elsewhere(Error::new(reason, "said"))),
                Act::Foreign => Err(Refusal::Fault(no_server())),
                Act::Refuse(reason) => Err(Refusal::Final(Error::new(reason, "refused"))),
                Act::Short => {
                    let less = NumberRequest { count: ask.count.saturating_sub(1).max(1), ..ask };
                    let mut granted = self.give(&less);
                    granted.max_age = None;
                    Ok(granted)
                }
            }
        })
    }

    fn check(self: Arc<Self>) -> BoxFuture<'static, Result<(), SourceError>> {
        let act = *self.act.lock().unwrap();
        Box::pin(async move {
            match act {
                Act::Down | Act::Draining | Act::Swallow => Err(down("connection refused")),
                Act::Foreign => Err(no_server()),
                Act::Hang => std::future::pending().await,
                _ => Ok(()),
            }
        })
    }
}

/// Client of several endpoints. The first one is asked first.
pub(super) struct Bench {
    pub(super) client: Client,
    pub(super) clock: Arc<PausedClock>,
    pub(super) endpoints: Vec<Arc<Endpoint>>,
}

impl Bench {
    pub(super) fn new(endpoints: usize) -> Self {
        Self::with(endpoints, Options::default())
    }

    pub(super) fn with(endpoints: usize, options: Options) -> Self {
        let (last, clock) = (Arc::new(AtomicU64::new(0)), Arc::new(PausedClock::new()));
        let endpoint = |name| {
            let (act, asks) = (Mutex::new(Act::Give), Mutex::default());
            Arc::new(Endpoint { name, last: Arc::clone(&last), act, asks })
        };
        let endpoints: Vec<_> = (0..endpoints).map(endpoint).collect();
        let transports = endpoints.iter().map(|endpoint| Arc::clone(endpoint) as Arc<_>).collect();
        // A seed whose first bits select the first of two endpoints.
        let seed = (0..64).find(|seed| first_of_two(*seed)).unwrap();
        let environment = Environment {
            timers: clock.clone(),
            ages: clock.clone(),
            entropy: Arc::new(SeededEntropy::new(seed)),
        };
        Self { client: Client::scripted(transports, options, environment), clock, endpoints }
    }

    /// Advances time, with the ticks of the expiry thread.
    pub(super) async fn pass(&self, time: Duration) {
        let mut left = time;
        while !left.is_zero() {
            let step = left.min(crate::client::options::TICK);
            sleep(step).await;
            self.client.state().tick();
            left -= step;
        }
    }

    pub(super) fn asks(&self) -> usize {
        self.endpoints.iter().map(|endpoint| endpoint.asks().len()).sum()
    }
}

fn first_of_two(seed: u64) -> bool {
    use sequent_core::Entropy;
    SeededEntropy::new(seed).bits().is_multiple_of(2)
}
