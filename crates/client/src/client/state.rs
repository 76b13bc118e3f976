//! What a client stands on: its endpoints, its clocks, the sequences in use. All handles share one.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use sequent_buffer::{Reservoir, ReservoirContext, Spawner};
use sequent_core::{BoxFuture, Clock, Entropy, Env, Event, Events, OsEntropy, SystemClock};
use tokio::runtime::Handle;

use crate::{
    client::{boot_clock::BootClock, fork_detection::Process, options::Options},
    error::Error,
    lease::{Leases, high_water::Highest, request_scope::Scope},
    sequence::Shared,
    telemetry::{client_metrics, gauge_share::Part},
    transport::{Transport, endpoints::Endpoints},
};

/// The most sequences of one client; those that nobody holds, and that are idle, do not count for long.
const SEQUENCES_MAX: usize = 1_000_000;

/// Every so many ticks the metrics are brought up to date.
const REPORT_TICKS: u64 = 10;

/// Where background work runs.
#[derive(Debug, Clone)]
pub(crate) struct Runtime(Option<Handle>);

impl Runtime {
    /// The one that this is called in; without one, that of whoever needs something done.
    pub(crate) fn here() -> Self {
        Self(Handle::try_current().ok())
    }

    /// Without any runtime the work is dropped, which its waiters hear of.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        if let Some(handle) = self.0.clone().or_else(|| Handle::try_current().ok()) {
            handle.spawn(work);
        }
    }
}

/// Where time and chance come from: two clocks, for timers stand still while a machine sleeps, and leases age.
#[derive(Debug, Clone)]
pub(crate) struct Nature {
    pub(crate) timers: Arc<dyn Clock>,
    pub(crate) ages: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
}

impl Default for Nature {
    fn default() -> Self {
        Self { timers: Arc::new(SystemClock), ages: Arc::new(BootClock::new()), entropy: Arc::new(OsEntropy) }
    }
}

/// See the [module](self).
pub(crate) struct Ground {
    pub(crate) endpoints: Arc<Endpoints>,
    pub(crate) options: Arc<Options>,
    pub(crate) nature: Nature,
    pub(crate) runtime: Runtime,
    pub(crate) process: Process,
    reservoir_context: Arc<ReservoirContext>,
    sequences: Mutex<HashMap<Scope, Arc<Shared>>>,
    ticks: AtomicU64,
    reserve: Part,
}

impl Ground {
    pub(crate) fn new(
        transports: Vec<Arc<dyn Transport>>,
        options: Arc<Options>,
        nature: Nature,
    ) -> Arc<Self> {
        client_metrics::describe();
        let runtime = Runtime::here();
        let env = Env {
            clock: Arc::clone(&nature.timers),
            entropy: Arc::clone(&nature.entropy),
            events: Events::default(),
        };
        let endpoints = Endpoints::new(transports, options.health, env);
        runtime.spawn(endpoints.watch());
        let spawner = runtime.clone();
        let spawn: Spawner = Arc::new(move |refill: BoxFuture<'static, ()>| spawner.spawn(refill));
        let env = Env {
            clock: Arc::clone(&nature.ages),
            entropy: Arc::clone(&nature.entropy),
            events: Events::to(|event| note(&event)),
        };
        let reservoir_context = Arc::new(ReservoirContext {
            config: options.reservoir(),
            drain_mode: Arc::default(),
            env,
            spawn,
        });
        let (sequences, ticks, process) = (Mutex::default(), AtomicU64::new(0), Process::here());
        let reserve = client_metrics::reserve();
        Arc::new(Self {
            endpoints,
            options,
            nature,
            runtime,
            process,
            reservoir_context,
            sequences,
            ticks,
            reserve,
        })
    }

    /// What all handles of this scope share. No I/O.
    pub(crate) fn shared(&self, scope: Scope) -> Result<Arc<Shared>, Error> {
        let mut sequences = self.sequences();
        if let Some(shared) = sequences.get(&scope) {
            return Ok(Arc::clone(shared));
        }
        if sequences.len() >= SEQUENCES_MAX {
            let bound = format!("{SEQUENCES_MAX} sequences are in use: no more are allowed");
            return Err(Error::field("sequence", scope.name(), bound));
        }
        let shared = self.own(&scope);
        sequences.insert(scope, Arc::clone(&shared));
        Ok(shared)
    }

    /// The same; where there are too many, one that nobody else shares.
    pub(crate) fn shared_or_own(&self, scope: &Scope) -> Arc<Shared> {
        self.shared(scope.clone()).unwrap_or_else(|_| self.own(scope))
    }

    fn own(&self, scope: &Scope) -> Arc<Shared> {
        let (endpoints, ages) = (Arc::clone(&self.endpoints), Arc::clone(&self.nature.ages));
        let highest = Arc::<Highest>::default();
        let told = (scope.clone(), Arc::clone(&highest));
        let leases = Arc::new(Leases::new(told, endpoints, Arc::clone(&self.options), ages));
        let reservoir =
            Reservoir::with_context(Arc::clone(&leases) as Arc<_>, Arc::clone(&self.reservoir_context));
        let shared = Arc::new(Shared::new(scope.clone(), highest, reservoir));
        leases.fill(Arc::downgrade(&shared));
        shared
    }

    /// Drops what has aged, in every sequence; now and then says how things stand, and forgets what nobody uses.
    pub(crate) fn tick(&self) {
        let age = self.options.lease_age_max;
        let mut sequences = self.sequences();
        for shared in sequences.values() {
            shared.reservoir().expire_and_refill_if_active(age);
        }
        if !self.ticks.fetch_add(1, Ordering::Relaxed).is_multiple_of(REPORT_TICKS) {
            return;
        }
        let mut reserve = 0;
        sequences.retain(|_, shared| {
            let stats = shared.report();
            reserve += stats.reserve;
            // Held by nobody but this table, and unused for longer than any lease lasts.
            Arc::strong_count(shared) > 1 || stats.idle <= age
        });
        #[allow(clippy::cast_precision_loss, reason = "a gauge is a double")]
        self.reserve.is(reserve as f64);
    }

    fn sequences(&self) -> MutexGuard<'_, HashMap<Scope, Arc<Shared>>> {
        self.sequences.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn note(event: &Event) {
    if let Event::Dropped { count, why, .. } = event {
        client_metrics::burnt(why, *count);
    }
}
