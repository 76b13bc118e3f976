//! etcd connection to one member, with the instance read when it was opened.

use std::{
    sync::Arc,
    time::{Duration, UNIX_EPOCH},
};

use sequent_core::{Env, ErrorKind, InstanceId};
use serde::de::DeserializeOwned;

use super::{
    client::{Answer, Answers, Header, Status, Ticket, Txn},
    cluster::EtcdCluster,
    fault,
    http::{Http, HttpRequest, Reply},
    instance::{MemberState, metric},
    keys::Names,
    reach, tls,
};
use crate::net::{self, Fault, Lent, Run, TxMode};

/// An open connection, logged in.
pub(crate) struct Connection {
    cluster: Arc<EtcdCluster>,
    /// The index of its member.
    pub(super) at: usize,
    http: Http,
    token: Option<String>,
    names: Arc<Names>,
    cluster_id: u64,
    member_id: u64,
    pub(super) version: String,
    instance: InstanceId,
    /// Whether the current operation has sent no write yet.
    only_read: bool,
}

/// The cluster's id, with which its instance ids begin.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClusterId(u64);

impl ClusterId {
    /// The instance of the run with this token.
    pub(super) fn instance(self, token: &str) -> InstanceId {
        InstanceId::new(format!("etcd {:x} {token}", self.0))
    }
}

impl net::Connection for Connection {
    fn instance(&self) -> &InstanceId {
        &self.instance
    }

    /// Only the connection is checked. The first request of the operation finds out whether a quorum answers.
    async fn ping(&mut self) -> Result<(), Fault> {
        if self.http.is_open() { Ok(()) } else { Err(Fault::lost("the connection has ended")) }
    }

    async fn attempt<T: Send>(&mut self, _mode: TxMode, run: &Run<'_, Self, T>) -> Result<T, Fault> {
        self.only_read = true;
        run(Lent::new(self)).await
    }
}

impl Connection {
    /// Connects to the member with this index.
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

    /// Sets the instance to the run with this token.
    pub(super) fn set_run(&mut self, token: &str) {
        self.instance = self.cluster().instance(token);
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

    pub(super) fn cluster(&self) -> ClusterId {
        ClusterId(self.cluster_id)
    }

    /// Reads the state of the member and its cluster.
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

    /// Reads the member's metrics; `None` if it has no such page.
    pub(super) async fn metrics(&mut self) -> Result<Option<String>, Fault> {
        let reply = self.http.ask(HttpRequest { path: "/metrics", token: None, body: None }).await?;
        Ok(reply.status.is_success().then(|| String::from_utf8_lossy(&reply.body).into_owned()))
    }

    /// Runs one transaction of an operation, which begins with a read.
    ///
    /// A read is abandoned if this member is late and another one is reachable. A write is awaited, since the outcome
    /// of an abandoned write is unknown.
    pub(super) async fn txn(&mut self, txn: &Txn) -> Result<Answers, Fault> {
        self.only_read &= txn.only_reads();
        let (cluster, at) = (Arc::clone(&self.cluster), self.at);
        let others = txn.only_reads() && cluster.count() > 1;
        let done = tokio::select! {
            // An answer that has arrived counts, even if the time limit has passed too.
            biased;
            done = self.carry_out(txn) => done,
            fault = reach::another(&cluster, at), if others => Err(fault),
        };
        done.map_err(|fault| match fault {
            // Nothing was written, so another connection can repeat it.
            Fault::Broken(ErrorKind::Unavailable, cause) if self.only_read => Fault::Stale(cause),
            fault => fault,
        })
    }

    /// Runs one transaction, confirmed by a quorum.
    pub(super) async fn carry_out(&mut self, txn: &Txn) -> Result<Answers, Fault> {
        let (answer, clock_ms): (Answer, _) = self.post("/v3/kv/txn", txn.json().to_string()).await?;
        let Header { cluster_id, member_id, .. } = answer.header;
        self.check_member(cluster_id, member_id)?;
        Ok(Answers::of(answer, clock_ms))
    }

    /// Fails if the answering member is not the one that answered first on this connection.
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

/// The wall clock of the member. Its `Date` header has whole seconds. This machine's clock supplies the milliseconds,
/// clamped to that second.
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
