//! Prometheus recorder: one per process, which keeps and renders all metrics.

use std::sync::OnceLock;

use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle, PrometheusRecorder};
use metrics_process::Collector;

use sequent_core::{Clock, SystemClock};

use crate::{
    limits::UPKEEP_EVERY,
    telemetry::{request_metrics, runtime_metrics::RuntimeSampler},
};

/// Upper bounds of histogram buckets, in seconds. They are fixed, because quantiles over several servers need common
/// buckets.
const SECONDS: [f64; 18] = [
    0.000_01, 0.000_025, 0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1,
    0.25, 0.5, 1.0, 2.5, 5.0,
];

/// Upper bounds of histogram buckets, in numbers per request.
const NUMBERS: [f64; 9] = [1.0, 2.0, 5.0, 10.0, 100.0, 1000.0, 10_000.0, 100_000.0, 1_000_000.0];

static INSTALLED: OnceLock<Option<PrometheusHandle>> = OnceLock::new();

/// The recorder of this process.
#[derive(Clone)]
pub struct Recorder(Option<PrometheusHandle>);

impl Recorder {
    /// Installs the recorder on the first call. Call it before an engine is opened, so that its first events count.
    ///
    /// If the process already has another recorder, that one gets all metrics, and nothing is rendered here.
    pub fn install() -> Self {
        Self(INSTALLED.get_or_init(install).clone())
    }

    /// All metrics in the Prometheus text format. Those of the process are read now.
    pub(crate) fn render(&self) -> String {
        Collector::default().collect();
        self.0.as_ref().map(PrometheusHandle::render).map(without_ended).unwrap_or_default()
    }

    /// Records a reload of the configuration: when it took effect, in milliseconds since 1970, or `None` if it was
    /// refused.
    pub fn reloaded(&self, taken_up_ms: Option<u64>) {
        request_metrics::reloaded(taken_up_ms);
    }

    /// Drains the histograms for ever, since each sample is kept until then. Samples the runtime as well.
    pub(crate) async fn upkeep(self) {
        request_metrics::loaded(SystemClock.wall_ms());
        let mut sampler = RuntimeSampler::new();
        loop {
            tokio::time::sleep(UPKEEP_EVERY).await;
            sampler.sample();
            if let Some(handle) = &self.0 {
                handle.run_upkeep();
            }
        }
    }
}

fn install() -> Option<PrometheusHandle> {
    let recorder = recorder()?;
    let handle = recorder.handle();
    metrics::set_global_recorder(recorder).ok()?;
    sequent_engine::describe_metrics();
    request_metrics::describe();
    Collector::default().describe();
    Some(handle)
}

fn recorder() -> Option<PrometheusRecorder> {
    let buckets = [("_seconds", &SECONDS[..]), ("_numbers", &NUMBERS[..])];
    let builder = buckets.into_iter().try_fold(PrometheusBuilder::new(), |builder, (suffix, bounds)| {
        builder.set_buckets_for_metric(Matcher::Suffix(suffix.to_owned()), bounds)
    });
    Some(builder.ok()?.build_recorder())
}

/// Removes series that have ended: their value is NaN.
fn without_ended(shown: String) -> String {
    const ENDED: &str = " NaN";
    if !shown.contains(ENDED) {
        return shown;
    }
    shown.lines().filter(|line| !line.ends_with(ENDED)).flat_map(|line| [line, "\n"]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const DAY_S: u32 = 24 * 60 * 60;

    /// Samples per second and histogram: 200 requests a second for a day.
    const SAMPLES: u32 = 200;

    /// Resident memory in pages.
    fn resident() -> f64 {
        let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
        statm.split(' ').nth(1).unwrap().parse().unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn a_day_that_nobody_looks_costs_no_memory() {
        let recorder = recorder().unwrap();
        let handle = recorder.handle();
        let _here = metrics::set_default_local_recorder(&recorder);
        let upkeep = tokio::spawn(Recorder(Some(handle)).upkeep());
        let seconds =
            metrics::histogram!(crate::telemetry::metric_names::SECONDS, "api" => "http", "method" => "next");
        let mut after_an_hour = 0.0;
        for second in 0..DAY_S {
            (0..SAMPLES).for_each(|sample| seconds.record(f64::from(sample) * 1e-5));
            tokio::time::sleep(Duration::from_secs(1)).await;
            if second == 60 * 60 {
                after_an_hour = resident();
            }
        }
        let after_a_day = resident();
        println!("{after_an_hour} pages after an hour, {after_a_day} after a day");
        assert!(after_a_day <= after_an_hour * 1.05, "{after_an_hour} pages, then {after_a_day}");
        upkeep.abort();
    }
}
