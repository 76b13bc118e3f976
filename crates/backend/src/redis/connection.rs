//! One connection, and what was learned when it was opened: who answers there.

use redis::{Cmd, FromRedisValue, Pipeline, RedisResult, aio::MultiplexedConnection, cmd};
use sequent_core::{Durability, InstanceId};

use super::{
    names::{CellNames, shard_name},
    run::{Run, leave_token, read_token},
    scripts::Text,
    server::RedisServer,
    settings,
};
use crate::net::{self, Fault};

/// An open connection. Dropped, it is closed, whatever was on its way.
pub(crate) struct Connection {
    driver: MultiplexedConnection,
    instance: InstanceId,
    run: Run,
    /// The token in the data that it was opened on. Each script compares it, and the history of the data.
    token: String,
    /// The shard's own key.
    shard: Vec<u8>,
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

impl net::Connection for Connection {
    fn instance(&self) -> &InstanceId {
        &self.instance
    }

    async fn ping(&mut self) -> Result<(), Fault> {
        self.ask::<String>(&cmd("PING")).await.map(drop)
    }
}

impl Connection {
    /// Connects to a server that counts, and learns who answers.
    pub(super) async fn open(server: &RedisServer) -> Result<Self, Fault> {
        let mut driver = server.driver_connection().await?;
        let (run, shard) = (Run::of(&mut driver).await?, shard_name(&server.owner));
        let token = leave_token(&mut driver, &shard, &*server.options.env.entropy).await?;
        Ok(Self::new(driver, run, token, shard))
    }

    /// The same, to look: nothing is written.
    pub(super) async fn open_to_look(server: &RedisServer) -> Result<Self, Fault> {
        let mut driver = server.driver_connection().await?;
        let (run, shard) = (Run::of(&mut driver).await?, shard_name(&server.owner));
        let token = read_token(&mut driver, &shard).await?;
        Ok(Self::new(driver, run, token, shard))
    }

    fn new(driver: MultiplexedConnection, run: Run, token: String, shard: Vec<u8>) -> Self {
        let instance = InstanceId::new(format!("redis {} {} {token}", run.id, run.replid));
        Self { driver, instance, run, token, shard }
    }

    /// The shard's own key.
    pub(super) fn shard(&self) -> &[u8] {
        &self.shard
    }

    /// The server's name and version, for people.
    pub(super) fn version(&self) -> &str {
        &self.run.version
    }

    /// Runs a command.
    pub(super) async fn ask<T: FromRedisValue>(&mut self, command: &Cmd) -> Result<T, Fault> {
        Ok(command.query_async(&mut self.driver).await?)
    }

    /// Runs commands in one round trip; nothing is answered where this user may not run all of them.
    pub(super) async fn ask_all<T: FromRedisValue>(&mut self, commands: &Pipeline) -> Result<Vec<T>, Fault> {
        match commands.query_async(&mut self.driver).await {
            Err(error) if error.code() == Some("NOPERM") => Ok(Vec::new()),
            answers => Ok(answers?),
        }
    }

    /// Runs commands in one round trip; one that is refused takes nothing from the others.
    pub(super) async fn ask_each<T: FromRedisValue>(
        &mut self,
        commands: &mut Pipeline,
    ) -> Result<Vec<RedisResult<T>>, Fault> {
        Ok(commands.ignore_errors().query_async(&mut self.driver).await?)
    }

    /// Runs a command that this user, or this server, may not know: `None` where it is refused.
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

    /// Runs a script on the shard's own key and on a cell's two, if who answers is still who did at the opening.
    pub(super) async fn run(
        &mut self,
        script: &Text,
        cell: Option<&CellNames>,
        args: &[&str],
    ) -> Result<Answer, Fault> {
        let said = match self.evaluate(cmd("EVALSHA").arg(script.digest()), cell, args).await {
            // It has run nothing: the server forgot its scripts, or never had this one.
            Err(error) if error.code() == Some("NOSCRIPT") => {
                self.evaluate(cmd("EVAL").arg(script.lua.as_str()), cell, args).await?
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
                Err(Fault::stale("the server's data has another history now, or lost its token"))
            }
            other => Err(Fault::refused(format!("script {} said {other:?}", script.name))),
        }
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

    /// The settings that decide what an answer is worth, as far as the server tells them.
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
