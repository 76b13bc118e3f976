//! A running cluster, as one process sees it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use sequent_buffer::TakeError;
use sequent_core::{Blocks, Env, ErrorKind, Key, NameError, SequenceName};
use sequent_guard::Keeper;
use sequent_ha::Ring;
use tokio::sync::watch;

use crate::{
    Desk, EngineError, OpenError, Options, Reason, Recent,
    catalog::Catalog,
    config::{Config, LimitsPart},
    error::reason_of,
    events::Memory,
    live::{Keyed, Live},
    registry::{Claim, Registry},
    report::Status,
    tasks::Tasks,
};

/// An ask for numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextRequest {
    /// The sequence.
    pub name: SequenceName,
    /// How many numbers, all or nothing: 1 by default.
    pub count: u64,
    /// When the caller stops waiting; `limits.deadline_ms` from now by default.
    pub deadline: Option<Instant>,
}

impl NextRequest {
    /// One number of `name`, within the configured deadline.
    pub fn new(name: &str) -> Result<Self, NameError> {
        Ok(Self { name: name.parse()?, count: 1, deadline: None })
    }

    /// The same ask for `count` numbers.
    #[must_use]
    pub fn count(self, count: u64) -> Self {
        Self { count, ..self }
    }

    /// The same ask, waiting until `deadline`.
    #[must_use]
    pub fn deadline(self, deadline: Instant) -> Self {
        Self { deadline: Some(deadline), ..self }
    }
}

/// Numbers that were handed out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issued {
    /// The sequence.
    pub sequence: SequenceName,
    /// As many as asked for, ascending by first.
    pub numbers: Blocks,
    /// The version of the definition that they were given under.
    pub version: u32,
}

/// A running cluster, as one process sees it. Cheap to clone; [`shutdown`](Self::shutdown) ends it for all clones.
#[derive(Clone)]
pub struct Engine(pub(crate) Arc<Inner>);

/// What all clones of an engine share.
pub(crate) struct Inner {
    pub(crate) limits: LimitsPart,
    pub(crate) env: Env,
    pub(crate) ring: Arc<Ring>,
    pub(crate) keeper: Arc<Keeper>,
    pub(crate) desk: Desk,
    pub(crate) catalog: Catalog,
    pub(crate) keys: Registry<Live>,
    pub(crate) setting: Arc<sequent_buffer::Setting>,
    pub(crate) tasks: Tasks,
    pub(crate) memory: Memory,
    pub(crate) stopping: AtomicBool,
}

impl Inner {
    /// Makes a key live, unless what it was made from is no longer in force, or the engine began to stop meanwhile:
    /// those who looked for live keys then have not seen this one.
    fn settle(
        &self,
        name: &SequenceName,
        key: &Key,
        result: Result<Arc<Live>, EngineError>,
        waiting: &watch::Sender<Option<Result<Arc<Live>, EngineError>>>,
    ) {
        let made = result.as_ref().ok().map(Arc::clone);
        self.keys.made(key, result, waiting);
        let Some(live) = made else { return };
        if self.catalog.find(name).is_none_or(|entry| !entry.same(live.entry())) {
            self.keys.remove(|held| held == key);
        }
        if self.stopping.load(Ordering::Acquire) {
            live.reservoir().close();
            self.keys.remove(|held| held == key);
        }
    }
}

impl Engine {
    /// Checks what is there, opens every store that answers, and starts what runs in the background.
    ///
    /// A cluster that exists is refused where it does not fit the configuration; slots that can't be reached start
    /// evicted.
    pub async fn open(config: Config, options: Options) -> Result<Self, OpenError> {
        crate::open::open(config, options).await
    }

    /// Numbers of a sequence: all or nothing.
    pub async fn next(&self, request: &NextRequest) -> Result<Issued, EngineError> {
        let NextRequest { name, count, deadline } = request;
        let most = self.0.limits.max_count;
        if *count == 0 || *count > most {
            return Err(EngineError::invalid("count", count, format!("1 to {most} are allowed")));
        }
        let deadline = deadline.unwrap_or_else(|| self.0.env.clock.now() + self.0.limits.deadline);
        self.take(name, *count, deadline).await
    }

    /// The reservoir of a sequence's key, for callers that take one by one. Begins nothing before the first take.
    pub async fn reservoir(&self, name: &SequenceName) -> Result<Keyed, EngineError> {
        let deadline = self.0.env.clock.now() + self.0.limits.deadline;
        self.live(name, deadline).await.map(Keyed::new)
    }

    /// What an operator does: lists, words, histories, and a fresh look at each store.
    pub fn desk(&self) -> &Desk {
        &self.0.desk
    }

    /// How slots, ledger and live keys are.
    pub async fn status(&self) -> Status {
        crate::status::status(&self.0).await
    }

    /// What happened lately, oldest first: at most [`RECENT_MAX`](crate::RECENT_MAX) events.
    pub fn recent(&self) -> Vec<Recent> {
        self.0.memory.all()
    }

