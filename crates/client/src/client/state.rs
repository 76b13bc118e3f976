//! State of a client: endpoints, options, and the sequences in use. All handles share it.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use sequent_buffer::{Reservoir, ReservoirContext, Spawner};
use sequent_core::{BoxFuture, Env, Event, Events};

use crate::{
    client::{
        environment::{Environment, Runtime},
        fork_detection::ForkGuard,
        options::Options,
    },
    error::Error,
    lease::{Leases, high_water::HighWater, request_scope::RequestScope},
    sequence::SequenceInner,
    telemetry::{client_metrics, gauge_share::GaugeShare},
    transport::{Transport, endpoints::Endpoints},
};

/// Limit on sequences of one client. Idle ones without a handle are removed soon.
const SEQUENCES_MAX: usize = 1_000_000;

/// Metrics are updated every so many ticks.
const REPORT_TICKS: u64 = 10;

/// State of a client.
pub(crate) struct ClientState {
    pub(crate) endpoints: Arc<Endpoints>,
    pub(crate) options: Arc<Options>,
    pub(crate) environment: Environment,
    pub(crate) runtime: Runtime,
    pub(crate) fork_guard: ForkGuard,
    reservoir_context: Arc<ReservoirContext>,
    sequences: Mutex<HashMap<RequestScope, Arc<SequenceInner>>>,
    ticks: AtomicU64,
    reserve: GaugeShare,
}

impl ClientState {
    pub(crate) fn new(
        transports: Vec<Arc<dyn Transport>>,
        options: Arc<Options>,
        environment: Environment,
    ) -> Arc<Self> {
        client_metrics::describe();
        let runtime = Runtime::here();
        let env = Env {
            clock: Arc::clone(&environment.timers),
            entropy: Arc::clone(&environment.entropy),
            events: Events::default(),
        };
        let endpoints = Endpoints::new(transports, options.health, env);
        runtime.spawn(endpoints.watch());
        let spawner = runtime.clone();
        let spawn: Spawner = Arc::new(move |refill: BoxFuture<'static, ()>| spawner.spawn(refill));
        let env = Env {
            clock: Arc::clone(&environment.ages),
            entropy: Arc::clone(&environment.entropy),
            events: Events::to(|event| note(&event)),
        };
        let reservoir_context = Arc::new(ReservoirContext {
            config: options.reservoir(),
            drain_mode: Arc::default(),
            env,
            spawn,
        });
        let (sequences, ticks, fork_guard) = (Mutex::default(), AtomicU64::new(0), ForkGuard::new());
        let reserve = client_metrics::reserve();
        Arc::new(Self {
            endpoints,
            options,
            environment,
            runtime,
            fork_guard,
            reservoir_context,
            sequences,
            ticks,
            reserve,
        })
    }

    /// The shared part of all handles of this scope, without I/O.
    pub(crate) fn shared(&self, scope: RequestScope) -> Result<Arc<SequenceInner>, Error> {
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

    /// The same. If there are too many sequences, the handle gets one of its own.
    pub(crate) fn shared_or_own(&self, scope: &RequestScope) -> Arc<SequenceInner> {
        self.shared(scope.clone()).unwrap_or_else(|_| self.own(scope))
    }

    fn own(&self, scope: &RequestScope) -> Arc<SequenceInner> {
        let (endpoints, ages) = (Arc::clone(&self.endpoints), Arc::clone(&self.environment.ages));
        let high_water = Arc::<HighWater>::default();
        let scope_state = (scope.clone(), Arc::clone(&high_water));
        let leases = Arc::new(Leases::new(scope_state, endpoints, Arc::clone(&self.options), ages));
        let reservoir =
            Reservoir::with_context(Arc::clone(&leases) as Arc<_>, Arc::clone(&self.reservoir_context));
        let shared = Arc::new(SequenceInner::new(scope.clone(), high_water, reservoir));
        leases.set_reservoir_owner(Arc::downgrade(&shared));
        shared
    }

    /// Expires old numbers of all sequences. Every [`REPORT_TICKS`] ticks it updates metrics, and removes unused
    /// sequences.
    pub(crate) fn tick(&self) {
        let age = self.options.lease_age_max;
        let mut sequences = self.sequences();
        for shared in sequences.values() {
            shared.reservoir.expire_and_refill_if_active(age);
        }
        if !self.ticks.fetch_add(1, Ordering::Relaxed).is_multiple_of(REPORT_TICKS) {
            return;
        }
        let mut reserve = 0;
        sequences.retain(|_, shared| {
            let stats = shared.report();
            reserve += stats.reserve;
            // Only this table holds it, and it was unused for longer than a lease lasts.
            Arc::strong_count(shared) > 1 || stats.idle <= age
        });
        #[allow(clippy::cast_precision_loss, reason = "a gauge is a double")]
        self.reserve.set(reserve as f64);
    }

    fn sequences(&self) -> MutexGuard<'_, HashMap<RequestScope, Arc<SequenceInner>>> {
        self.sequences.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn note(event: &Event) {
    if let Event::Dropped { count, why, .. } = event {
        client_metrics::burnt(why, *count);
    }
}
