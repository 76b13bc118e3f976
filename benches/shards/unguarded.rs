//! What the guard costs: takes of guarded counters beside takes of the same ring's counters without it, each in the one epoch
//! that it began with, with no ledger behind it.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use sequent_benches::Row;
use sequent_core::{
    Blocks, BoxFuture, Cell, Clock, Entropy, Epoch, InstanceId, Key, OsEntropy, SequenceName, Source,
    SourceError, Store, SystemClock,
};
use sequent_ha::Ring;
use tokio::task::JoinSet;

use crate::{
    fleet::{Fleet, SLOTS},
    guarded_ring::GuardedRing,
    note::Note,
    plan::{Found, Plan},
};

/// Ids of a take: a block of eight for every slot.
const IDS: u64 = 8 * SLOTS as u64;

/// A counter with nothing between the ring and its store.
struct Bare {
    store: Arc<dyn Store>,
    key: Key,
    under: InstanceId,
    epoch: Epoch,
}

impl Source for Bare {
    fn take(&self, want: u64) -> BoxFuture<'_, Result<Blocks, SourceError>> {
        let cell = Cell { key: &self.key, under: &self.under };
        Box::pin(async move { self.store.take(cell, self.epoch, want).await.map(Blocks::from) })
    }
}

/// Counters of a key of their own, one a slot.
async fn counters(ring: &Ring, key: &Key) -> Result<Vec<Option<Arc<dyn Source>>>, SourceError> {
    let entropy: &dyn Entropy = &OsEntropy;
    let mut counters: Vec<Option<Arc<dyn Source>>> = Vec::new();
    for store in (0..).map_while(|slot| ring.store(slot)) {
        let (under, epoch) = (store.inspect().await?.instance, Epoch::random(entropy));
        let cell = Cell { key, under: &under };
        store.close(cell, epoch).await?;
        store.install(cell, epoch, 0).await?;
        counters.push(Some(Arc::new(Bare { store, key: key.clone(), under, epoch })));
    }
    Ok(counters)
}

pub(crate) async fn run(plan: &Plan, fleet: &Fleet, found: &mut Found) -> Result<(), String> {
    let guarded_ring = GuardedRing::open(fleet, "guard", plan.tasks).await?;
    let mut bare: Vec<Arc<dyn Source>> = Vec::new();
    for task in 0..plan.tasks {
        let name: SequenceName = format!("bare{task}").parse().map_err(|error| format!("{error}"))?;
        let key = Key::of(&name);
        let counters = counters(guarded_ring.ring(), &key).await.map_err(|error| error.to_string())?;
        bare.push(guarded_ring.ring().source(key, counters));
    }
    let mut row = Row::new("guard", 0.95);
    let (length, warm_up) = (Duration::from_secs(plan.seconds), Duration::from_secs(1));
    ids_a_second(&guarded_ring.keys, warm_up).await?;
    ids_a_second(&bare, warm_up).await?;
    for round in 0..plan.rounds {
        let (with, without) = if round % 2 == 0 {
            let with = ids_a_second(&guarded_ring.keys, length).await?;
            (with, ids_a_second(&bare, length).await?)
        } else {
            let without = ids_a_second(&bare, length).await?;
            (ids_a_second(&guarded_ring.keys, length).await?, without)
        };
        row.add_rates(with, without);
    }
    found.rows.push(row);
    #[allow(clippy::cast_precision_loss, reason = "a few")]
    found.notes.push(Note::new("guard", vec![("evictions", guarded_ring.evictions() as f64)]));
    guarded_ring.close().await;
    Ok(())
}

/// A task a key, each taking as fast as it is answered.
async fn ids_a_second(keys: &[Arc<dyn Source>], length: Duration) -> Result<f64, String> {
    let begun = SystemClock.now();
    let until = begun + length;
    let mut tasks = JoinSet::new();
    for key in keys {
        tasks.spawn(caller(Arc::clone(key), until));
    }
    let mut ids = 0;
    while let Some(done) = tasks.join_next().await {
        ids += done.map_err(|error| format!("a task: {error}"))?.map_err(|error| error.to_string())?;
    }
    let took = SystemClock.now().saturating_duration_since(begun).as_secs_f64();
    #[allow(clippy::cast_precision_loss, reason = "ids of a bench")]
    Ok(ids as f64 / took)
}

async fn caller(key: Arc<dyn Source>, until: Instant) -> Result<u64, SourceError> {
    let mut ids = 0;
    while SystemClock.now() < until {
        ids += key.take(IDS).await?.count();
    }
    Ok(ids)
}
