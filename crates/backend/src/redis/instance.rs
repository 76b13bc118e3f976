//! Instance of a Redis server: run id, replication id, and the token in the data.

use redis::{RedisError, RedisResult, aio::MultiplexedConnection, cmd};
use sequent_core::Entropy;

use super::{fault::CLUSTER, settings::field};
use crate::net::Fault;

/// The field of the shard's own key that holds the token.
const TOKEN: &str = "born";

/// Placeholder in examinations for data without a token.
const NOBODY: &str = "nobody";

/// A run of a server that counts: one process, until it restarts.
pub(super) struct Run {
    /// The run id.
    pub(super) id: String,
    /// The replication id, which names the history of the data.
    pub(super) replid: String,
    /// The server's name and version, for operators.
    pub(super) version: String,
}

impl Run {
    /// Reads the current run.
    pub(super) async fn of(connection: &mut MultiplexedConnection) -> Result<Self, Fault> {
        let server: String = cmd("INFO").arg("server").query_async(connection).await?;
        admit_mode(field(&server, "redis_mode").or(field(&server, "server_mode")).unwrap_or_default())?;
        let replication: String = cmd("INFO").arg("replication").query_async(connection).await?;
        admit_role(&replication)?;
        let (id, replid) = (field(&server, "run_id"), field(&replication, "master_replid"));
        let (Some(id), Some(replid)) = (id, replid) else {
            return Err(Fault::refused(
                "INFO names no run_id and master_replid: expected Redis 5 or later, or Valkey",
            ));
        };
        Ok(Self { id: id.to_owned(), replid: replid.to_owned(), version: version(&server) })
    }
}

/// The token of this data. The first client writes it. If it is missing, any other key may be missing too.
pub(super) async fn leave_token(
    connection: &mut MultiplexedConnection,
    shard: &[u8],
    entropy: &dyn Entropy,
) -> Result<String, Fault> {
    let token = format!("{:016x}", entropy.bits());
    let mut leave = cmd("HSETNX");
    let left: RedisResult<bool> = leave.arg(shard).arg(TOKEN).arg(token).query_async(connection).await;
    left.map_err(of_shard)?;
    let held: Option<String> = cmd("HGET").arg(shard).arg(TOKEN).query_async(connection).await?;
    held.ok_or_else(|| Fault::away("the server evicts what was written a moment ago"))
}

/// The token of this data, if there is one; nothing is written.
pub(super) async fn read_token(
    connection: &mut MultiplexedConnection,
    shard: &[u8],
) -> Result<String, Fault> {
    let held: RedisResult<Option<String>> = cmd("HGET").arg(shard).arg(TOKEN).query_async(connection).await;
    Ok(held.map_err(of_shard)?.unwrap_or_else(|| NOBODY.to_owned()))
}

/// The fault if the shard's own key can't be read.
fn of_shard(error: RedisError) -> Fault {
    if error.code() == Some("WRONGTYPE") {
        let cause = "the shard's own key is of another type: somebody has written over it; delete it";
        return Fault::refused(cause);
    }
    error.into()
}

fn admit_mode(mode: &str) -> Result<(), Fault> {
    match mode {
        "sentinel" => Err(Fault::refused(
            "it is a sentinel, which counts nothing: connect to the server that it watches",
        )),
        "cluster" => Err(Fault::refused(format!("it is a node of a cluster{CLUSTER}"))),
        _ => Ok(()),
    }
}

/// Fails on a replica. It may be promoted a moment later, so it is unavailable, not refused.
fn admit_role(replication: &str) -> Result<(), Fault> {
    let role = field(replication, "role").unwrap_or_default();
    if role == "master" {
        return Ok(());
    }
    let of = |name| field(replication, name).unwrap_or("?");
    let (host, port) = (of("master_host"), of("master_port"));
    Err(Fault::away(format!(
        "role is {role} of {host}:{port}: a replica counts nothing; connect to its primary"
    )))
}

fn version(server: &str) -> String {
    let of = |name| field(server, name);
    match (of("valkey_version"), of("redis_version")) {
        (Some(version), _) => format!("Valkey {version}"),
        (None, Some(version)) => format!("Redis {version}"),
        (None, None) => "Redis".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use sequent_core::ErrorKind;

    use super::*;

    #[test]
    fn what_counts_nothing_is_told_from_what_counts() {
        let kind = |fault: Fault| fault.into_error("open").kind();
        assert!(admit_mode("standalone").is_ok() && admit_mode("").is_ok());
        assert_eq!(kind(admit_mode("sentinel").unwrap_err()), ErrorKind::Refused);
        assert_eq!(kind(admit_mode("cluster").unwrap_err()), ErrorKind::Refused);
        assert!(admit_role("role:master\r\n").is_ok());
        assert_eq!(kind(admit_role("role:slave\r\nmaster_host:h\r\n").unwrap_err()), ErrorKind::Unavailable);
    }

    #[test]
    fn valkey_is_called_by_its_name() {
        assert_eq!(version("redis_version:7.2.4\r\nvalkey_version:8.0.1\r\n"), "Valkey 8.0.1");
        assert_eq!(version("redis_version:7.0.15\r\n"), "Redis 7.0.15");
    }
}
