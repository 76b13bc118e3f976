//! Where metrics are kept and rendered: one recorder a process.

use std::sync::OnceLock;

use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};

use crate::{bounds::UPKEEP_EVERY, meter};

/// Upper bounds of buckets, in seconds: quantiles of several servers can only be joined from common buckets.
const SECONDS: [f64; 18] = [
    0.000_01, 0.000_025, 0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1,
    0.25, 0.5, 1.0, 2.5, 5.0,
];

/// Upper bounds of buckets, in numbers a request.
const NUMBERS: [f64; 9] = [1.0, 2.0, 5.0, 10.0, 100.0, 1000.0, 10_000.0, 100_000.0, 1_000_000.0];

static INSTALLED: OnceLock<Option<PrometheusHandle>> = OnceLock::new();

/// The process's metrics.
#[derive(Clone)]
pub struct Recorder(Option<PrometheusHandle>);

impl Recorder {
    /// The process's recorder, made by the first call. Call it before an engine is opened, whose events count too.
    ///
    /// Where the process has a recorder of its own already, that one gets everything and there is nothing to render.
    pub fn install() -> Self {
        Self(INSTALLED.get_or_init(install).clone())
    }

    /// Every metric, as Prometheus reads it.
    pub(crate) fn render(&self) -> String {
        self.0.as_ref().map(PrometheusHandle::render).unwrap_or_default()
    }

    /// Drains histograms for ever: each sample is kept until then, scraped or not.
    pub(crate) async fn upkeep(self) {
        loop {
            tokio::time::sleep(UPKEEP_EVERY).await;
            if let Some(handle) = &self.0 {
                handle.run_upkeep();
            }
        }
    }
}

fn install() -> Option<PrometheusHandle> {
    let buckets = [("_seconds", &SECONDS[..]), ("_numbers", &NUMBERS[..])];
    let builder = buckets.into_iter().try_fold(PrometheusBuilder::new(), |builder, (suffix, bounds)| {
        builder.set_buckets_for_metric(Matcher::Suffix(suffix.to_owned()), bounds)
    });
    let recorder = builder.ok()?.build_recorder();
    let handle = recorder.handle();
    metrics::set_global_recorder(recorder).ok()?;
    sequent_engine::describe_metrics();
    meter::describe();
    Some(handle)
}
