//! One client's part in a gauge that all clients of a program share: what each has is added up, and handed back at its end.

use std::sync::{Mutex, PoisonError};

use metrics::{Gauge, with_recorder};

use crate::telemetry::client_metrics::with_recorder_guarded;

/// The most recorders that a client tells: a program has one, and one that stands in for it until it is installed.
const RECORDERS_MAX: usize = 4;

/// A part, which is nothing as yet. What it was told to be counts with the recorder that heard it alone: one that is
/// installed later is told the whole.
pub(crate) struct GaugeShare {
    gauge: Box<dyn Fn() -> Gauge + Send + Sync>,
    /// By the recorder's address.
    reported: Mutex<Vec<(usize, f64)>>,
}

impl GaugeShare {
    /// Of the gauge that this finds in the recorder of the hour.
    pub(crate) fn new(gauge: impl Fn() -> Gauge + Send + Sync + 'static) -> Self {
        Self { gauge: Box::new(gauge), reported: Mutex::default() }
    }

    /// It is so much from now on.
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
            // An increase by nothing, too: the series is there from then on.
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

/// An endpoint as one client sees it: in use or out, until the client ends.
pub(crate) struct EndpointGauges {
    live: GaugeShare,
    out: GaugeShare,
}

impl EndpointGauges {
    /// In use. `live` and `out` count the clients that have it so.
    pub(crate) fn new(live: GaugeShare, out: GaugeShare) -> Self {
        let gauges = Self { live, out };
        gauges.set(true);
        gauges
    }

    /// It is in use or may be; or it is out.
    pub(crate) fn set(&self, is_live: bool) {
        let [live, out] = if is_live { [1.0, 0.0] } else { [0.0, 1.0] };
        self.live.set(live);
        self.out.set(out);
    }
}
