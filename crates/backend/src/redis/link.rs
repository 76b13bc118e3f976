//! One connection, and what was learned when it was opened: who speaks there.

use redis::{AsyncConnectionConfig, Cmd, FromRedisValue, aio::MultiplexedConnection, cmd};
use sequent_core::{Durability, Entropy, Incarnation};

use super::{
    fault::CLUSTER,
    options::Target,
    scripts::Text,
    settings::{self, field},
    store::{CellNames, shard_name},
};
use crate::wire::{Fault, Line};

/// An open connection. Dropped, it is closed, whatever was on its way.
pub(super) struct Link {
    connection: MultiplexedConnection,
    incarnation: Incarnation,
    /// The history of the data that it was opened on, and the token in it: each script compares both.
    replid: String,
    born: String,
    /// The shard's own key.
    shard: Vec<u8>,
    version: String,
}

/// What a script answered.
#[derive(Debug)]
pub(super) enum Answer {
    /// Done, with these values.
    Done(Vec<String>),
    /// There is no cell.
    None,
    /// Something else is there.
    Other(Vec<String>),
    /// A cell without its witness, or the other way round: the value, and which of the two is there.
    Half(Vec<String>),
    /// No number of ours is there.
    Odd(Vec<String>),
}

impl Line for Link {
    type Target = Target;

    async fn open(target: &Target) -> Result<Self, Fault> {
        let mut link = Self::connect(target).await?;
        let born = born(&mut link.connection, &link.shard, &*target.options.entropy).await?;
        Ok(link.of_data(born))
    }

    async fn look(target: &Target) -> Result<Self, Fault> {
        let mut link = Self::connect(target).await?;
        let born: redis::RedisResult<Option<String>> =
            cmd("HGET").arg(&link.shard).arg("born").query_async(&mut link.connection).await;
        let born = born.map_err(of_shard)?.unwrap_or_else(|| "nobody".to_owned());
        Ok(link.of_data(born))
    }

    fn incarnation(&self) -> &Incarnation {
        &self.incarnation
    }

    async fn ping(&mut self) -> Result<(), Fault> {
        self.ask::<String>(&cmd("PING")).await.map(drop)
    }
}

impl Link {
    /// Connects to a server that counts, and learns which run of it speaks.
    async fn connect(target: &Target) -> Result<Self, Fault> {
        let limits = AsyncConnectionConfig::new().set_connection_timeout(None).set_response_timeout(None);
        let client = target.options.client().await?;
        let mut connection = client.get_multiplexed_async_connection_with_config(&limits).await?;
        let server: String = cmd("INFO").arg("server").query_async(&mut connection).await?;
        admit_mode(field(&server, "redis_mode").or(field(&server, "server_mode")).unwrap_or_default())?;
        let replication: String = cmd("INFO").arg("replication").query_async(&mut connection).await?;
        admit_role(&replication)?;
        let (run, replid) = (field(&server, "run_id"), field(&replication, "master_replid"));
        let (Some(run), Some(replid)) = (run, replid) else {
            return Err(Fault::refused(
                "INFO names no run_id and master_replid: expected Redis 5 or later, or Valkey",
            ));
        };
        let (incarnation, replid) = (Incarnation::new(format!("redis {run} {replid}")), replid.to_owned());
        let (born, shard) = (String::new(), shard_name(&target.owner));
        Ok(Self { connection, incarnation, replid, born, shard, version: version(&server) })
    }

    /// The same connection, to the data that bears this token.
    fn of_data(self, born: String) -> Self {
        Self { incarnation: Incarnation::new(format!("{} {born}", self.incarnation)), born, ..self }
    }

    /// The shard's own key.
    pub(super) fn shard(&self) -> &[u8] {
        &self.shard
    }

    /// The server's name and version, for people.
    pub(super) fn version(&self) -> &str {
        &self.version
    }

    /// Runs a command.
    pub(super) async fn ask<T: FromRedisValue>(&mut self, command: &Cmd) -> Result<T, Fault> {
        Ok(command.query_async(&mut self.connection).await?)
    }

