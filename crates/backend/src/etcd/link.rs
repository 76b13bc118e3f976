//! One connection to a member, and what was learned when it was opened: who speaks there.

use std::{
    sync::Arc,
    time::{Duration, UNIX_EPOCH},
};

use sequent_core::{Clock, Entropy, ErrorKind, Incarnation};
use serde::de::DeserializeOwned;

use super::{
    fault,
    gateway::{Answer, Header, Status, Ticket, Txn},
    http::{Ask, Http, Reply},
    names::Names,
    options::Target,
    reach::{self, Purpose},
    run::{Sight, metric},
    tls,
};
use crate::wire::{Fault, Line};

/// An open connection, logged in.
pub(super) struct Link {
    target: Arc<Target>,
    /// Which of its members this is.
    at: usize,
    http: Http,
    token: Option<String>,
    names: Arc<Names>,
    cluster: u64,
    member: u64,
    version: String,
    incarnation: Incarnation,
    /// The verb under way has asked for nothing yet that writes.
    only_read: bool,
}

/// How a cluster's runs are called.
#[derive(Debug, Clone, Copy)]
pub(super) struct Voice {
    cluster: u64,
}

impl Voice {
    /// Who speaks if the run's token is `token`.
    pub(super) fn as_token(self, token: &str) -> Incarnation {
        Incarnation::new(format!("etcd {:x} {token}", self.cluster))
    }
}

/// What became of a transaction, and the wall clock of who carried it out.
pub(super) struct Told {
    pub(super) answer: Answer,
    pub(super) clock_ms: u64,
}

impl Line for Link {
    type Target = Arc<Target>;

    async fn open(target: &Arc<Target>) -> Result<Self, Fault> {
        reach::any(target, Purpose::Use).await
    }

    async fn look(target: &Arc<Target>) -> Result<Self, Fault> {
        reach::any(target, Purpose::Look).await
    }

    fn incarnation(&self) -> &Incarnation {
        &self.incarnation
    }

    fn begin(&mut self) {
        self.only_read = true;
    }

    /// Whether a quorum answers, the first request of a verb finds out.
    async fn ping(&mut self) -> Result<(), Fault> {
        if self.http.is_open() { Ok(()) } else { Err(Fault::away("the connection has ended")) }
    }
}

impl Link {
    /// Connects to the member at this place.
    pub(super) async fn connect(target: &Arc<Target>, at: usize) -> Result<Self, Fault> {
        let options = &target.options;
        let member = options.endpoints.get(at).ok_or_else(|| Fault::refused("no member is named"))?;
        let tls = if member.is_secure { Some(tls::connector(&options.tls).await?) } else { None };
        Ok(Self {
            target: Arc::clone(target),
            at,
            http: Http::connect(member, tls.as_ref()).await?,
            token: None,
            names: Arc::new(Names::under(&options.prefix)),
            cluster: 0,
            member: 0,
            version: String::new(),
            incarnation: Incarnation::new(""),
            only_read: false,
        })
    }

    /// The run whose token this is goes on.
    pub(super) fn speaks_by(&mut self, token: &str) {
        self.incarnation = self.voice().as_token(token);
    }

