//! Start, drain and shutdown of a server.

use std::{future::Future, io, sync::Arc};

use hyper::service::service_fn;
use hyper_util::service::TowerToHyperService;
use sequent_engine::{
    Engine,
    config::{LimitsSection, ListenSection},
};
use tokio::{
    task::JoinError,
    time::{sleep, timeout},
};
use tonic_health::{ServingStatus, server::HealthReporter};

use crate::{
    admin::{self, Admin},
    auth::{Auth, ConnectionAuth},
    connection::{
        ConnectionContext, Protocol,
        accept::{ADMIN_GRACE, ListenerOptions, Listeners, accept},
        serve,
    },
    grpc::{GrpcServer, SEQUENCES},
    http::{HttpServer, own_site::OwnSite},
    limits::{
        ADMIN_HEAD_TIMEOUT, HEAD_TIMEOUT,
        pending_quota::{ConnectionShare, PendingQuota},
        runtime_limits::RuntimeLimits,
    },
    redis::RedisServer,
    service::NumberService,
    shutdown::{
        drain::{DrainState, wait_until_reserve_used},
        phase::{Phase, PhaseWatch},
    },
    telemetry::{
        recorder::{Recorder, sample_runtime},
        request_metrics,
    },
    tls::{ServerTls, acceptor::Acceptor, files::Alpn, peer::PeerCertificate},
};

/// Parts of a server. Cheap to clone; all clones share them.
#[derive(Clone)]
pub struct ServerOptions {
    /// Source of all numbers. The server shuts it down.
    pub engine: Engine,
    /// Limits that may change while the server runs.
    pub limits: RuntimeLimits,
    /// Principals that may change while the server runs.
    pub auth: Auth,
    /// Recorder behind `/metrics`.
    pub recorder: Recorder,
    /// Identity of the cluster. A health check of `sequent.v1.Sequences/IDENTITY` succeeds only on a server of this
    /// cluster. A client that was given an identity uses no other server.
    pub identity: Option<String>,
    /// Names by which the server may be called, and pages that may call it.
    pub listen: ListenSection,
    /// TLS of all listeners.
    pub tls: ServerTls,
}

/// How a server ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drained {
    /// Connections whose requests took longer than `limits.drain_timeout_s`. They were dropped.
    pub dropped: usize,
}

