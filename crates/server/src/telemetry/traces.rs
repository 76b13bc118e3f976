//! Request traces, sent to a collector by OTLP over HTTP. Only in builds with the feature `otel`.
//!
//! A span is named `request` and carries the id that log lines show. A request on the fast path has no span, since a
//! span costs more than the number.

use std::{fmt, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Response, Uri, header::HOST};
use http_body_util::{BodyExt, Full, Limited};
use hyper_util::rt::TokioIo;
use opentelemetry::{propagation::TextMapPropagator, trace::TracerProvider};
use opentelemetry_http::{HeaderExtractor, HttpClient, HttpError};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::{
    Resource,
    propagation::TraceContextPropagator,
    trace::{BatchConfigBuilder, BatchSpanProcessor, Sampler, SdkTracerProvider},
};
use tokio::{net::TcpStream, runtime::Runtime, time::timeout};
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::{Layer, registry::LookupSpan};

/// Service name of the spans.
const SERVICE: &str = "sequent";

/// Limit on spans that wait for the collector. Further ones are dropped.
const QUEUED_MAX: usize = 4096;

/// Interval at which spans are sent.
const SENT_EVERY: Duration = Duration::from_secs(2);

/// Time limit of one export, and of the last one at shutdown.
const SEND_MAX: Duration = Duration::from_secs(5);

/// Limit on the response of a collector, in bytes.
const ANSWER_MAX: usize = 1 << 16;

/// Exporter of spans.
#[derive(Debug)]
pub struct Traces(SdkTracerProvider);

impl Traces {
    /// Exports one of `one_in` traces, and those that callers request (`traceparent`), to a collector at `endpoint`,
    /// such as `http://127.0.0.1:4318/v1/traces`.
    pub fn to(endpoint: &str, one_in: u32) -> Result<Self, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let client = OtlpHttp(Some(runtime.map_err(|error| format!("no runtime: {error}"))?));
        let exporter = SpanExporter::builder().with_http().with_http_client(client).with_endpoint(endpoint);
        let exporter = exporter.with_protocol(Protocol::HttpBinary).with_timeout(SEND_MAX).build();
        let batches = BatchConfigBuilder::default()
            .with_max_queue_size(QUEUED_MAX)
            .with_scheduled_delay(SENT_EVERY)
            .build();
        let exporter = exporter.map_err(|error| error.to_string())?;
        let processor = BatchSpanProcessor::builder(exporter).with_batch_config(batches).build();
        let some = Sampler::TraceIdRatioBased(1.0 / f64::from(one_in.max(1)));
        let provider = SdkTracerProvider::builder()
            .with_span_processor(processor)
            .with_sampler(Sampler::ParentBased(Box::new(some)))
            .with_resource(Resource::builder().with_service_name(SERVICE).build())
            .build();
        Ok(Self(provider))
    }

    /// Layer of `tracing` that exports spans.
    pub fn layer<S>(&self) -> impl Layer<S> + use<S>
    where
        S: tracing::Subscriber + for<'span> LookupSpan<'span>,
    {
        tracing_opentelemetry::layer().with_tracer(self.0.tracer(SERVICE)).with_location(false)
    }

    /// Sends the remaining spans, for at most five seconds. It blocks.
    pub fn end(&self) {
        if let Err(error) = self.0.shutdown_with_timeout(SEND_MAX) {
            tracing::warn!(%error, "the last spans may not have reached the collector");
        }
    }
}

/// Adds a request's span to its caller's trace, if the headers name one.
pub(crate) fn join(span: &Span, headers: &HeaderMap) {
    let caller = TraceContextPropagator::new().extract(&HeaderExtractor(headers));
    // Fails only without a collector, and then nobody needs the trace.
    drop(span.set_parent(caller));
}

/// HTTP client of the exporter's own thread, with its own runtime. The server's runtime may be busy, and ends before
/// the last spans are sent.
struct OtlpHttp(Option<Runtime>);

#[tonic::async_trait]
impl HttpClient for OtlpHttp {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let runtime = self.0.as_ref().ok_or("the exporter has ended")?;
        runtime.block_on(async { timeout(SEND_MAX, send(request)).await? })
    }
}

impl fmt::Debug for OtlpHttp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OtlpHttp")
    }
}

impl Drop for OtlpHttp {
    fn drop(&mut self) {
        // It may be dropped within another runtime, which must not block.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// Sends one request on a new connection. There is one every two seconds.
async fn send(request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
    let (mut parts, body) = request.into_parts();
    let authority = parts.uri.authority().cloned().ok_or("the endpoint has no host")?;
    let stream = TcpStream::connect((authority.host(), authority.port_u16().unwrap_or(80))).await?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    let driven = tokio::spawn(connection);
    parts.headers.insert(HOST, HeaderValue::from_str(authority.as_str())?);
    parts.uri =
        parts.uri.path_and_query().map_or_else(|| Ok(Uri::from_static("/")), |path| path.as_str().parse())?;
    let answer = sender.send_request(Request::from_parts(parts, Full::new(body))).await?;
    let (parts, body) = answer.into_parts();
    let body = Limited::new(body, ANSWER_MAX).collect().await?.to_bytes();
    driven.abort();
    Ok(Response::from_parts(parts, body))
}
