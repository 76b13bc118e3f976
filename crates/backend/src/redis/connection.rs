//! Redis connection: opened, with the instance and token read.

use redis::{Cmd, FromRedisValue, Pipeline, RedisResult, aio::MultiplexedConnection, cmd};
use sequent_core::{Durability, InstanceId};

use super::{
    instance::{Run, leave_token, read_token},
    names::{CellNames, shard_name},
    scripts::Text,
    server::{RedisServer, connect},
    settings,
};
use crate::net::{self, Fault, Owner, Purpose, Server, ServerOptions};

/// An open connection. Dropping it closes it, even with a command in flight.
pub(crate) struct Connection {
    driver: MultiplexedConnection,
    instance: InstanceId,
    pub(super) run: Run,
    /// The token of the data on which it was opened. Each script compares it, and the replication id.
    token: String,
    /// The slot whose store it is.
    pub(super) owner: Owner,
    /// The name of the shard's own key.
    pub(super) shard: Vec<u8>,
}

/// The words of a script's answer: first `ok`, with the results, or what was found instead.
///
/// - `none`: there is no cell.
/// - `other`: the cell is closed, or of another epoch. Its epoch and whether it is open follow.
/// - `half`: a cell without its witness, or a witness without its cell. The value, and which of the two exists, follow.
/// - `odd`: a value that is no valid number. It follows.
pub(super) type Answer = Vec<String>;

impl Server for RedisServer {
    type Connection = Connection;

    /// Data without a token gets one even if this process has connected before: a changed token shows a flush.
    async fn connect(&self, purpose: Purpose) -> Result<Connection, Fault> {
        let mut driver = connect(&self.options).await?;
        let (run, shard) = (Run::of(&mut driver).await?, shard_name(&self.owner));
        let token = match purpose {
            Purpose::Look => read_token(&mut driver, &shard).await?,
            _ => leave_token(&mut driver, &shard, &*self.options.env.entropy).await?,
        };
        let instance = InstanceId::new(format!("redis {} {} {token}", run.id, run.replid));
        Ok(Connection { driver, instance, run, token, owner: self.owner.clone(), shard })
    }

    fn options(&self) -> &ServerOptions {
        &self.options
    }
}

impl net::Connection for Connection {
    fn instance(&self) -> &InstanceId {
        &self.instance
    }

    async fn ping(&mut self) -> Result<(), Fault> {
        self.ask::<String>(&cmd("PING")).await.map(drop)
    }
}

impl Connection {
    /// Runs a command.
    pub(super) async fn ask<T: FromRedisValue>(&mut self, command: &Cmd) -> Result<T, Fault> {
        Ok(command.query_async(&mut self.driver).await?)
    }

    /// Runs commands in one round trip. If the user may not run all of them, the whole call fails.
    pub(super) async fn ask_all<T: FromRedisValue>(&mut self, commands: &Pipeline) -> Result<Vec<T>, Fault> {
        match commands.query_async(&mut self.driver).await {
            Err(error) if error.code() == Some("NOPERM") => Ok(Vec::new()),
            answers => Ok(answers?),
        }
    }

    /// Runs commands in one round trip, each with its own result.
    pub(super) async fn ask_each<T: FromRedisValue>(
        &mut self,
        commands: &mut Pipeline,
    ) -> Result<Vec<RedisResult<T>>, Fault> {
        Ok(commands.ignore_errors().query_async(&mut self.driver).await?)
    }

    /// Runs a command that the user or the server may not permit: `None` if it is refused.
    pub(super) async fn ask_if_allowed<T: FromRedisValue>(
        &mut self,
        command: &Cmd,
    ) -> Result<Option<T>, Fault> {
        match command.query_async(&mut self.driver).await {
            Ok(answer) => Ok(Some(answer)),
            Err(error) if error.code().is_some() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Runs a script on the shard's own key and on a cell and its witness, if the instance is still that of the
    /// opening.
    pub(super) async fn run(
        &mut self,
        script: &Text,
        cell: Option<&CellNames>,
        args: &[&str],
    ) -> Result<Answer, Fault> {
        let said = match self.evaluate(cmd("EVALSHA").arg(script.digest()), cell, args).await {
            // Nothing has run: the server forgot its scripts, or never had this one.
            Err(error) if error.code() == Some("NOSCRIPT") => {
                self.evaluate(cmd("EVAL").arg(script.lua()), cell, args).await?
            }
            said => said?,
        };
        if said.first().is_some_and(|word| word == "stale") {
            return Err(Fault::stale("the server's data has another history now, or lost its token"));
        }
        Ok(said)
    }

    async fn evaluate(
        &mut self,
        command: &mut Cmd,
        cell: Option<&CellNames>,
        args: &[&str],
    ) -> RedisResult<Vec<String>> {
        let names: Vec<&[u8]> = cell.map(|names| names.each().to_vec()).unwrap_or_default();
        command.arg(1 + names.len()).arg(&self.shard).arg(names);
        command.arg(self.run.replid.as_str()).arg(self.token.as_str()).arg(args);
        command.query_async(&mut self.driver).await
    }

    /// The durability class by the server's settings, as far as it reports them.
    pub(super) async fn durability(&mut self) -> Result<Durability, Fault> {
        let mut found = Vec::new();
        for name in settings::ASKED {
            let told: Option<Vec<String>> = self.ask_if_allowed(cmd("CONFIG").arg("GET").arg(name)).await?;
            match told {
                Some(pair) => {
                    found.extend(pair.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone())));
                }
                None => found.push((name.to_owned(), settings::NOT_TOLD.to_owned())),
            }
        }
        Ok(settings::durability(found))
    }
}