/// Serves until `shutdown` ends, then drains:
///
/// 1. The server is not ready, but serves for `limits.drain_delay_s`, so that load balancers notice.
/// 2. It serves for up to half of `limits.drain_timeout_s` more, while callers use up the prefetched numbers.
/// 3. It accepts no connection, and requests in flight have the rest of that time.
/// 4. The engine is shut down.
///
/// The admin listener answers until the end, so that a shutdown that hangs can be seen. The caller supplies the
/// sockets and `shutdown`, so tests need no special mode.
pub async fn run(
    listeners: Listeners,
    serving: ServerOptions,
    shutdown: impl Future<Output = ()>,
) -> io::Result<Drained> {
    let ServerOptions { engine, limits, auth, recorder, identity, listen, tls } = serving;
    let site = OwnSite::new(&listen);
    let identified = identity.map(|identity| format!("{SEQUENCES}/{identity}"));
    let services: Vec<&str> = ["", SEQUENCES].into_iter().chain(identified.as_deref()).collect();
    let service = NumberService::new(engine.clone(), limits.clone());
    let health = HealthReporter::new();
    for service in &services {
        health.set_service_status(*service, ServingStatus::Serving).await;
    }
    let (phase, phases) = PhaseWatch::new();
    let grpc = GrpcServer::new(service.clone(), &health, phases.clone()).map_err(io::Error::other)?;
    let http = HttpServer::new(service.clone(), site.clone(), phases.clone());
    let drain = DrainState::new(limits.clone());
    let redis = RedisServer::new(service.clone(), phases.clone());
    let state = (phases.clone(), drain.clone());
    let admin = Admin::new(service, recorder, state, (auth.clone(), tls.clone()));
    let admin = TowerToHyperService::new(admin::router(admin, site));
    let ends = |name, alpn| {
        let (limits, phases) = (limits.clone(), phases.clone());
        ListenerOptions {
            name,
            acceptor: Acceptor::new(name, tls.clone(), alpn),
            closes_at: Phase::Closing,
            drops_at: Phase::Ending,
            limits,
            connections_max: RuntimeLimits::connections_max,
            phases,
        }
    };
    let shares = Shares { pending: PendingQuota::default(), auth: auth.clone() };
    let of_grpc = shares.clone();
    let grpc = move |stream, peer, context: ConnectionContext| {
        let (share, auth) = of_grpc.of("grpc", &context, peer);
        serve(Protocol::Http2, stream, grpc.connection_service(share, auth), context)
    };
    let grpc = tokio::spawn(accept(listeners.grpc, grpc, ends("grpc", Alpn::H2)));
    let of_http = shares.clone();
    let http = move |stream, peer, context: ConnectionContext| {
        let (share, auth) = of_http.of("http", &context, peer);
        serve(Protocol::Http1(HEAD_TIMEOUT), stream, http.connection_service(share, auth), context)
    };
    let http = tokio::spawn(accept(listeners.http, http, ends("http", Alpn::Http1)));
    let of_redis = shares.clone();
    let redis = move |stream, peer, context: ConnectionContext| {
        redis.clone().serve(stream, of_redis.of("redis", &context, peer), context)
    };
    let redis = tokio::spawn(accept(listeners.redis, redis, ends("redis", Alpn::Redis)));
    let last = ListenerOptions {
        // The admin listener stays until the engine is shut down, since that may take long.
        closes_at: Phase::Ended,
        drops_at: Phase::Ended,
        connections_max: RuntimeLimits::admin_connections_max,
        ..ends("admin", Alpn::Http1)
    };
    let admin = move |stream, peer, context: ConnectionContext| {
        let (routes, connection) = (admin.clone(), shares.of("admin", &context, peer));
        let service = service_fn(move |request| admin::route(&routes, &connection, request));
        serve(Protocol::Http1(ADMIN_HEAD_TIMEOUT), stream, service, context)
    };
    let admin = tokio::spawn(accept(listeners.admin, admin, last));
    request_metrics::begin(&engine).await;
    let sampler = tokio::spawn(sample_runtime());
    let expiry = tokio::spawn(auth.clone().watch_expiry());

    shutdown.await;
    tracing::info!("draining: no longer ready");
    drain.begin(engine.clock().now());
    phase.send_replace(Phase::Draining);
    for service in services {
        health.set_service_status(service, ServingStatus::NotServing).await;
    }
    engine.enter_drain_mode();
    let held = engine.ready();
    let LimitsSection { drain_delay: delay, drain_timeout: limit, .. } = **limits.current();
    sleep(delay).await;
    // A drain without delay is meant to end at once.
    let limit =
        if delay.is_zero() { limit } else { wait_until_reserve_used(|| engine.ready(), held, limit).await };
    phase.send_replace(Phase::Closing);
    let mut listeners_done = Box::pin(async { [grpc.await, http.await, redis.await] });
    let waited = timeout(limit, listeners_done.as_mut()).await;
    phase.send_replace(Phase::Ending);
    let left = match waited {
        Ok(left) => left,
        Err(_) => listeners_done.await,
    };
    engine.shutdown().await;
    phase.send_replace(Phase::Ended);
    let _late = timeout(ADMIN_GRACE, admin).await.is_err();
    sampler.abort();
    expiry.abort();
    auth.audit().finish().await;
    dropped(left)
}

/// What each connection gets.
#[derive(Clone)]
struct Shares {
    pending: PendingQuota,
    auth: Auth,
}

impl Shares {
    /// Its part of the quota of pending requests, and its callers.
    fn of(
        &self,
        listener: &'static str,
        context: &ConnectionContext,
        peer: Option<Arc<PeerCertificate>>,
    ) -> (Arc<ConnectionShare>, Arc<ConnectionAuth>) {
        let auth = self.auth.connection((listener, context.peer), peer);
        (self.pending.connection_share(context.address), auth)
    }
}

/// The connections that the listeners have dropped.
fn dropped(left: [Result<usize, JoinError>; 3]) -> io::Result<Drained> {
    let mut dropped = 0;
    for left in left {
        dropped += left.map_err(io::Error::other)?;
    }
    if dropped > 0 {
        tracing::warn!(
            dropped,
            "connections were dropped: their requests took longer than the drain timeout"
        );
    }
    Ok(Drained { dropped })
}
