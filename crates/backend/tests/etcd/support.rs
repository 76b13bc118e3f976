//! Members of etcd, and what tests ask of a ledger on them.

use std::{sync::Arc, time::Duration};

use sequent_backend::{etcd::EtcdLedger, net::ServerOptions};
use sequent_core::{
    Epoch, ErrorKind, InstanceId, Key, Layout, SourceError,
    ledger::{
        Answer, Counter, Identity, LayoutBook, LayoutRecord, Ledger, Opened, Opening, Over, Pass, Raise,
        Raised, Rows, ServerId,
    },
};
use sequent_testkit::servers::{Etcd, Port};

/// How often something is looked at that is about to happen: half a minute at least.
const LOOKS_MAX: usize = 600;

pub(crate) fn options(url: &str) -> ServerOptions {
    // A test's machine may be busy: what is tested is not how fast it connects.
    ServerOptions {
        create: true,
        connect_timeout: Duration::from_secs(20),
        ..ServerOptions::from_url(url).unwrap()
    }
}

pub(crate) fn ledger(server: &Etcd) -> EtcdLedger {
    EtcdLedger::new(options(&server.url()))
}

/// Three members of one cluster, with the ports by which they reach each other.
pub(crate) struct Three {
    pub(crate) members: Vec<Etcd>,
    _peers: Vec<Port>,
}

impl Three {
    pub(crate) async fn start() -> Self {
        let peers: Vec<Port> = (0..3).map(|_| Port::reserve()).collect();
        let url = |peer: &Port| format!("http://{}", peer.address());
        let named: Vec<String> =
            peers.iter().enumerate().map(|(at, peer)| format!("m{at}={}", url(peer))).collect();
        let all = named.join(",");
        let member = async |at: usize| {
            let (name, peer) = (format!("m{at}"), url(&peers[at]));
            Etcd::start_with(&[
                ("name", &name),
                ("listen-peer-urls", &peer),
                ("initial-advertise-peer-urls", &peer),
                ("initial-cluster", &all),
                ("heartbeat-interval", "100"),
                ("election-timeout", "1000"),
            ])
            .await
        };
        let (a, b, c) = tokio::join!(member(0), member(1), member(2));
        Self { members: vec![a, b, c], _peers: peers }
    }

    pub(crate) fn url(&self) -> String {
        self.members.iter().map(Etcd::url).collect::<Vec<_>>().join(",")
    }

    /// A member that leads nobody, and a URL that names it first.
    pub(crate) async fn a_follower_first(&self) -> (usize, String) {
        let first = (self.leader().await + 1) % 3;
        let url = [0, 1, 2].map(|step| self.members[(first + step) % 3].url()).join(",");
        (first, url)
    }

