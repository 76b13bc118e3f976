//! Callers of this process, each in a task of its own: what h2load can't send, and what the SDK's callers are beside.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use sequent_core::{Clock, Entropy, SystemClock};
use sequent_proto::v1::{NextRequest, sequences_client::SequencesClient};
use sequent_testkit::SeededEntropy;
use tokio::{
    runtime::{Builder, Runtime},
    task::JoinSet,
};
use tonic::transport::{Channel, Endpoint};

use crate::load::{Found, Load};

/// A runtime with a thread a core, for both sides alike.
pub(crate) fn runtime() -> Result<Runtime, String> {
    let runtime = Builder::new_multi_thread().enable_all().build();
    runtime.map_err(|error| format!("no runtime: {error}"))
}

/// Runs so many callers at once, each of which is told its number and when to end, and says how many numbers it got.
pub(crate) async fn calling<F>(
    callers: u64,
    seconds: u64,
    caller: impl Fn(u64, Instant) -> F,
) -> Result<Found, String>
where
    F: Future<Output = Result<u64, String>> + Send + 'static,
{
    let begun = SystemClock.now();
    let until = begun + Duration::from_secs(seconds);
    let mut tasks: JoinSet<_> = (0..callers).map(|number| caller(number, until)).collect();
    let mut done = 0;
    while let Some(ended) = tasks.join_next().await {
        done += ended.map_err(|error| format!("a caller: {error}"))??;
    }
    let took = SystemClock.now().saturating_duration_since(begun).as_secs_f64();
    #[allow(clippy::cast_precision_loss, reason = "requests of a bench")]
    let done = done as f64;
    Ok(Found { rate: done / took, done })
}

/// Whose numbers the callers ask for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Names {
    /// `order`'s.
    Order,
    /// Those of so many keys, drawn uniformly: the same work for a caller whatever their number is.
    Uniform(u64),
}

impl Names {
    fn draw(self, entropy: &SeededEntropy) -> String {
        match self {
            Self::Order => "order".to_owned(),
            Self::Uniform(keys) => key(entropy.bits() % keys),
        }
    }
}

/// The name of a key of S11.
pub(crate) fn key(number: u64) -> String {
    format!("key-{number:07}")
}

/// gRPC `Next` of one number, each caller by itself, by tonic's own client: `callers` over `load.connections`.
pub(crate) async fn unary(to: SocketAddr, callers: u64, names: Names, load: Load) -> Result<Found, String> {
    let failed = |error: &dyn std::error::Error| format!("unary: {error}");
    let endpoint = Endpoint::from_shared(format!("http://{to}")).map_err(|error| failed(&error))?;
    let mut connections: Vec<Channel> = Vec::new();
    for _ in 0..load.connections.min(callers) {
        let connected = endpoint.clone().tcp_nodelay(true).connect().await;
        connections.push(connected.map_err(|error| failed(&error))?);
    }
    calling(callers, load.seconds, |number, until| {
        let at = usize::try_from(number).unwrap_or(0) % connections.len();
        let mut client = SequencesClient::new(connections[at].clone());
        let entropy = SeededEntropy::new(number);
        async move {
            let mut done = 0;
            while SystemClock.now() < until {
                let request = NextRequest { sequence: names.draw(&entropy), ..NextRequest::default() };
                client.next(request).await.map_err(|status| format!("unary: {status}"))?;
                done += 1;
            }
            Ok(done)
        }
    })
    .await
}
