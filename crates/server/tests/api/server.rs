//! Server on free ports, over an engine in memory.

use std::{net::SocketAddr, sync::Arc};

use sequent_core::{Env, Events};
use sequent_engine::{
    Engine, Options,
    config::{Config, Sources},
};
use sequent_proto::v1::sequences_client::SequencesClient;
use sequent_server::{
    Auth, Drained, Listeners, Recorder, RuntimeLimits, ServerOptions, ServerTls, TlsFiles, run,
};
use tempfile::TempDir;
use tokio::{net::TcpListener, sync::oneshot, task::JoinHandle};
use tonic::transport::{Channel, Endpoint};

use crate::raw_http;

const CONFIG: &str = r#"
cluster = "test"
ring = { shard_bits = 1, allow_volatile = true }
ledger = { store = "memory" }
shard = [{ slot = 0, store = "memory" }, { slot = 1, store = "memory" }]
sequence = [
    { name = "order", version = 1 },
    { name = "short", version = 7, end = 1000, placement = "spread" },
    { name = "dated", version = 2, template = "@{date,yyyyMMdd}@{ctx,area,len=3}\"@{seq,w=4}", zone = "Asia/Shanghai" },
]
limits = { drain_delay_s = 0, drain_timeout_s = 5 }
"#;

/// A running server.
pub(crate) struct Server {
    pub(crate) grpc: SocketAddr,
    pub(crate) http: SocketAddr,
    pub(crate) redis: SocketAddr,
    pub(crate) admin: SocketAddr,
    pub(crate) engine: Engine,
    stop: Option<oneshot::Sender<()>>,
    pub(crate) ended: JoinHandle<Drained>,
    folder: TempDir,
}

impl Server {
    pub(crate) async fn start() -> Self {
        Self::with(&[]).await
    }

    /// Starts a server with flags over its configuration.
    pub(crate) async fn with(flags: &[(&str, &str)]) -> Self {
        Self::of(CONFIG, flags, Options::default()).await
    }

    /// Starts a server whose events go to `events` as well, after they were counted.
    pub(crate) async fn telling(events: Events) -> Self {
        let env = Env { events, ..Env::default() };
        Self::of(CONFIG, &[], Options { env, ..Options::default() }).await
    }

    /// Starts a server with another configuration.
    pub(crate) async fn of(config: &str, flags: &[(&str, &str)], options: Options) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("sequent.toml");
        std::fs::write(&file, config).unwrap();
        let mut sources = Sources::embedded(folder.path().join("data")).file(file);
        for (key, value) in flags {
            sources = sources.flag(key, value);
        }
        let config = Config::load(&sources).unwrap_or_else(|faults| panic!("{faults}"));
        let (recorder, limits) = (Recorder::install(), RuntimeLimits::new(&config.limits));
        let listen = config.listen.clone();
        let tls = ServerTls::new(TlsFiles::read(&config.tls).unwrap());
        let engine = Engine::open(config.clone(), options).await.unwrap();
        let bind = || async { TcpListener::bind("127.0.0.1:0").await.unwrap() };
        let listeners =
            Listeners { grpc: bind().await, http: bind().await, redis: bind().await, admin: bind().await };
        let of = |listener: &TcpListener| listener.local_addr().unwrap();
        let (grpc, http, admin) = (of(&listeners.grpc), of(&listeners.http), of(&listeners.admin));
        let redis = of(&listeners.redis);
        let (stop, stopped) = oneshot::channel();
        let auth = Auth::new(&config, Arc::clone(engine.clock()));
        let serving = ServerOptions {
            engine: engine.clone(),
            limits,
            auth: auth.clone(),
            recorder,
            identity: None,
            listen,
            tls,
        };
        let ended = tokio::spawn(async move {
            let shutdown = async { stopped.await.unwrap() };
            run(listeners, serving, shutdown).await.unwrap()
        });
        Self { grpc, http, redis, admin, engine, stop: Some(stop), ended, folder }
    }

    /// Reloads the configuration without a part of the file, as SIGHUP does.
    #[allow(dead_code, reason = "the tests of metrics do")]
    pub(crate) async fn reload_without(&self, part: &str) {
        let file = self.folder.path().join("sequent.toml");
        assert!(CONFIG.contains(part), "{part}");
        std::fs::write(&file, CONFIG.replace(part, "")).unwrap();
        let sources = Sources::embedded(self.folder.path().join("data")).file(file);
        let config = Config::load(&sources).unwrap_or_else(|faults| panic!("{faults}"));
        self.engine.reload(&config).await.unwrap();
    }

    /// Stops the server, as SIGTERM does.
    pub(crate) fn stop(&mut self) {
        self.stop.take().unwrap().send(()).unwrap();
    }

    pub(crate) async fn channel(&self) -> Channel {
        Endpoint::from_shared(format!("http://{}", self.grpc)).unwrap().connect().await.unwrap()
    }

    pub(crate) async fn client(&self) -> SequencesClient<Channel> {
        SequencesClient::new(self.channel().await)
    }

    /// The next number, by HTTP.
    pub(crate) async fn number(&self) -> u64 {
        let said = raw_http::post(self.http, "/v1/sequences/order/next", "").await;
        assert_eq!(said.status, 200, "{said:?}");
        said.numbers()[0]
    }
}
