//! Running servers, found by the data directory or `--admin`, and asked for their status. A server may hold
//! grants while the ledger is unavailable.

use std::{path::PathBuf, time::Duration};

use sequent_client::TlsOptions;
use sequent_core::SequenceName;
use sequent_engine::config::Config;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::{
    admin_client::Admin,
    failure::Failure,
    open_cluster::Cluster,
    output,
    run_files::{self, Addresses, Of},
};

/// The servers that a command asks: the named ones, or else those of its cluster that run on its data
/// directory.
#[derive(Debug, Clone)]
pub(crate) struct Servers {
    admins: Vec<Admin>,
    /// The cluster that they must belong to; `None`: the caller has named the server and no cluster.
    cluster: Option<String>,
    /// The data directory in which they were looked for.
    data: PathBuf,
}

/// A server's status, or the reason why it did not answer.
#[derive(Debug, Clone)]
pub(crate) struct Said {
    admin: String,
    status: Result<Value, String>,
}

impl Servers {
    /// The servers to ask. Touches nothing.
    pub(crate) fn of(cluster: &Cluster, named: Option<&str>) -> Result<Self, Failure> {
        let (config, tls) = (cluster.config()?, cluster.tls());
        let admins = match named {
            Some(named) => vec![Admin::named("--admin", named, &tls)?],
            None => found(&config, &tls)?,
        };
        let with_token = |admin: Admin| admin.with_token_of(cluster.token_file());
        let admins = admins.into_iter().map(with_token).collect();
        Ok(Self { admins, cluster: Some(config.cluster.to_string()), data: config.data })
    }

    /// A server that the caller named, whichever cluster it belongs to.
    pub(crate) fn at(admin: Admin) -> Self {
        Self { admins: vec![admin], cluster: None, data: PathBuf::new() }
    }

    /// Asks all at once, each within the time limit of an answer.
    pub(crate) async fn ask(&self) -> Vec<Said> {
        self.ask_of(None).await
    }

    /// The same, with whether a sequence is in use.
    pub(crate) async fn ask_of(&self, name: Option<&SequenceName>) -> Vec<Said> {
        let mut asked = JoinSet::new();
        for (at, admin) in self.admins.iter().cloned().enumerate() {
            let (cluster, name) = (self.cluster.clone(), name.cloned());
            asked.spawn(async move {
                let status = admin
                    .status(name.as_ref())
                    .await
                    .and_then(|status| of_cluster(status, cluster.as_deref()));
                (at, Said { admin: admin.address().to_owned(), status })
            });
        }
        let mut said = asked.join_all().await;
        said.sort_by_key(|(at, _)| *at);
        said.into_iter().map(|(_, said)| said).collect()
    }

    /// The servers asked, the status of each, and those that did not answer.
    pub(crate) fn told(&self, said: &[Said]) -> Vec<String> {
        if said.is_empty() {
            let data = self.data.display();
            return vec![format!(
                "servers asked: none, for none of cluster {} runs on {data} (--data); another machine's are not looked for",
                self.cluster.as_deref().unwrap_or_default()
            )];
        }
        let silent = said.iter().filter(|said| said.status.is_err()).count();
        let answered = said.len() - silent;
        let mut lines = vec![format!("servers asked: {}, answered: {answered}", said.len())];
        lines.extend(said.iter().flat_map(Said::lines));
        lines
    }
}

impl Said {
    /// The status, if the server answered.
    pub(crate) fn status(&self) -> Option<&Value> {
        self.status.as_ref().ok()
    }

    /// The server's address.
    pub(crate) fn admin(&self) -> &str {
        &self.admin
    }

    /// The reason why it did not answer.
    pub(crate) fn silence(&self) -> Option<&str> {
        self.status.as_ref().err().map(String::as_str)
    }

    /// The answer for scripts.
    pub(crate) fn as_json(&self) -> Value {
        let Ok(status) = &self.status else {
            return json!({ "admin": self.admin, "answered": false, "error": self.silence() });
        };
        let slots: Vec<Value> = slots(status).map(glance).collect();
        json!({
            "admin": self.admin,
            "answered": true,
            "phase": status["phase"],
            "trouble": status["trouble"],
            "ledger_away_ms": status["ledger_away_ms"],
            "outage_left_s": status["outage_left_s"],
            "slots": slots,
        })
    }

    fn lines(&self) -> Vec<String> {
        let status = match &self.status {
            Ok(status) => status,
            Err(error) => return vec![format!("  {}  did not answer: {error}", self.admin)],
        };
        let stored = || slots(status).filter(|slot| slot["state"] != "empty");
        let live = stored().filter(|slot| slot["state"] == "live").count();
        let phase = status["phase"].as_str().unwrap_or("serving");
        let mut head = vec![format!("  {}  {phase}  {live} of {} live", self.admin, stored().count())];
        let resting =
            stored().filter(|slot| slot["state"] == "live" && slot["resting"][0].is_object()).count();
        head.extend(
            (resting > 0)
                .then(|| format!("{resting} of them {}", if resting == 1 { "rests" } else { "rest" })),
        );
        let away = |ms: u64| format!("ledger away for {}", span(ms));
        head.extend(status["ledger_away_ms"].as_u64().map(away));
        head.extend(goes_on(status));
        head.extend(status["trouble"].as_str().map(ToOwned::to_owned));
        let mut lines = vec![head.join("  ")];
        lines.extend(stored().filter(|slot| slot["state"] != "live").map(slot_line));
        lines
    }
}

