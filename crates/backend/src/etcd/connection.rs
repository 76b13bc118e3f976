//! One connection to a member, and what was learned when it was opened: which instance answers there.

use std::{
    sync::Arc,
    time::{Duration, UNIX_EPOCH},
};

use sequent_core::{Env, ErrorKind, InstanceId};
use serde::de::DeserializeOwned;

use super::{
    cluster::EtcdCluster,
    fault,
    gateway::{Answer, Header, Status, Ticket, Txn},
    http::{Http, HttpRequest, Reply},
    names::Names,
    reach,
    run::{MemberState, metric},
    tls,
};
use crate::net::{self, Fault, Operation};

/// An open connection, logged in.
pub(super) struct Connection {
    cluster: Arc<EtcdCluster>,
    /// Which of its members this is.
    at: usize,
    http: Http,
    token: Option<String>,
    names: Arc<Names>,
    cluster_id: u64,
    member_id: u64,
    version: String,
    instance: InstanceId,
    /// The operation under way has asked for nothing yet that writes.
    only_read: bool,
}

/// The cluster's own id, which its runs' names begin with.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClusterId(u64);

impl ClusterId {
    /// The instance that answers if the run's token is `token`.
    pub(super) fn instance(self, token: &str) -> InstanceId {
        InstanceId::new(format!("etcd {:x} {token}", self.0))
    }
}

/// What became of a transaction, and the wall clock of who carried it out.
pub(super) struct TxnReply {
    pub(super) answer: Answer,
    pub(super) clock_ms: u64,
}

impl net::Connection for Connection {
    fn instance(&self) -> &InstanceId {
        &self.instance
    }

    /// Whether a quorum answers, the first request of an operation finds out.
    async fn ping(&mut self) -> Result<(), Fault> {
        if self.http.is_open() { Ok(()) } else { Err(Fault::lost("the connection has ended")) }
    }

    async fn attempt<O: Operation<Self>>(&mut self, operation: &O) -> Result<O::Out, Fault> {
        self.only_read = true;
        operation.run(self).await
    }
}

impl Connection {
    /// Connects to the member at this place.
    pub(super) async fn open(cluster: &Arc<EtcdCluster>, at: usize) -> Result<Self, Fault> {
        let options = &cluster.options;
        let host = options.url.hosts().get(at).ok_or_else(|| Fault::refused("no member is named"))?;
        let tls = if host.scheme == "https" { Some(tls::connector(options).await?) } else { None };
        Ok(Self {
            cluster: Arc::clone(cluster),
            at,
            http: Http::connect(host, tls.as_ref()).await?,
            token: None,
            names: Arc::new(Names::under(options.url.path())),
            cluster_id: 0,
            member_id: 0,
            version: String::new(),
            instance: InstanceId::new(""),
            only_read: false,
        })
    }

    /// The run whose token this is goes on.
    pub(super) fn set_run(&mut self, token: &str) {
        self.instance = self.cluster().instance(token);
    }

