//! Prometheus recorder: one per process, which keeps and renders all metrics.

use std::sync::{Arc, OnceLock};

use metrics::{Counter, Gauge, Histogram, Key, KeyName, Metadata, SharedString, Unit};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle, PrometheusRecorder};
use metrics_process::Collector;

use sequent_core::{Clock, SystemClock};

use crate::{
    limits::RUNTIME_SAMPLE_EVERY,
    telemetry::{histograms::Histograms, request_metrics, runtime_metrics::RuntimeSampler},
};

static INSTALLED: OnceLock<Option<Handle>> = OnceLock::new();

/// The recorder of this process.
#[derive(Clone)]
pub struct Recorder(Option<Handle>);

#[derive(Clone)]
struct Handle {
    exporter: PrometheusHandle,
    histograms: Arc<Histograms>,
}

/// The exporter, but for histograms.
struct BucketRecorder {
    exporter: PrometheusRecorder,
    histograms: Arc<Histograms>,
}

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
        self.0.as_ref().map(Handle::render).unwrap_or_default()
    }

    /// Records a reload of the configuration: when it took effect, in milliseconds since 1970, or `None` if it was
    /// refused.
    pub fn reloaded(&self, taken_up_ms: Option<u64>) {
        request_metrics::reloaded(taken_up_ms);
    }
}

/// Samples the runtime for ever.
pub(crate) async fn sample_runtime() {
    request_metrics::loaded(SystemClock.wall_ms());
    let mut sampler = RuntimeSampler::new();
    loop {
        tokio::time::sleep(RUNTIME_SAMPLE_EVERY).await;
        sampler.sample();
    }
}

impl Handle {
    fn render(&self) -> String {
        let mut text = without_ended(self.exporter.render());
        // Writing to a string can't fail.
        let _ = self.histograms.render(&mut text);
        text
    }
}

fn install() -> Option<Handle> {
    let recorder = BucketRecorder::new();
    let handle = recorder.handle();
    metrics::set_global_recorder(recorder).ok()?;
    sequent_engine::describe_metrics();
    request_metrics::describe();
    Collector::default().describe();
    Some(handle)
}

impl BucketRecorder {
    fn new() -> Self {
        Self { exporter: PrometheusBuilder::new().build_recorder(), histograms: Arc::default() }
    }

    fn handle(&self) -> Handle {
        Handle { exporter: self.exporter.handle(), histograms: Arc::clone(&self.histograms) }
    }
}

impl metrics::Recorder for BucketRecorder {
    fn describe_counter(&self, name: KeyName, unit: Option<Unit>, help: SharedString) {
        self.exporter.describe_counter(name, unit, help);
    }

    fn describe_gauge(&self, name: KeyName, unit: Option<Unit>, help: SharedString) {
        self.exporter.describe_gauge(name, unit, help);
    }

    fn describe_histogram(&self, name: KeyName, _: Option<Unit>, help: SharedString) {
        self.histograms.describe(name.as_str(), &help);
    }

    fn register_counter(&self, key: &Key, metadata: &Metadata<'_>) -> Counter {
        self.exporter.register_counter(key, metadata)
    }

    fn register_gauge(&self, key: &Key, metadata: &Metadata<'_>) -> Gauge {
        self.exporter.register_gauge(key, metadata)
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::from_arc(self.histograms.series(key))
    }
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

    const SAMPLES: u32 = 1_000_000;

    /// Resident memory in pages.
    fn resident() -> f64 {
        let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
        statm.split(' ').nth(1).unwrap().parse().unwrap()
    }

    #[test]
    fn samples_that_nobody_looks_at_cost_no_memory() {
        let recorder = BucketRecorder::new();
        let _here = metrics::set_default_local_recorder(&recorder);
        let seconds =
            metrics::histogram!(crate::telemetry::metric_names::SECONDS, "api" => "http", "method" => "next");
        let before = resident();
        (0..SAMPLES).for_each(|sample| seconds.record(f64::from(sample) * 1e-9));
        let after = resident();
        println!("{before} pages, {after} after {SAMPLES} samples");
        // A sample that was kept would take 8 bytes, and these 2,000 pages.
        assert!(after < before + 500.0, "{before} pages, then {after}");
        let text = recorder.handle().render();
        assert!(text.contains("_count{api=\"http\",method=\"next\"} 1000000\n"), "{text}");
    }
}