    /// Runs commands in one round trip; nothing is answered where this user may not run all of them.
    pub(super) async fn ask_all<T: FromRedisValue>(
        &mut self,
        commands: &redis::Pipeline,
    ) -> Result<Vec<T>, Fault> {
        match commands.query_async(&mut self.connection).await {
            Err(error) if error.code() == Some("NOPERM") => Ok(Vec::new()),
            answers => Ok(answers?),
        }
    }

    /// Runs commands in one round trip; one that is refused takes nothing from the others.
    pub(super) async fn ask_each<T: FromRedisValue>(
        &mut self,
        commands: &mut redis::Pipeline,
    ) -> Result<Vec<redis::RedisResult<T>>, Fault> {
        Ok(commands.ignore_errors().query_async(&mut self.connection).await?)
    }

    /// Runs a command that this user, or this server, may not know: `None` where it is refused.
    pub(super) async fn ask_if_allowed<T: FromRedisValue>(
        &mut self,
        command: &Cmd,
    ) -> Result<Option<T>, Fault> {
        match command.query_async(&mut self.connection).await {
            Ok(answer) => Ok(Some(answer)),
            Err(error) if error.code().is_some() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Runs a script on the shard's own key and on a cell's two, if who speaks is still who did at the opening.
    pub(super) async fn run(
        &mut self,
        text: &Text,
        cell: Option<&CellNames>,
        args: &[&str],
    ) -> Result<Answer, Fault> {
        let said = match self.evaluate(cmd("EVALSHA").arg(text.digest()), cell, args).await {
            // It has run nothing: the server forgot its scripts, or never had this one.
            Err(error) if error.code() == Some("NOSCRIPT") => {
                self.evaluate(cmd("EVAL").arg(text.lua.as_str()), cell, args).await?
            }
            said => said?,
        };
        let mut words = said.into_iter();
        match words.next().as_deref() {
            Some("ok") => Ok(Answer::Done(words.collect())),
            Some("none") => Ok(Answer::None),
            Some("other") => Ok(Answer::Other(words.collect())),
            Some("half") => Ok(Answer::Half(words.collect())),
            Some("odd") => Ok(Answer::Odd(words.collect())),
            Some("stale") => {
                Err(Fault::Stale("the server's data has another history now, or lost its token".to_owned()))
            }
            other => Err(Fault::refused(format!("script {} said {other:?}", text.name))),
        }
    }

    async fn evaluate(
        &mut self,
        command: &mut Cmd,
        cell: Option<&CellNames>,
        args: &[&str],
    ) -> redis::RedisResult<Vec<String>> {
        let names: Vec<&[u8]> = cell.map(|names| names.each().to_vec()).unwrap_or_default();
        command.arg(1 + names.len()).arg(&self.shard).arg(names);
        command.arg(self.replid.as_str()).arg(self.born.as_str()).arg(args);
        command.query_async(&mut self.connection).await
    }

    /// The settings that decide what an answer is worth, as far as the server tells them.
    pub(super) async fn attest(&mut self) -> Result<Durability, Fault> {
        let mut found = Vec::new();
        for name in settings::ASKED {
            let asked: redis::RedisResult<Vec<String>> =
                cmd("CONFIG").arg("GET").arg(name).query_async(&mut self.connection).await;
            match asked {
                Ok(pair) => found.extend(pair.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone()))),
                Err(error) if error.code().is_some() => {
                    found.push((name.to_owned(), settings::NOT_TOLD.to_owned()));
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(settings::durability(found))
    }
}

/// The token of this data, left by whoever came first: where it is gone, so may be anything else.
async fn born(
    connection: &mut MultiplexedConnection,
    shard: &[u8],
    entropy: &dyn Entropy,
) -> Result<String, Fault> {
    let token = format!("{:016x}", entropy.bits());
    let mut leave = cmd("HSETNX");
    let left: redis::RedisResult<bool> =
        leave.arg(shard).arg("born").arg(token).query_async(connection).await;
    match left {
        Ok(_) => {}
        Err(error) => return Err(of_shard(error)),
    }
    let held: Option<String> = cmd("HGET").arg(shard).arg("born").query_async(connection).await?;
    held.ok_or_else(|| Fault::away("the server evicts what was written a moment ago"))
}

/// What is said where the shard's own key can't be read.
fn of_shard(error: redis::RedisError) -> Fault {
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

/// A replica may be promoted a moment later: it is away, not wrong.
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
