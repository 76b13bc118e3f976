//! A running cluster in one process.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use sequent_buffer::TakeError;
use sequent_core::{Clock, Env, ErrorKind, Key, SequenceName, SourceError, sync};
use sequent_guard::Guard;
use sequent_ha::Ring;

use crate::{
    catalog::Catalog,
    config::{Config, SharedLimits},
    error::{EngineError, OpenError, reason::Reason},
    issue::{
        active_key::{ActiveKey, Keyed},
        behind_reports::BehindReports,
        burn::{SharedRules, dense::DenseBurn, spread::SpreadBurn},
        minimum::Minimums,
        registry::Registry,
        request_clock::RequestClock,
        request_types::{Issued, NextRequest},
    },
    open::{bootstrap::ClusterHandle, options::Options, tasks::Tasks},
    status::report::{BehindReport, EventReport, Status},
    telemetry::{Gauges, Memory, Recent, Refills, Throttle, Waits},
};

/// A running cluster in one process. Cheap to clone; [`shutdown`](Self::shutdown) ends it for all clones.
#[derive(Clone)]
pub struct Engine(pub(crate) Arc<Inner>);

/// The state that all clones of an engine share.
pub(crate) struct Inner {
    pub(crate) limits: SharedLimits,
    /// How long numbers shall last without the ledger.
    pub(crate) outage: std::time::Duration,
    pub(crate) env: Env,
    pub(crate) request_clock: RequestClock,
    /// Whether any key with a period has been active. Otherwise the scan for ending periods is skipped.
    pub(crate) dated: AtomicBool,
    pub(crate) ring: Arc<Ring>,
    pub(crate) guard: Arc<Guard>,
    pub(crate) cluster: Arc<ClusterHandle>,
    pub(crate) catalog: Catalog,
    pub(crate) minimums: Minimums,
    pub(crate) keys: Registry<ActiveKey>,
    pub(crate) keys_made: metrics::Counter,
    /// Dense counters in use in this process.
    pub(crate) dense: crate::issue::dense::Known,
    pub(crate) burn_rules: SharedRules,
    pub(crate) dense_keys: crate::issue::dense::DenseKeys,
    pub(crate) dense_burn: DenseBurn,
    pub(crate) spread_burn: SpreadBurn,
    pub(crate) reservoir_context: Arc<sequent_buffer::ReservoirContext>,
    pub(crate) tasks: Tasks,
    pub(crate) memory: Memory,
    pub(crate) behind_reports: BehindReports,
    /// The turn of lookups for `above`, of which one at a time reads the ledger.
    pub(crate) behind_turn: tokio::sync::Mutex<()>,
    pub(crate) gauges: Gauges,
    pub(crate) refills: Arc<Refills>,
    pub(crate) waits: Waits,
    pub(crate) failures: Throttle,
    pub(crate) stopping: AtomicBool,
    /// Files that could not be closed at the end.
    pub(crate) unleft: Mutex<Vec<String>>,
}

impl Engine {
    /// Checks the cluster, opens every store that responds, and starts the background jobs.
    ///
    /// A cluster that exists is refused if it does not fit the configuration. Slots that can't be reached start
    /// evicted.
    pub async fn open(config: Config, options: Options) -> Result<Self, OpenError> {
        crate::open::open(config, options).await
    }

    /// Numbers of a sequence: all or nothing.
    pub async fn next(&self, request: &NextRequest) -> Result<Issued, EngineError> {
        let (count, most) = (request.count, self.0.limits.load().max_count);
        if count == 0 || count > most {
            return Err(EngineError::invalid("count", count, format!("1 to {most} are allowed")));
        }
        let deadline =
            request.deadline.unwrap_or_else(|| self.0.env.clock.now() + self.0.limits.load().deadline);
        self.give(request, deadline).await
    }

    /// The reservoir of a sequence's key, for callers that take numbers one by one. Nothing begins before the first
    /// take. A sequence with a template is refused: its numbers come with texts.
    pub async fn reservoir(&self, name: &SequenceName) -> Result<Keyed, EngineError> {
        let deadline = self.0.env.clock.now() + self.0.limits.load().deadline;
        let live = self.live((name, &Key::of(name)), None, || None, deadline).await?;
        if !live.is_plain() {
            let bound = if live.has_texts() {
                "it has a template: ask for texts, one by one or many"
            } else {
                "another version of it takes effect at an instant: ask for its numbers one by one, or many"
            };
            return Err(EngineError::invalid("sequence", name, bound));
        }
        Ok(Keyed::new(live))
    }