/// How long numbers go on while the ledger is unavailable.
fn goes_on(status: &Value) -> Option<String> {
    status["ledger_away_ms"].as_u64()?;
    let seconds = status["outage_left_s"].as_u64()?;
    Some(format!("numbers go on for {}", span(seconds.saturating_mul(1000))))
}

fn found(config: &Config, tls: &TlsOptions) -> Result<Vec<Admin>, Failure> {
    let found = run_files::servers(&config.data, &Of::config(config));
    let addresses: Vec<Addresses> = found.map(|found| found.servers).unwrap_or_default();
    addresses.iter().map(|address| Admin::named("admin", &address.reach_admin(), tls)).collect()
}

/// Checks the cluster's name, because another program may listen on a released port by now.
fn of_cluster(status: Value, cluster: Option<&str>) -> Result<Value, String> {
    match (status["cluster"].as_str(), cluster) {
        (Some(_), None) => Ok(status),
        (Some(found), Some(cluster)) if found == cluster => Ok(status),
        (Some(other), Some(cluster)) => {
            Err(format!("a server of cluster {other} answers there, expected {cluster}"))
        }
        (None, _) => Err("what answers there is no server of sequent".to_owned()),
    }
}

fn slots(status: &Value) -> impl Iterator<Item = &Value> {
    status["shards"].as_array().into_iter().flatten()
}

/// The fields of a slot that are the server's own view.
fn glance(slot: &Value) -> Value {
    let fields = ["slot", "state", "cause", "since_ms", "out_ms", "retry_in_ms", "word", "resting"];
    fields
        .iter()
        .map(|field| ((*field).to_owned(), slot[*field].clone()))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// A slot that does not serve, as its server sees it.
fn slot_line(slot: &Value) -> String {
    let since = slot["out_ms"].as_u64().or_else(|| slot["since_ms"].as_u64());
    let since = since.map(|ms| format!(" for {}", span(ms))).unwrap_or_default();
    let (kind, detail) = (slot["cause"]["kind"].as_str(), slot["cause"]["detail"].as_str());
    let of = |kind: &str| format!(": {kind}: {}", output::detail(kind, detail.unwrap_or_default()));
    let cause = kind.map(of).unwrap_or_default();
    format!("    slot {} {}{since}{cause}", slot["slot"], slot["state"].as_str().unwrap_or_default())
}

fn span(ms: u64) -> String {
    humantime::format_duration(Duration::from_millis(ms / 1000 * 1000)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peers() -> Servers {
        Servers { admins: Vec::new(), cluster: Some("shop".to_owned()), data: "/srv/shop".into() }
    }

    fn said(status: Result<Value, &str>) -> Said {
        Said { admin: "127.0.0.1:7423".to_owned(), status: status.map_err(ToOwned::to_owned) }
    }

    #[test]
    fn who_was_asked_and_who_did_not_answer_is_told() {
        let slot = |slot: u8, state: &str, cause: Value| {
            let resting =
                if state == "live" { json!([{ "key": "order", "raw_ids": 9000 }]) } else { json!([]) };
            json!({ "slot": slot, "state": state, "cause": cause, "since_ms": 1_500, "out_ms": 61_500, "resting": resting })
        };
        let cause = json!({ "kind": "command", "detail": "evict by ann: new disk" });
        let status = json!({
            "cluster": "shop", "phase": "serving", "ledger_away_ms": 3200, "outage_left_s": 540, "trouble": null,
            "shards": [slot(0, "live", Value::Null), slot(1, "evicted", cause), slot(2, "empty", Value::Null)],
        });
        let said = [said(Ok(status)), said(Err("connection refused"))];
        assert_eq!(
            peers().told(&said),
            [
                "servers asked: 2, answered: 1",
                "  127.0.0.1:7423  serving  1 of 2 live  1 of them rests  ledger away for 3s  numbers go on for 9m",
                "    slot 1 evicted for 1m 1s: command: evict by ann: new disk",
                "  127.0.0.1:7423  did not answer: connection refused",
            ]
        );
        let said: Vec<Value> = said.iter().map(Said::as_json).collect();
        assert_eq!((&said[0]["answered"], &said[0]["slots"][1]["state"]), (&true.into(), &"evicted".into()));
        assert_eq!((&said[1]["answered"], &said[1]["error"]), (&false.into(), &"connection refused".into()));
    }

    #[test]
    fn where_nobody_was_found_it_is_said_where_was_looked() {
        let told = peers().told(&[]);
        assert!(told[0].contains("none of cluster shop") && told[0].contains("/srv/shop"), "{told:?}");
    }

    #[test]
    fn whoever_else_answers_is_not_believed() {
        let other = json!({ "cluster": "bank" });
        assert!(of_cluster(other, Some("shop")).unwrap_err().contains("cluster bank"));
        assert!(of_cluster(json!({}), Some("shop")).unwrap_err().contains("no server"));
    }
}
