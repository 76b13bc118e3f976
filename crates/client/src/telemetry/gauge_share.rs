//! Share of one client in a gauge that all clients of a process add to. The share is subtracted when the client ends.

use std::sync::{Mutex, PoisonError};

use metrics::{Gauge, with_recorder};

use crate::telemetry::client_metrics::with_recorder_guarded;

/// Limit on recorders per share. A process has one, and a no-op recorder until it is installed.
const RECORDERS_MAX: usize = 4;

/// A share, initially zero. It is tracked per recorder, so that a recorder which is installed later gets the whole
/// value.
pub(crate) struct GaugeShare {
    gauge: Box<dyn Fn() -> Gauge + Send + Sync>,
    /// Reported values by the address of the recorder.
    reported: Mutex<Vec<(usize, f64)>>,
}

impl GaugeShare {
    /// A share in the gauge that this function finds in the current recorder.
    pub(crate) fn new(gauge: impl Fn() -> Gauge + Send + Sync + 'static) -> Self {
        Self { gauge: Box::new(gauge), reported: Mutex::default() }
    }

    /// Changes the share to this value.
    pub(crate) fn set(&self, value: f64) {
        with_recorder_guarded(|| {
            let recorder = with_recorder(|recorder| std::ptr::from_ref(recorder).cast::<()>().addr());
            let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
            let at = match reported.iter().position(|(known, _)| *known == recorder) {
                Some(at) => at,
                None if reported.len() < RECORDERS_MAX => {
                    reported.push((recorder, 0.0));
                    reported.len() - 1
                }
                None => return,
            };
            // An increase by zero is reported as well, since it creates the series.
            let before = &mut reported[at].1;
            (self.gauge)().increment(value - *before);
            *before = value;
        });
    }
}

impl Drop for GaugeShare {
    fn drop(&mut self) {
        self.set(0.0);
    }
}

/// Gauges of an endpoint as one client sees it, until the client ends.
pub(crate) struct EndpointGauges {
    live: GaugeShare,
    out: GaugeShare,
}

impl EndpointGauges {
    /// Healthy at first. `live` and `out` count the clients that see the endpoint so.
    pub(crate) fn new(live: GaugeShare, out: GaugeShare) -> Self {
        let gauges = Self { live, out };
        gauges.set(true);
        gauges
    }

    /// Sets whether the endpoint is healthy.
    pub(crate) fn set(&self, is_live: bool) {
        let [live, out] = if is_live { [1.0, 0.0] } else { [0.0, 1.0] };
        self.live.set(live);
        self.out.set(out);
    }
}