    /// The engine's clock. Callers that set deadlines must read the same clock.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.0.env.clock
    }

    /// The ledger and the stores, for callers that list or probe them.
    pub fn cluster(&self) -> &Arc<ClusterHandle> {
        &self.0.cluster
    }

    /// The counters that this engine holds.
    pub fn guard(&self) -> &Guard {
        &self.0.guard
    }

    /// The state of slots, ledger and active keys.
    pub async fn status(&self) -> Status {
        crate::status::status(&self.0).await
    }

    /// The callers that were given numbers which this cluster can't have issued, one a key, and the number of reports
    /// about keys that are not listed.
    pub fn behind(&self) -> (Vec<BehindReport>, u64) {
        self.0.behind_reports.all()
    }

    /// Recent events in readable form, newest first.
    pub fn told(&self) -> Vec<EventReport> {
        self.0.memory.reports()
    }

    /// Recent events that a status shows, oldest first: at most [`RECENT_MAX`](crate::telemetry::RECENT_MAX) of them.
    pub fn recent(&self) -> Vec<Recent> {
        self.0.memory.all()
    }

    /// Puts all reservoirs into drain mode: they use up what they hold, and prefetch little. So little is discarded
    /// when the process ends.
    pub fn enter_drain_mode(&self) {
        self.0.reservoir_context.enter_drain_mode();
    }

    /// How many numbers are ready in memory, over all keys: those that would be discarded if the engine ended now.
    pub fn ready(&self) -> u64 {
        let keys = self.0.keys.all().into_iter();
        keys.map(|(_, live)| live.reservoir().stats().reserve).fold(0, u64::saturating_add)
    }

    /// Ends the engine, in this order: reservoirs (ready numbers are discarded, waiting callers get `DRAINING`),
    /// guard (its last heartbeat makes `seen` exact), stores. The APIs must be closed before. A second call does
    /// nothing.
    pub async fn shutdown(&self) {
        let inner = &self.0;
        if inner.stopping.swap(true, Ordering::AcqRel) {
            return;
        }
        for (_, live) in inner.keys.all() {
            live.reservoir().close();
        }
        inner.keys.remove(|_| true);
        inner.guard.close().await;
        inner.tasks.stop().await;
        let unleft = inner.cluster.close().await;
        *sync::lock(&inner.unleft) = unleft;
    }

    /// The files that [`shutdown`](Self::shutdown) could not close cleanly, because their disk does not respond. No
    /// data is lost: acknowledged writes are in the files and their logs.
    pub fn unleft(&self) -> Vec<String> {
        sync::lock(&self.0.unleft).clone()
    }

    pub(crate) fn draining() -> EngineError {
        EngineError::new(Reason::Draining, "this server is stopping")
    }

    pub(crate) fn failed(&self, name: &SequenceName, error: TakeError) -> EngineError {
        match error {
            TakeError::Source(error) if error.kind() == ErrorKind::Exhausted => {
                EngineError::of_source(name, error)
            }
            TakeError::Source(error) => self.source_failed(name, error),
            TakeError::Deadline => {
                EngineError::new(Reason::DeadlineExceeded, format!("no numbers of {name} came in time"))
            }
            TakeError::Closed if self.0.stopping.load(Ordering::Acquire) => Self::draining(),
            // Its definition has just changed, or it was just dropped as idle.
            TakeError::Closed => {
                EngineError::new(Reason::NoShardAvailable, format!("{name} was just closed"))
            }
        }
    }

    /// The error for callers of `name`. It is logged, as often as the throttle allows.
    pub(crate) fn source_failed(&self, name: &SequenceName, error: SourceError) -> EngineError {
        let failed = EngineError::of_source(name, error);
        let reason = failed.reason();
        if let Some(left_out) = self.0.failures.line(reason.as_str(), self.0.env.clock.now()) {
            tracing::warn!(%name, %reason, left_out, detail = failed.detail(), "request failed");
        }
        failed
    }
}

/// Interval of the scan for idle keys.
pub(crate) const SWEEP_EVERY: Duration = Duration::from_secs(30);

/// A key without a take for so long is dropped with all its sources.
pub(crate) const IDLE_AFTER: Duration = Duration::from_secs(600);
