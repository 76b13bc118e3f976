//! Whom to look at, and what a look finds: one object, whether a server tells it or the stores.

use sequent_core::{Clock, SystemClock};
use sequent_engine::Desk;
use serde_json::{Value, json};

use crate::{admin::Admin, cluster::Cluster, commands::shards::obey, failure::Failure, peers::Peers};

/// Whom to look at.
pub(super) enum Watched {
    /// A server: it knows states, evictions and rates.
    Server(Admin),
    /// Each slot's store, looked at from here.
    Stores(Desk),
}

impl Watched {
    /// The server that is named; else the first that answers of those that run on the data directory; else the stores.
    pub(super) async fn pick(cluster: &Cluster, peers: &Peers) -> Result<Self, Failure> {
        let [first, others @ ..] = peers.admins() else { return Ok(Self::Stores(cluster.desk().await?)) };
        if !others.is_empty() {
            let said = peers.ask().await;
            let answers = said.iter().zip(peers.admins()).find(|(said, _)| said.status().is_some());
            return Ok(Self::Server(answers.map_or(first, |(_, admin)| admin).clone()));
        }
        Ok(Self::Server(first.clone()))
    }

    pub(super) async fn look(&self) -> Value {
        let mut look = match self {
            Self::Server(admin) => match admin.status().await {
                Ok(status) => of_server(&status),
                Err(error) => json!({ "error": error }),
            },
            Self::Stores(desk) => {
                let mut slots = desk.shards().await;
                slots.iter_mut().for_each(obey);
                json!({ "slots": slots })
            }
        };
        look["at"] = humantime::format_rfc3339_seconds(SystemClock.wall()).to_string().into();
        look["of"] = match self {
            Self::Server(admin) => admin.address().into(),
            Self::Stores(_) => "stores".into(),
        };
        look
    }
}

/// What of a server's status is watched.
pub(super) fn of_server(status: &Value) -> Value {
    let rates = status["keys"].as_array().into_iter().flatten().filter_map(|key| key["rate"].as_f64());
    json!({
        "cluster": status["cluster"],
        "phase": status["phase"],
        "trouble": status["trouble"],
        "ledger_away_ms": status["ledger_away_ms"],
        // Not `sum`: that of nothing is minus zero.
        "rate": rates.fold(0.0, |sum, rate| sum + rate),
        "slots": status["shards"],
    })
}
