//! Metrics of the tokio runtime: busy ratio, workers, tasks, queue depth.

use std::time::{Duration, Instant};

use sequent_core::{Clock, SystemClock};
use tokio::runtime::{Handle, RuntimeMetrics};

use crate::telemetry::metric_names::{BUSY, PARKS, QUEUE, TASKS, WORKERS};

/// Sampler of a runtime, with its previous sample.
pub(crate) struct RuntimeSampler {
    runtime: RuntimeMetrics,
    before: (Instant, Duration),
}

impl RuntimeSampler {
    /// Sampler of the current runtime.
    pub(crate) fn new() -> Self {
        let runtime = Handle::current().metrics();
        let before = (SystemClock.now(), busy(&runtime));
        let mut sampler = Self { runtime, before };
        sampler.sample();
        sampler
    }

    /// Sets the gauges. The busy ratio covers the time since the previous sample.
    pub(crate) fn sample(&mut self) {
        let runtime = &self.runtime;
        let (then, spent) = std::mem::replace(&mut self.before, (SystemClock.now(), busy(runtime)));
        let passed = self.before.0.saturating_duration_since(then).as_secs_f64();
        let workers = count(runtime.num_workers());
        if passed > 0.0 {
            let worked = self.before.1.saturating_sub(spent).as_secs_f64();
            metrics::gauge!(BUSY).set((worked / passed / workers.max(1.0)).min(1.0));
        } else {
            metrics::gauge!(BUSY).set(0.0);
        }
        metrics::gauge!(WORKERS).set(workers);
        metrics::gauge!(TASKS).set(count(runtime.num_alive_tasks()));
        metrics::gauge!(QUEUE).set(count(runtime.global_queue_depth()));
        let parks = (0..runtime.num_workers()).map(|worker| runtime.worker_park_count(worker)).sum();
        metrics::counter!(PARKS).absolute(parks);
    }
}

/// Time that all workers have spent on tasks.
fn busy(runtime: &RuntimeMetrics) -> Duration {
    (0..runtime.num_workers()).map(|worker| runtime.worker_total_busy_duration(worker)).sum()
}

#[allow(clippy::cast_precision_loss, reason = "threads and tasks are far below 2^53")]
fn count(number: usize) -> f64 {
    number as f64
}