    /// Ends it, in this order: reservoirs (what is ready is burnt, waiting callers get `DRAINING`), keeper (its last
    /// show up makes `seen` exact), stores. Doors have been shut before. The second call does nothing.
    pub async fn shutdown(&self) {
        let inner = &self.0;
        if inner.stopping.swap(true, Ordering::AcqRel) {
            return;
        }
        for (_, live) in inner.keys.all() {
            live.reservoir().close();
        }
        inner.keys.remove(|_| true);
        inner.keeper.close().await;
        inner.tasks.stop().await;
        inner.desk.close().await;
    }

    fn draining() -> EngineError {
        EngineError::new(Reason::Draining, "this server is stopping")
    }

    /// The live key of a sequence; the first caller has it made, the others wait for the same.
    pub(crate) async fn live(
        &self,
        name: &SequenceName,
        deadline: Instant,
    ) -> Result<Arc<Live>, EngineError> {
        if self.0.stopping.load(Ordering::Acquire) {
            return Err(Self::draining());
        }
        if let Some(live) = self.0.keys.get(name.as_str()) {
            return Ok(live);
        }
        let key = Key::of(name);
        let late = || EngineError::new(Reason::DeadlineExceeded, format!("{name} was not ready in time"));
        let made = tokio::time::timeout_at(deadline.into(), self.make(name, &key)).await;
        made.map_err(|_| late())?
    }

    async fn make(&self, name: &SequenceName, key: &Key) -> Result<Arc<Live>, EngineError> {
        loop {
            let mut made = match self.0.keys.claim(key)? {
                Claim::Live(live) => return Ok(live),
                Claim::Wait(made) => made,
                Claim::Make(sender) => {
                    let (made, engine) = (sender.subscribe(), self.clone());
                    let (name, key) = (name.clone(), key.clone());
                    // A task of its own: a caller that goes away must not end it for the others.
                    self.0.tasks.spawn(async move {
                        let result = engine.0.build(&name, &key).await.map(Arc::new);
                        engine.0.settle(&name, &key, result, &sender);
                    });
                    made
                }
            };
            let result = made.wait_for(Option::is_some).await.map(|made| made.clone());
            match result {
                Ok(Some(result)) => return result,
                // Its maker was ended, by a shutdown or a bug: the next round decides.
                _ if self.0.stopping.load(Ordering::Acquire) => return Err(Self::draining()),
                _ => tokio::task::yield_now().await,
            }
        }
    }

    pub(crate) fn failed(&self, name: &SequenceName, error: TakeError) -> EngineError {
        match error {
            TakeError::Source(error) => {
                if !matches!(error.kind(), ErrorKind::Exhausted) {
                    let reason = reason_of(error.kind());
                    let failed = EngineError::of_source(name, error);
                    tracing::warn!(%name, %reason, detail = failed.detail(), "request failed");
                    return failed;
                }
                EngineError::of_source(name, error)
            }
            TakeError::Deadline => {
                EngineError::new(Reason::DeadlineExceeded, format!("no numbers of {name} came in time"))
            }
            TakeError::Closed if self.0.stopping.load(Ordering::Acquire) => Self::draining(),
            // Its definition changed, or it was given up as idle, at this very moment.
            TakeError::Closed => {
                EngineError::new(Reason::NoShardAvailable, format!("{name} was just closed"))
            }
        }
    }
}

/// How often idle keys are looked for.
pub(crate) const SWEEP_EVERY: Duration = Duration::from_secs(30);

/// A key from which nothing has been taken for so long is dropped whole.
pub(crate) const IDLE_AFTER: Duration = Duration::from_secs(600);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Sources;

    async fn made(engine: &Engine, name: &SequenceName, between: impl AsyncFnOnce()) {
        let key = Key::of(name);
        let Ok(Claim::Make(sender)) = engine.0.keys.claim(&key) else { panic!("{name} is new") };
        let live = Arc::new(engine.0.build(name, &key).await.unwrap());
        between().await;
        engine.0.settle(name, &key, Ok(live), &sender);
    }

    #[tokio::test]
    async fn a_key_made_from_what_is_no_longer_in_force_does_not_stay() {
        let data = tempfile::tempdir().unwrap();
        let config = Config::load(&Sources::embedded(data.path().join("data"))).unwrap();
        let engine = Engine::open(config, Options::default()).await.unwrap();
        let (name, same): (SequenceName, SequenceName) = ("order".parse().unwrap(), "same".parse().unwrap());
        made(&engine, &same, async || {}).await;
        assert!(engine.0.keys.get("same").is_some());
        made(&engine, &name, async || {
            let definition = crate::Body::default().defining(&name, 2);
            engine.0.desk.0.ledger.define(&definition, Some(1)).await.unwrap();
            engine.0.catalog.follow(None).await.unwrap();
        })
        .await;
        assert!(engine.0.keys.get("order").is_none(), "version 1 must not stay");
        let late: SequenceName = "late".parse().unwrap();
        made(&engine, &late, async || engine.0.stopping.store(true, Ordering::Release)).await;
        assert!(engine.0.keys.get("late").is_none(), "the engine is stopping");
        engine.0.stopping.store(false, Ordering::Release);
        engine.shutdown().await;
    }
}
