//! `sequent serve`: the APIs of a cluster, until a signal drains them.

mod fd_limit;
mod reload;

use std::{io, net::SocketAddr, sync::Arc};

use clap::Args;
use sequent_core::{Clock, SystemClock};
use sequent_engine::{
    Pace,
    config::{AuthMode, Caution, CautionKind, Config, Place, Plaintext, TlsMode},
    data::exposed_settings,
};
use sequent_server::{Audit, Auth, FdBudget, Listeners, Recorder, ServerOptions, ServerTls, TlsFiles, run};
use tokio::{
    net::TcpListener,
    signal::unix::{Signal, SignalKind, signal},
};

use crate::{
    failure::Failure,
    open_cluster::{self, Cluster},
    output,
    run_files::{Addresses, Of, RunFile},
    sockets::listen,
};
use fd_limit::runtime_limits;
use reload::reload;

const EXAMPLES: &str = "\
Examples:
  sequent serve                                    the embedded cluster in ./sequent-data, on loopback
  sequent serve --config /etc/sequent.toml         as configured there
  sequent serve --set listen.http=127.0.0.1:8080   one key over the file
  curl -X POST localhost:7421/v1/sequences/order/next

Prints its addresses once it serves. SIGTERM and SIGINT drain: unready at once, still serving for \
limits.drain_delay_s (and up to half of limits.drain_timeout_s more while callers use up what is ready), then requests in \
work have the rest of limits.drain_timeout_s; exit code 0, or 1 where a file could not be \
left cleanly because its disk does not answer. SIGHUP, or a changed configuration file, puts in force what can change \
(limits, sequences, auto_create, tls, principals) after checking the whole file, and says what needs a restart. SIGHUP opens \
the audit log anew, too.";

/// Serve gRPC, HTTP/JSON and the protocol of Redis, with health and metrics on a listener of their own
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Serve {}

impl Serve {
    pub(crate) async fn run(self, cluster: &Cluster) -> Result<(), Failure> {
        let config = cluster.config()?;
        warn(&config).await;
        serve(cluster, config, true).await
    }
}

/// Logs what the configuration and the modes of its files allow. That places share a host is often meant so, and a definition is
/// judged by the ledger: only `config check` and `doctor` say both.
async fn warn(config: &Config) {
    let exposed = exposed_settings(config).await;
    let cautions = config
        .cautions(SystemClock.wall_ms())
        .into_iter()
        .filter(|caution| !matches!(caution.kind, CautionKind::OneHost | CautionKind::NotDefinable));
    for Caution { kind, place, found } in cautions.chain(exposed) {
        tracing::warn!(kind = kind.as_str(), %place, found, "allowed, and seldom wanted: `sequent doctor` says what to do");
    }
}

/// Opens the cluster, then its APIs, and serves until a signal.
pub(crate) async fn serve(cluster: &Cluster, config: Config, reloads: bool) -> Result<(), Failure> {
    let (ends, hangups) = signals().map_err(|error| Failure::failed(format!("no signals: {error}")))?;
    let (recorder, descriptors) = (Recorder::install(), FdBudget::raised());
    let tls = ServerTls::new(TlsFiles::read(&config.tls)?);
    say_plaintext(&config);
    // The cluster is opened first, so that a refusal comes before a port opens.
    let engine = cluster.engine(config.clone(), Pace::Standing).await?;
    let audit = Audit::start(&config.audit, engine.clock());
    let auth = Auth::audited(&config, Arc::clone(engine.clock()), audit.clone());
    let limits = runtime_limits(&engine, descriptors, &config.limits);
    let opened = bind(&config).and_then(|listeners| Ok((announce(cluster, &config, &listeners)?, listeners)));
    let (mut presence, listeners) = match opened {
        Ok(opened) => opened,
        Err(failure) => {
            engine.shutdown().await;
            return Err(failure);
        }
    };
    let identity = presence.as_ref().map(|presence| presence.identity().to_owned());
    let serving =
        ServerOptions { engine, limits, auth, recorder, identity, tls, listen: config.listen.clone() };
    let reloading = async {
        if reloads {
            reload(cluster, config, (&serving, &audit, presence.as_mut()), hangups).await;
        }
        std::future::pending::<()>().await;
    };
    let ended = tokio::select! {
        ended = run(listeners, serving.clone(), ends) => ended,
        () = reloading => return Ok(()),
    };
    ended.map_err(|error| Failure::failed(format!("the server ended: {error}")))?;
    open_cluster::left(&serving.engine.unleft())
}