    /// The place of its member.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) async fn log_in(&mut self) -> Result<(), Fault> {
        let options = &self.target.options;
        let (Some(user), Some(password)) = (&options.user, options.password.read().await?) else {
            return Ok(());
        };
        let body = serde_json::json!({"name": user, "password": password}).to_string();
        let ticket = match self.post::<Ticket>("/v3/auth/authenticate", body).await {
            Ok((ticket, _)) => ticket.token,
            // Whom etcd asks nothing, it need not be told.
            Err(Fault::Broken(_, cause)) if cause.contains("authentication is not enabled") => return Ok(()),
            Err(fault) => return Err(fault),
        };
        self.token = Some(ticket);
        Ok(())
    }

    pub(super) fn names(&self) -> Arc<Names> {
        Arc::clone(&self.names)
    }

    pub(super) fn clock(&self) -> &dyn Clock {
        &*self.target.options.clock
    }

    pub(super) fn entropy(&self) -> &dyn Entropy {
        &*self.target.options.entropy
    }

    /// The engine's name and version, for people.
    pub(super) fn engine(&self) -> String {
        format!("etcd {}", self.version)
    }

    /// How the runs of this cluster are called.
    pub(super) fn voice(&self) -> Voice {
        Voice { cluster: self.cluster }
    }

    /// What the member says of its cluster and of itself.
    pub(super) async fn sight(&mut self) -> Result<Sight, Fault> {
        let (status, _): (Status, _) = self.post("/v3/maintenance/status", "{}".to_owned()).await?;
        let Header { cluster_id, member_id, revision } = status.header;
        self.known(cluster_id, member_id)?;
        self.version = status.version;
        let signed = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let page = self.metrics().await?;
        Ok(Sight {
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
        let reply = self.http.ask(Ask { path: "/metrics", token: None, body: None }).await?;
        Ok(reply.status.is_success().then(|| String::from_utf8_lossy(&reply.body).into_owned()))
    }

    /// One transaction of a verb. One that only reads is given up where this member is late with it, and another one is reached; a
    /// write is waited for, since nobody knows what became of one that is given up. Each verb reads first.
    pub(super) async fn txn(&mut self, txn: &Txn) -> Result<Told, Fault> {
        self.only_read &= txn.only_reads();
        let (target, at) = (Arc::clone(&self.target), self.at);
        let others = txn.only_reads() && target.options.endpoints.len() > 1;
        let done = tokio::select! {
            // What has come counts, however late this is looked at.
            biased;
            done = self.carry_out(txn) => done,
            fault = reach::another(&target, at), if others => Err(fault),
        };
        done.map_err(|fault| match fault {
            // Nothing was done, so it can be done elsewhere.
            Fault::Broken(ErrorKind::Unavailable, cause) if self.only_read => Fault::Stale(cause),
            fault => fault,
        })
    }

    /// One transaction, of what a quorum has.
    pub(super) async fn carry_out(&mut self, txn: &Txn) -> Result<Told, Fault> {
        let (answer, clock_ms): (Answer, _) = self.post("/v3/kv/txn", txn.json().to_string()).await?;
        let Header { cluster_id, member_id, .. } = answer.header;
        self.known(cluster_id, member_id)?;
        Ok(Told { answer, clock_ms })
    }

    /// Who answers first on a connection is who answers there.
    fn known(&mut self, cluster: u64, member: u64) -> Result<(), Fault> {
        if (self.cluster, self.member) == (0, 0) {
            (self.cluster, self.member) = (cluster, member);
        }
        if (self.cluster, self.member) == (cluster, member) {
            return Ok(());
        }
        Err(Fault::away(format!(
            "member {:x} of cluster {:x} was here, and is now {member:x} of {cluster:x}: \
             a proxy that shares out requests can't be used",
            self.member, self.cluster
        )))
    }

    async fn post<T: DeserializeOwned>(&mut self, path: &str, body: String) -> Result<(T, u64), Fault> {
        let ask = Ask { path, token: self.token.as_deref(), body: Some(body.into_bytes()) };
        let reply = self.http.ask(ask).await?;
        if !reply.status.is_success() {
            return Err(fault::of_reply(reply.status, &reply.body));
        }
        let told = serde_json::from_slice(&reply.body);
        let told =
            told.map_err(|error| Fault::refused(format!("{path}: the answer can't be read: {error}")))?;
        Ok((told, wall_ms(&reply, self.clock().wall_ms())))
    }
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
        let told = [99_000, 100_400, 101_700].map(|here_ms| wall_ms(&reply, here_ms));
        assert_eq!(told, [100_000, 100_400, 100_999]);
        assert_eq!(wall_ms(&Reply { date: None, ..reply }, 7), 7);
    }
}
