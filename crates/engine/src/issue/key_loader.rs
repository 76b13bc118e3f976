//! The loader of a key that is not active yet. Concurrent requests share one load, which runs in a task of its own.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Instant,
};

use sequent_core::{Key, SequenceName};
use tokio::sync::watch;

use crate::{
    catalog::Entry,
    engine::{Engine, Inner},
    error::{EngineError, reason::Reason},
    issue::{active_key::ActiveKey, registry::Claim, request::Period},
};

impl Engine {
    /// An active key of a sequence. The first caller starts the load, for the version that it needs; the others wait
    /// for the result.
    pub(crate) async fn live(
        &self,
        (name, key): (&SequenceName, &Key),
        wanted: Option<&Arc<Entry>>,
        period: impl FnOnce() -> Option<Period>,
        deadline: Instant,
    ) -> Result<Arc<ActiveKey>, EngineError> {
        if self.0.stopping.load(Ordering::Acquire) {
            return Err(Self::draining());
        }
        if let Some(live) = self.0.keys.get(key.as_str()) {
            return Ok(live);
        }
        let late = || EngineError::new(Reason::DeadlineExceeded, format!("{name} was not ready in time"));
        let made = tokio::time::timeout_at(deadline.into(), self.make((name, key), wanted, period)).await;
        made.map_err(|_| late())?
    }

    async fn make(
        &self,
        (name, key): (&SequenceName, &Key),
        wanted: Option<&Arc<Entry>>,
        period: impl FnOnce() -> Option<Period>,
    ) -> Result<Arc<ActiveKey>, EngineError> {
        let mut period = Some(period);
        loop {
            let mut made = match self.0.keys.claim(key, self.0.limits.load().keys_per_sequence_max)? {
                Claim::ActiveKey(live) => return Ok(live),
                Claim::Wait(made) => made,
                Claim::Make(sender) => {
                    let (made, engine) = (sender.subscribe(), self.clone());
                    let (name, key) = (name.clone(), key.clone());
                    // The period is computed once. If a load was aborted, the next load has less to start from, which
                    // is harmless.
                    let period = (period.take().and_then(|period| period()), wanted.map(Arc::clone));
                    // A task of its own: a caller that disconnects must not abort the load for the others.
                    self.0.tasks.spawn(async move {
                        let result = engine.0.build(&name, &key, period).await.map(Arc::new);
                        engine.0.settle(&name, &key, result, &sender);
                    });
                    made
                }
            };
            let result = made.wait_for(Option::is_some).await.map(|made| made.clone());
            match result {
                Ok(Some(result)) => return result,
                // The load was aborted by a shutdown or a bug: the next round decides.
                _ if self.0.stopping.load(Ordering::Acquire) => return Err(Self::draining()),
                _ => tokio::task::yield_now().await,
            }
        }
    }
}

impl Inner {
    /// Publishes a key as active. A key is not published if its definition is no longer in force, or if the engine
    /// began to stop meanwhile: the code that closes active keys has then not seen it.
    fn settle(
        &self,
        name: &SequenceName,
        key: &Key,
        result: Result<Arc<ActiveKey>, EngineError>,
        waiting: &watch::Sender<Option<Result<Arc<ActiveKey>, EngineError>>>,
    ) {
        let made = result.as_ref().ok().map(Arc::clone);
        self.keys.made(key, result, waiting);
        let Some(live) = made else { return };
        self.keys_made.increment(1);
        if self.catalog.find(name).is_none_or(|entry| !entry.has(live.entry())) {
            self.keys.remove(|held| held == key);
        }
        if self.minimums.of(key) != live.floor() {
            live.reservoir().close_because("its key was advanced meanwhile");
            self.keys.remove(|held| held == key);
        }
        if self.stopping.load(Ordering::Acquire) {
            live.reservoir().close();
            self.keys.remove(|held| held == key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        config::{Config, Sources},
        open::options::Options,
    };

    async fn made(engine: &Engine, name: &SequenceName, between: impl AsyncFnOnce()) {
        let key = Key::of(name);
        let Ok(Claim::Make(sender)) = engine.0.keys.claim(&key, 9) else { panic!("{name} is new") };
        let live = Arc::new(engine.0.build(name, &key, (None, None)).await.unwrap());
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
            let definition = crate::definition::Body::default().defining(&name, 2);
            engine.0.cluster.ledger.define(&definition, Some(1)).await.unwrap();
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