/// Warns of each listener that other machines can reach without TLS, and if they need no token there.
fn say_plaintext(config: &Config) {
    if config.auth.mode == AuthMode::Off && !config.listen.beyond_loopback().is_empty() {
        tracing::warn!("auth.mode is \"off\": everybody who can connect may do everything, beyond loopback");
    }
    for (key, address) in config.listen.beyond_loopback() {
        if config.tls.mode == TlsMode::Allow {
            tracing::warn!(listen.key = key, %address, "tls.mode is \"allow\": plaintext is served beside TLS");
        } else if config.tls.mode == TlsMode::Off && config.listen.plaintext == Plaintext::Trusted {
            tracing::warn!(listen.key = key, %address, "listen.plaintext is \"trusted\": no TLS, beyond loopback");
        }
    }
}

fn bind(config: &Config) -> Result<Listeners, Failure> {
    let listen = &config.listen;
    Ok(Listeners {
        grpc: open("listen.grpc", listen.grpc)?,
        http: open("listen.http", listen.http)?,
        redis: open("listen.redis", listen.redis)?,
        admin: open("listen.admin", listen.admin)?,
    })
}

fn open(key: &str, address: SocketAddr) -> Result<TcpListener, Failure> {
    let bound = listen(address);
    bound.map_err(|error| Failure::failed(format!("{key} is {address}: can't listen there: {error}")))
}

/// Announces the addresses of this process: to the process that started it, and in the data directory for
/// other commands.
fn announce(cluster: &Cluster, config: &Config, listeners: &Listeners) -> Result<Option<RunFile>, Failure> {
    let of = |listener: &TcpListener| {
        listener.local_addr().map_err(|error| Failure::failed(format!("a listener has no address: {error}")))
    };
    let (grpc, http) = (of(&listeners.grpc)?, of(&listeners.http)?);
    let (redis, admin) = (of(&listeners.redis)?, of(&listeners.admin)?);
    let tls = config.tls.mode == TlsMode::Require;
    let addresses = Addresses { grpc, http, redis: Some(redis), admin, tls };
    // The file is written before the addresses are printed, so that a reader can rely on it. A cluster in
    // memory has no file: no other process can use it.
    let is_shared = config.ledger.place != Place::Memory;
    let announce = || RunFile::announce(&config.data, &Of::config(config), &addresses);
    let presence = is_shared.then(announce).transpose();
    let presence = presence.unwrap_or_else(|error| {
        let data = config.data.display();
        tracing::warn!(%data, %error, "other commands won't find this server: they look at stores and ledger themselves");
        None
    });
    if cluster.json() {
        output::json(&addresses)?;
        return Ok(presence);
    }
    let scheme = addresses.scheme();
    let redis_scheme = if addresses.tls { "rediss" } else { "redis" };
    output::lines([
        format!("grpc   {scheme}://{grpc}"),
        format!("http   {scheme}://{http}"),
        format!("redis  {redis_scheme}://{redis}"),
        format!("admin  {scheme}://{admin}"),
    ])?;
    Ok(presence)
}

/// The end of a server, by SIGTERM or SIGINT; and SIGHUP, which is received from here on.
fn signals() -> io::Result<(impl Future<Output = ()>, Signal)> {
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let ends = async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    };
    Ok((ends, signal(SignalKind::hangup())?))
}