    /// The place of its member.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) async fn log_in(&mut self) -> Result<(), Fault> {
        let options = &self.cluster.options;
        let (Some(user), Some(password)) = (options.url.user(), options.password().await?) else {
            return Ok(());
        };
        let path = "/v3/auth/authenticate";
        let body = serde_json::json!({"name": user, "password": password}).to_string();
        let reply = self.ask(path, body).await?;
        if !reply.status.is_success() && fault::needs_no_login(&reply.body) {
            return Ok(());
        }
        self.token = Some(answer_of::<Ticket>(path, &reply)?.token);
        Ok(())
    }

    pub(super) fn names(&self) -> Arc<Names> {
        Arc::clone(&self.names)
    }

    pub(super) fn env(&self) -> &Env {
        &self.cluster.options.env
    }

    /// The engine's name and version, for people.
    pub(super) fn engine(&self) -> String {
        format!("etcd {}", self.version)
    }

    pub(super) fn cluster(&self) -> ClusterId {
        ClusterId(self.cluster_id)
    }

    /// What the member says of its cluster and of itself.
    pub(super) async fn member_state(&mut self) -> Result<MemberState, Fault> {
        let (status, _): (Status, _) = self.post("/v3/maintenance/status", "{}".to_owned()).await?;
        let Header { cluster_id, member_id, revision } = status.header;
        self.check_member(cluster_id, member_id)?;
        self.version = status.version;
        let signed = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let page = self.metrics().await?;
        Ok(MemberState {
            term: status.term,
            lead: signed(status.index) - signed(revision),
            member: format!("{member_id:x}"),
            started: page
                .as_deref()
                .and_then(|page| metric(page, "process_start_time_seconds"))
                .map(str::to_owned),
        })
    }

    /// The member's page of metrics, where there is one.
    pub(super) async fn metrics(&mut self) -> Result<Option<String>, Fault> {
        let reply = self.http.ask(HttpRequest { path: "/metrics", token: None, body: None }).await?;
        Ok(reply.status.is_success().then(|| String::from_utf8_lossy(&reply.body).into_owned()))
    }

    /// One transaction of an operation, each of which reads first.
    ///
    /// One that only reads is given up where this member is late with it, and another one is reached. A write is waited for, since
    /// nobody knows what became of one that is given up.
    pub(super) async fn txn(&mut self, txn: &Txn) -> Result<TxnReply, Fault> {
        self.only_read &= txn.only_reads();
        let (cluster, at) = (Arc::clone(&self.cluster), self.at);
        let others = txn.only_reads() && cluster.count() > 1;
        let done = tokio::select! {
            // What has come counts, however late this is looked at.
            biased;
            done = self.carry_out(txn) => done,
            fault = reach::another(&cluster, at), if others => Err(fault),
        };
        done.map_err(|fault| match fault {
            // Nothing was done, so it can be done elsewhere.
            Fault::Broken(ErrorKind::Unavailable, cause) if self.only_read => Fault::Stale(cause),
            fault => fault,
        })
    }

    /// One transaction, of what a quorum has.
    pub(super) async fn carry_out(&mut self, txn: &Txn) -> Result<TxnReply, Fault> {
        let (answer, clock_ms): (Answer, _) = self.post("/v3/kv/txn", txn.json().to_string()).await?;
        let Header { cluster_id, member_id, .. } = answer.header;
        self.check_member(cluster_id, member_id)?;
        Ok(TxnReply { answer, clock_ms })
    }

    /// Who answers first on a connection is who answers there.
    fn check_member(&mut self, cluster: u64, member: u64) -> Result<(), Fault> {
        if (self.cluster_id, self.member_id) == (0, 0) {
            (self.cluster_id, self.member_id) = (cluster, member);
        }
        if (self.cluster_id, self.member_id) == (cluster, member) {
            return Ok(());
        }
        Err(Fault::away(format!(
            "member {:x} of cluster {:x} was here, and is now {member:x} of {cluster:x}: \
             a proxy that shares out requests can't be used",
            self.member_id, self.cluster_id
        )))
    }

    async fn post<T: DeserializeOwned>(&mut self, path: &str, body: String) -> Result<(T, u64), Fault> {
        let reply = self.ask(path, body).await?;
        Ok((answer_of(path, &reply)?, wall_ms(&reply, self.env().clock.wall_ms())))
    }

    async fn ask(&mut self, path: &str, body: String) -> Result<Reply, Fault> {
        let request = HttpRequest { path, token: self.token.as_deref(), body: Some(body.into_bytes()) };
        self.http.ask(request).await
    }
}

fn answer_of<T: DeserializeOwned>(path: &str, reply: &Reply) -> Result<T, Fault> {
    if !reply.status.is_success() {
        return Err(fault::of_reply(reply.status, &reply.body));
    }
    let unreadable = |error| Fault::refused(format!("{path}: the answer can't be read: {error}"));
    serde_json::from_slice(&reply.body).map_err(unreadable)
}

/// The clock of who answered. It tells seconds; where in that second, this machine's clock tells, as far as the two agree.
fn wall_ms(reply: &Reply, here_ms: u64) -> u64 {
    let date = reply.date.and_then(|date| date.duration_since(UNIX_EPOCH).ok());
    date.map_or(here_ms, |date: Duration| {
        let first = date.as_secs() * 1000;
        here_ms.clamp(first, first + 999)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_is_the_servers_and_its_parts_are_ours() {
        let reply = Reply {
            status: hyper::StatusCode::OK,
            date: Some(UNIX_EPOCH + Duration::from_secs(100)),
            body: hyper::body::Bytes::new(),
        };
        let dated = [99_000, 100_400, 101_700].map(|here_ms| wall_ms(&reply, here_ms));
        assert_eq!(dated, [100_000, 100_400, 100_999]);
        assert_eq!(wall_ms(&Reply { date: None, ..reply }, 7), 7);
    }
}
