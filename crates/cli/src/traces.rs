//! Destination of a server's spans besides its log lines: none, except in builds with the feature `otel`.

use sequent_engine::config::TracesSection;
use tracing::Subscriber;
use tracing_subscriber::{layer::SubscriberExt, registry::LookupSpan, util::SubscriberInitExt};

use crate::failure::Failure;

/// The destination.
#[derive(Debug, Default)]
pub(crate) struct Traces(#[cfg(feature = "otel")] Option<sequent_server::Traces>);

impl Traces {
    /// The configured destination; refused if this build has none.
    #[cfg(feature = "otel")]
    pub(crate) fn of(part: &TracesSection) -> Result<Self, Failure> {
        let to = |endpoint: &String| sequent_server::Traces::to(endpoint, part.one_in);
        let traces = part.endpoint.as_ref().map(to).transpose();
        traces.map(Self).map_err(|error| Failure::failed(format!("no traces: {error}")))
    }

    /// The configured destination; refused if this build has none.
    #[cfg(not(feature = "otel"))]
    pub(crate) fn of(part: &TracesSection) -> Result<Self, Failure> {
        match &part.endpoint {
            None => Ok(Self()),
            Some(endpoint) => {
                let bound = "this build has no traces: build it with --features otel, or leave it out";
                Err(Failure::argument("traces.endpoint", endpoint, bound))
            }
        }
    }

    /// Starts logging and tracing: log lines and the collector of spans receive everything.
    #[cfg_attr(
        not(feature = "otel"),
        expect(clippy::unused_self, reason = "without the feature there is nothing to ask")
    )]
    pub(crate) fn init<S>(&self, lines: S)
    where
        S: Subscriber + for<'span> LookupSpan<'span> + Send + Sync + 'static,
    {
        #[cfg(feature = "otel")]
        let lines = lines.with(self.0.as_ref().map(sequent_server::Traces::layer));
        #[cfg(not(feature = "otel"))]
        let lines = lines.with(tracing_subscriber::layer::Identity::new());
        lines.init();
    }

    /// Sends the spans that are still buffered.
    #[cfg_attr(
        not(feature = "otel"),
        expect(clippy::unused_self, reason = "without the feature there is nothing to ask")
    )]
    pub(crate) fn end(&self) {
        #[cfg(feature = "otel")]
        if let Some(traces) = &self.0 {
            traces.end();
        }
    }
}
