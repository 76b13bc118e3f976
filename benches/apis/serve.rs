//! What a child process serves: Sequent in memory, an empty tonic echo, or an axum handler that does nothing.

use std::{fmt::Write, net::SocketAddr, sync::Arc};

use axum::{Router, routing::post};
use sequent_engine::{
    Engine, Options,
    config::{Config, Sources},
};
use sequent_proto::v1::{
    LeaseRequest, LeaseResponse, NextRequest, NextResponse,
    sequences_server::{Sequences, SequencesServer},
};
use sequent_server::{Auth, Listeners, Recorder, RuntimeLimits, ServerOptions, ServerTls, TlsFiles};
use tokio::net::TcpListener;
use tonic::{Request, Response, Status, transport::server::TcpIncoming};

use crate::access;

/// The roles, as a child process is told them.
pub(crate) const SEQUENT: &str = "sequent";
pub(crate) const UNCOUNTED: &str = "uncounted";
pub(crate) const TOKENS: &str = "tokens";
pub(crate) const TLS: &str = "tls";
pub(crate) const TONIC: &str = "tonic";
pub(crate) const AXUM: &str = "axum";

/// Four slots, as the embedded default; every place in memory, so that the APIs are measured and no disk.
const CONFIG: &str = "cluster = \"bench\"\nauto_create = [\"*\"]\n\
    [ring]\nshard_bits = 2\nallow_volatile = true\n[ledger]\nstore = \"memory\"\n";

/// Serves until it is killed; its addresses are the first line that it prints.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    let role = args.first().map(String::as_str).unwrap_or_default();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("no runtime: {error}"))?;
    runtime.block_on(async {
        match role {
            SEQUENT => sequent("").await,
            TOKENS => sequent(access::PRINCIPAL).await,
            TLS => sequent(access::TLS).await,
            UNCOUNTED => {
                // Whoever comes second gets nothing: the server's own recorder then hears of no metric.
                let first = metrics::set_global_recorder(metrics::NoopRecorder);
                first.map_err(|error| format!("a recorder was there: {error}"))?;
                sequent("").await
            }
            TONIC => tonic().await,
            AXUM => axum().await,
            other => Err(format!(
                "--role is {other:?}: {SEQUENT}, {UNCOUNTED}, {TOKENS}, {TLS}, {TONIC} and {AXUM} are known"
            )),
        }
    })
}

async fn bind() -> Result<(TcpListener, SocketAddr), String> {
    let listener = TcpListener::bind("127.0.0.1:0").await.map_err(|error| format!("no port: {error}"))?;
    let address = listener.local_addr().map_err(|error| format!("no address: {error}"))?;
    Ok((listener, address))
}

fn say(addresses: &[SocketAddr]) {
    let addresses: Vec<String> = addresses.iter().map(ToString::to_string).collect();
    println!("{}", addresses.join(" "));
}

/// Sequent with `more` in its configuration.
async fn sequent(more: &str) -> Result<(), String> {
    let place = tempfile::tempdir().map_err(|error| format!("no directory: {error}"))?;
    let file = place.path().join("sequent.toml");
    let mut text = CONFIG.to_owned();
    for slot in 0..4 {
        let line = format!("[[shard]]\nslot = {slot}\nstore = \"memory\"\n");
        text.write_str(&line).map_err(|error| error.to_string())?;
    }
    text.push_str(more);
    let data = place.path().join("data");
    if more == access::TLS {
        access::certificate(&data)?;
    }
    std::fs::write(&file, text).map_err(|error| format!("no configuration: {error}"))?;
    let sources = Sources::embedded(data).file(file);
    let config = Config::load(&sources).map_err(|faults| faults.to_string())?;
    let (recorder, limits) = (Recorder::install(), RuntimeLimits::new(&config.limits));
    let listen = config.listen.clone();
    let opened = Engine::open(config.clone(), Options::default()).await;
    let engine = opened.map_err(|error| error.to_string())?;
    let auth = Auth::new(&config, Arc::clone(engine.clock()));
    let ((grpc, grpc_at), (http, http_at), (admin, admin_at)) = (bind().await?, bind().await?, bind().await?);
    let (redis, redis_at) = bind().await?;
    say(&[grpc_at, http_at, redis_at, admin_at]);
    let tls = ServerTls::new(TlsFiles::read(&config.tls).map_err(|faults| faults.to_string())?);
    let serving = ServerOptions { engine, limits, auth, recorder, identity: None, listen, tls };
    let listeners = Listeners { grpc, http, redis, admin };
    let ended = sequent_server::run(listeners, serving, std::future::pending()).await;
    ended.map(drop).map_err(|error| error.to_string())
}

/// The same service, which gives back the name that it is given and nothing else.
struct Echo;

#[tonic::async_trait]
impl Sequences for Echo {
    async fn next(&self, request: Request<NextRequest>) -> Result<Response<NextResponse>, Status> {
        let sequence = request.into_inner().sequence;
        Ok(Response::new(NextResponse { sequence, ..NextResponse::default() }))
    }

    async fn lease(&self, _: Request<LeaseRequest>) -> Result<Response<LeaseResponse>, Status> {
        Err(Status::unimplemented("an echo"))
    }
}

async fn tonic() -> Result<(), String> {
    let (listener, address) = bind().await?;
    say(&[address]);
    let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
    let server = tonic::transport::Server::builder().add_service(SequencesServer::new(Echo));
    server.serve_with_incoming(incoming).await.map_err(|error| error.to_string())
}

async fn axum() -> Result<(), String> {
    let (listener, address) = bind().await?;
    say(&[address]);
    let routes = Router::new().route("/v1/sequences/{name}/next", post(async || {}));
    axum::serve(listener, routes).await.map_err(|error| error.to_string())
}