    /// Which of those that run leads.
    pub(crate) async fn leader(&self) -> usize {
        for _ in 0..LOOKS_MAX {
            for (at, member) in self.members.iter().enumerate() {
                if !member.runs().await {
                    continue;
                }
                let status = member.ask("/v3/maintenance/status", "{}").await;
                let status: serde_json::Value = serde_json::from_str(&status).unwrap();
                if status["leader"].is_string() && status["leader"] == status["header"]["member_id"] {
                    return at;
                }
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("no leader after {LOOKS_MAX} looks");
    }
}

/// A server that calls a ledger, and has one counter there.
pub(crate) struct Caller {
    pub(crate) ledger: Arc<EtcdLedger>,
    pub(crate) under: InstanceId,
    nonces: Vec<u64>,
    drawn: u64,
}

impl Caller {
    /// Enlisted, with a layout.
    pub(crate) async fn of(ledger: EtcdLedger) -> Self {
        let under = ledger.inspect().await.unwrap().instance;
        let layout = Layout::new(2, 0).unwrap();
        ledger
            .found(&LayoutRecord { cluster: "shop".parse().unwrap(), layout, generation: 1 })
            .await
            .unwrap();
        let mut caller = Self { ledger: Arc::new(ledger), under, nonces: Vec::new(), drawn: 0 };
        caller.enlist().await;
        caller
    }

    /// Its nonces count from now on.
    pub(crate) async fn enlist(&mut self) {
        let nonce = self.next();
        self.ledger.enlist(&self.under, ServerId(7), nonce).await.unwrap();
        self.nonces = vec![nonce];
    }

    fn next(&mut self) -> u64 {
        self.drawn += 1;
        self.nonces.push(self.drawn);
        self.drawn
    }

    fn pass<'a>(&'a self, nonces: &'a [u64], next: u64) -> Pass<'a> {
        Pass { under: &self.under, record: None, server: ServerId(7), nonces, next, generation: 1 }
    }

    pub(crate) async fn open(&mut self, bits: i64) -> Result<u64, SourceError> {
        let (nonces, next) = (self.nonces.clone(), self.next());
        let opening = Opening {
            counter: counter(),
            epoch: Epoch::from_stored(bits),
            over: Over::Any,
            store: InstanceId::new("store"),
            value: 0,
            beside: 0,
            ahead: 100,
            jump_max: 1 << 40,
        };
        let answer = self.ledger.open(self.pass(&nonces, next), &[opening]).await?;
        self.nonces = vec![next];
        match &answer.value[..] {
            [Opened::Row(row)] => Ok(row.base),
            found => panic!("found {found:?}"),
        }
    }

    pub(crate) async fn raise(&mut self, bits: i64, ceiling: u64) -> Result<u64, SourceError> {
        let (nonces, next) = (self.nonces.clone(), self.next());
        let epoch = Epoch::from_stored(bits);
        let raise = Raise { counter: counter(), epoch, ceiling, seen: 0, jump_max: 1 << 40 };
        let Answer { value, .. } = self.ledger.raise(self.pass(&nonces, next), &[raise]).await?;
        self.nonces = vec![next];
        match value[..] {
            [Raised::Held { ceiling, .. }] => Ok(ceiling),
            ref found => panic!("found {found:?}"),
        }
    }

    /// Raises until it is done, which needs no more than a moment; a refusal of another kind fails.
    pub(crate) async fn raise_when_back(&mut self, bits: i64, ceiling: u64) -> u64 {
        for _ in 0..LOOKS_MAX {
            let raise = tokio::time::timeout(Duration::from_secs(2), self.raise(bits, ceiling));
            match raise.await {
                Ok(Ok(held)) => return held,
                Ok(Err(error)) => assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}"),
                Err(_) => {}
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("not done after {LOOKS_MAX} tries");
    }
}

pub(crate) fn counter() -> Counter {
    Counter { slot: 0, key: Key::from_stored("order") }
}

/// Asserts that a call failed for this reason, that its text names each of `parts`, and no secret.
#[track_caller]
pub(crate) fn failed<T: std::fmt::Debug>(answer: Result<T, SourceError>, kind: ErrorKind, parts: &[&str]) {
    let error = answer.unwrap_err();
    assert_eq!(error.kind(), kind, "{error}");
    for part in parts {
        assert!(error.to_string().contains(part), "{part:?} is not in {error}");
    }
    assert!(!error.to_string().contains(crate::access::PASSWORD), "a secret is in {error}");
}

/// What any ledger says of itself, and what it does with each call once.
pub(crate) async fn every_call(ledger: EtcdLedger) {
    let mut caller = Caller::of(ledger).await;
    caller.open(1).await.unwrap();
    caller.open(2).await.unwrap();
    caller.raise(2, 700).await.unwrap();
    let any: &dyn Ledger = &*caller.ledger;
    assert_eq!(any.history(&counter()).await.unwrap().len(), 1);
    any.record(&caller.under, Some(0), &caller.under).await.unwrap();
    any.recover(sequent_core::ledger::Loss::Bump(10), 0).await.unwrap();
    caller.ledger.disconnect().await;
}
