//! Tests of a connection's end.

use std::{net::Ipv4Addr, time::Duration};

use sequent_engine::{
    Engine, Options,
    config::{Config, Sources},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    sync::watch,
    time::{advance, pause},
};

use super::*;
use crate::{
    auth::Auth,
    connection::idle_timeout_io::IdleTimeoutIo,
    limits::{
        CONNECTION_AGE, pending_quota::PendingQuota, response_budget::ResponseBudget,
        runtime_limits::RuntimeLimits,
    },
    service::NumberService,
    shutdown::phase::{Phase, PhaseWatch},
    tls::peer::PeerCertificate,
};

const NAME: &str = "spiffe://prod/ns/shop/sa/web";

const CONFIG: &str = "cluster = \"shop\"\n[ring]\nshard_bits = 0\nallow_volatile = true\n\
    [ledger]\nstore = \"memory\"\n[[shard]]\nslot = 0\nstore = \"memory\"\n";

/// What a connection is served with, by a server that does not close while this lives.
struct Served {
    auth: Arc<ConnectionAuth>,
    share: Arc<ConnectionShare>,
    context: ConnectionContext,
    phases: PhaseWatch,
    _phase: watch::Sender<Phase>,
}

impl Served {
    fn new(auth: &Auth, is_certified: bool) -> Self {
        let here = Ipv4Addr::LOCALHOST.into();
        let certificate = PeerCertificate { names: vec![NAME.to_owned()], spki_sha256: [0; 32] };
        let auth = auth.connection(("redis", here), is_certified.then(|| Arc::new(certificate)));
        let (phase, phases) = PhaseWatch::new();
        let context = ConnectionContext {
            peer: here,
            phases: phases.clone(),
            closes_at: Phase::Closing,
            unread: ResponseBudget::default().connection(),
            address: here,
            activity: Arc::default(),
            is_crowded: false,
        };
        let share = PendingQuota::default().connection_share(here);
        Self { auth, share, context, phases, _phase: phase }
    }
}

/// For how many minutes a connection answers a command a minute, at most `most`.
async fn minutes(service: &NumberService, auth: &Auth, is_certified: bool, most: u32) -> u32 {
    let Served { auth, share, context, phases, _phase } = Served::new(auth, is_certified);
    let (mut peer, io) = tokio::io::duplex(1024);
    let shared = Arc::new(Context::new(service.clone(), phases));
    tokio::spawn(serve(shared, io, (share, auth), context));
    let mut answer = [0; 7];
    for minute in 0..most {
        let asked = peer.write_all(b"PING\r\n").await;
        if asked.is_err() || peer.read_exact(&mut answer).await.is_err() {
            return minute;
        }
        assert_eq!(&answer, b"+PONG\r\n");
        advance(Duration::from_secs(60)).await;
    }
    most
}

/// A server over a store in memory.
async fn service(folder: &std::path::Path) -> (NumberService, Auth) {
    let file = folder.join("sequent.toml");
    std::fs::write(&file, CONFIG).unwrap();
    let config = Config::load(&Sources::embedded(folder).file(file)).unwrap();
    let limits = RuntimeLimits::new(&config.limits);
    let auth = Auth::new(&config, Arc::new(sequent_core::SystemClock));
    (NumberService::new(Engine::open(config, Options::default()).await.unwrap(), limits), auth)
}

#[tokio::test]
async fn a_peer_that_takes_no_reply_is_ended_for_that() {
    let folder = tempfile::tempdir().unwrap();
    let (service, auth) = service(folder.path()).await;
    let Served { auth, share, context, phases, _phase } = Served::new(&auth, false);
    let (mut peer, io) = tokio::io::duplex(1024);
    let shared = Arc::new(Context::new(service.clone(), phases));
    pause();
    let io = IdleTimeoutIo::new(io, None);
    let ended = tokio::spawn(serve(shared, io, (share, auth), context));
    peer.write_all(&b"PING\r\n".repeat(1000)).await.unwrap();
    assert_eq!(ended.await.unwrap(), Some(EndReason::Unread));
    service.engine().shutdown().await;
}

/// Lists of revoked certificates are not read: that they end is what a short life of certificates rests on.
#[tokio::test]
async fn a_connection_with_a_certificate_ends_at_its_age_though_it_is_used() {
    let folder = tempfile::tempdir().unwrap();
    let (service, auth) = service(folder.path()).await;
    pause();
    let age = u32::try_from(CONNECTION_AGE.as_secs() / 60).unwrap();
    let ended = minutes(&service, &auth, true, 2 * age).await;
    assert!((age..=age + 4).contains(&ended), "after {ended} minutes");
    assert_eq!(minutes(&service, &auth, false, 2 * age).await, 2 * age, "a token is looked at each time");
    service.engine().shutdown().await;
}
