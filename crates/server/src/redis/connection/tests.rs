//! Tests of a connection's end.

use std::{
    net::Ipv4Addr,
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use sequent_engine::{
    Engine, Options,
    config::{Config, Sources},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    sync::watch,
    task::yield_now,
    time::{advance, pause},
};

use super::*;
use crate::{
    auth::Auth,
    connection::idle_timeout_io::IdleTimeoutIo,
    limits::{
        BODIES_OF_ADDRESS_MAX, CONNECTION_AGE, REDIS_LINGER, REDIS_TURN_MAX, pending_quota::PendingQuota,
        response_budget::ResponseBudget, runtime_limits::RuntimeLimits,
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
    phase: watch::Sender<Phase>,
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
        Self { auth, share, context, phases, phase }
    }
}

/// For how many minutes a connection answers a command a minute, at most `most`.
async fn minutes(service: &NumberService, auth: &Auth, is_certified: bool, most: u32) -> u32 {
    let Served { auth, share, context, phases, phase: _phase } = Served::new(auth, is_certified);
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
    let Served { auth, share, context, phases, phase: _phase } = Served::new(&auth, false);
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

/// How many turns another task has while a pipeline is answered, and the length of the replies.
async fn turns_beside(service: &NumberService, auth: &Auth, pipeline: &[u8]) -> (usize, usize) {
    let Served { auth, share, context, phases, phase: _phase } = Served::new(auth, false);
    let (mut peer, io) = tokio::io::duplex(1 << 20);
    let shared = Arc::new(Context::new(service.clone(), phases));
    peer.write_all(&[pipeline, b"PING\r\n"].concat()).await.unwrap();
    tokio::spawn(serve(shared, io, (share, auth), context));
    let turns = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&turns);
    let counting = tokio::spawn(async move {
        loop {
            counter.fetch_add(1, Ordering::Relaxed);
            yield_now().await;
        }
    });
    let mut said = Vec::new();
    while !said.ends_with(b"+PONG\r\n") {
        assert_ne!(peer.read_buf(&mut said).await.unwrap(), 0, "the end");
    }
    counting.abort();
    (turns.load(Ordering::Relaxed), said.len())
}

#[tokio::test]
async fn long_replies_and_commands_give_way_to_others() {
    let folder = tempfile::tempdir().unwrap();
    let (service, auth) = service(folder.path()).await;
    let docs = b"COMMAND DOCS\r\n".repeat(100);
    let queued = [b"MULTI\r\n", docs.as_slice(), b"EXEC\r\n"].concat();
    for pipeline in [docs, queued] {
        let (turns, length) = turns_beside(&service, &auth, &pipeline).await;
        assert!(turns * 2 * REDIS_TURN_MAX >= length, "{turns} turns beside {length} bytes");
    }
    let many = [b"EXISTS", b" a".repeat(1000).as_slice(), b"\r\n"].concat().repeat(100);
    let (turns, _) = turns_beside(&service, &auth, &many).await;
    assert!(turns * 2 * REDIS_TURN_MAX >= many.len(), "{turns} turns beside {} bytes", many.len());
    let (turns, _) = turns_beside(&service, &auth, &b"INFO\r\n".repeat(100)).await;
    assert!(turns >= 100, "{turns} turns beside 100 looks at every key");
    service.engine().shutdown().await;
}

/// A close over what the peer has sent is a reset, which takes from it what its socket has not read.
#[tokio::test]
#[allow(clippy::disallowed_methods, reason = "paused time, in a test")]
async fn a_peer_that_goes_on_sending_has_time_for_its_replies() {
    let folder = tempfile::tempdir().unwrap();
    let (service, auth) = service(folder.path()).await;
    pause();
    for is_sending in [true, false] {
        let Served { auth, share, context, phases, phase } = Served::new(&auth, false);
        let (mut peer, io) = tokio::io::duplex(1024);
        let shared = Arc::new(Context::new(service.clone(), phases));
        let ended = tokio::spawn(serve(shared, io, (share, auth), context));
        phase.send_replace(Phase::Closing);
        assert_eq!(peer.read(&mut [0]).await.unwrap(), 0, "nothing more is answered");
        let step = REDIS_LINGER / 2;
        let mut heard = step;
        while is_sending && peer.write_all(b"PING\r\n").await.is_ok() {
            heard += step;
            sleep(step).await;
        }
        let expected = if is_sending { WRITE_STALL } else { step };
        assert!((expected..=expected + 3 * step).contains(&heard), "{heard:?} and not {expected:?}");
        assert_eq!(timeout(2 * REDIS_LINGER, ended).await.expect("an end").unwrap(), None);
    }
    service.engine().shutdown().await;
}

#[tokio::test]
async fn a_connection_that_is_refused_the_rest_of_a_command_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let (service, auth) = service(folder.path()).await;
    let Served { auth, context, phases, phase: _phase, .. } = Served::new(&auth, false);
    let quota = PendingQuota::default();
    let mut other = quota.connection_share(context.address).acquire().unwrap();
    other.reserve(BODY_FREE + BODIES_OF_ADDRESS_MAX).unwrap();
    let share = quota.connection_share(context.address);
    let (mut peer, io) = tokio::io::duplex(8 * BODY_FREE);
    let shared = Arc::new(Context::new(service.clone(), phases));
    let ended = tokio::spawn(serve(shared, io, (share, auth), context));
    peer.write_all(&vec![b'x'; 2 * BODY_FREE]).await.unwrap();
    let mut said = String::new();
    peer.read_to_string(&mut said).await.unwrap();
    assert!(said.starts_with("-QUOTA QUOTA_EXCEEDED: unfinished requests of this address fill"), "{said}");
    drop(peer);
    assert_eq!(ended.await.unwrap(), Some(EndReason::Flood));
    service.engine().shutdown().await;
}
