//! S13: dense numbers on MariaDB by 64 callers, beside one `UPDATE … LAST_INSERT_ID` each on the same server.

use std::{process::ExitCode, time::Duration};

use mysql_async::{Conn, Opts, OptsBuilder, prelude::Queryable};
use sequent_benches::{Row, print};
use sequent_core::{Clock, SystemClock};
use sequent_engine::{
    Engine, NextRequest, Options,
    config::{Config, Sources},
};
use sequent_testkit::servers::MariaDb;
use tokio::task::JoinSet;

const HELP: &str = "\
Dense numbers: two MariaDB servers (Debian: mariadb-server) on free ports with data of their own, gone afterwards: one has the ledger,
the other the ring's two shards, on which each write is witnessed before its numbers leave.

  cargo bench -p sequent-benches --bench dense                          S13
  cargo bench -p sequent-benches --bench dense -- --keys 64             S13, a sequence for each caller
  cargo bench -p sequent-benches --bench dense -- --rounds 3 --callers 16

Each caller asks for one number after the other: on one side of an engine whose ledger is on the first server, which answers those who
ask at the same time by one write; on the other by a statement of its own, on a connection of its own, on a row of a
table beside. Both are durable when they are answered.
Flags: --rounds N (1 to 1000, default 7), --seconds N a round and side (1 to 600, default 3), --callers N (1 to 256,
default 64), --keys N\nsequences that they share (1 to 256, default 1), --json, --help.";

/// MariaDB's own defaults, where those of the test servers are smaller.
const SETTINGS: [(&str, &str); 3] =
    [("innodb-buffer-pool-size", "128M"), ("innodb-log-file-size", "96M"), ("max-connections", "400")];

/// What S13 asks for.
const GOAL: f64 = 10.0;

struct Plan {
    rounds: u64,
    seconds: u64,
    callers: u64,
    keys: u64,
    json: bool,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    if args.iter().any(|arg| arg == "--help" || arg == "-h") {
        println!("{HELP}");
        return ExitCode::SUCCESS;
    }
    let ran = Plan::parse(args).and_then(|plan| {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        runtime.map_err(|error| format!("no runtime: {error}"))?.block_on(plan.run())
    });
    match ran {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("dense: {text}");
            ExitCode::from(2)
        }
    }
}

impl Plan {
    fn parse(args: Vec<String>) -> Result<Self, String> {
        let mut plan = Self { rounds: 7, seconds: 3, callers: 64, keys: 1, json: false };
        let mut args = args.into_iter();
        while let Some(arg) = args.next() {
            let mut whole = |high: u64| {
                let value = args.next().unwrap_or_default();
                let number = value.parse().ok().filter(|number| (1..=high).contains(number));
                number.ok_or(format!("{arg} is {value:?}: 1 to {high} are allowed"))
            };
            match arg.as_str() {
                "--json" => plan.json = true,
                "--rounds" => plan.rounds = whole(1000)?,
                "--seconds" => plan.seconds = whole(600)?,
                "--callers" => plan.callers = whole(256)?,
                "--keys" => plan.keys = whole(256)?,
                "S13" => {}
                _ => return Err(format!("{arg:?} is unknown: --help says what there is")),
            }
        }
        Ok(plan)
    }

    #[allow(clippy::cast_precision_loss, reason = "numbers of a bench")]
    async fn run(&self) -> Result<(), String> {
        let server = MariaDb::start_with(&SETTINGS).await;
        server.sql("CREATE DATABASE dense_ledger; CREATE DATABASE dense_bare").await;
        server.sql("CREATE TABLE dense_bare.cells (k VARCHAR(64) PRIMARY KEY, v BIGINT NOT NULL) ENGINE = InnoDB").await;
        for key in 0..self.keys {
            server.sql(&format!("INSERT INTO dense_bare.cells VALUES ('invoice{key}', 0)")).await;
        }
        let shard = MariaDb::start_with(&SETTINGS).await;
        shard.sql("CREATE DATABASE dense_shard; CREATE DATABASE dense_other").await;
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let engine = self.engine(&server, &shard, folder.path()).await?;
        let mut bare = Vec::new();
        for _ in 0..self.callers {
            bare.push(connect(&server).await?);
        }
        let mut row = Row::new("S13", GOAL);
        let (mut numbers, mut writes) = (0.0, 0.0);
        // Connections, prepared statements, the row, the first mark.
        self.merged(&engine, Duration::from_secs(1)).await?;
        for round in 0..self.rounds {
            let length = Duration::from_secs(self.seconds);
            let (subject, baseline);
            if round % 2 == 0 {
                subject = self.merged(&engine, length).await?;
                (baseline, bare) = self.alone(bare, length).await?;
            } else {
                (baseline, bare) = self.alone(bare, length).await?;
                subject = self.merged(&engine, length).await?;
            }
            row.add_rates(subject, baseline);
            numbers += subject * self.seconds as f64;
        }
        writes += merged_writes(&server).await;
        print(&[row], self.json);
        eprintln!("dense: about {:.1} callers answered by each write", numbers / writes.max(1.0));
        engine.shutdown().await;
        Ok(())
    }

    /// Numbers a second that the engine gives to all callers.
    async fn merged(&self, engine: &Engine, length: Duration) -> Result<f64, String> {
        let begun = SystemClock.now();
        let mut callers = JoinSet::new();
        for caller in 0..self.callers {
            let ask = NextRequest::new(&self.key_of(caller)).map_err(|error| error.to_string())?;
            let engine = engine.clone();
            callers.spawn(async move {
                let mut given = 0_u64;
                while SystemClock.now().saturating_duration_since(begun) < length {
                    engine.next(&ask).await.map_err(|error| error.to_string())?;
                    given += 1;
                }
                Ok::<u64, String>(given)
            });
        }
        let mut given = 0;
        while let Some(done) = callers.join_next().await {
            given += done.map_err(|error| error.to_string())??;
        }
        Ok(rate(given, SystemClock.now().saturating_duration_since(begun)))
    }

    /// Numbers a second of one statement each.
    async fn alone(&self, conns: Vec<Conn>, length: Duration) -> Result<(f64, Vec<Conn>), String> {
        let begun = SystemClock.now();
        let mut callers = JoinSet::new();
        for (caller, mut conn) in (0..).zip(conns) {
            let key = self.key_of(caller);
            callers.spawn(async move {
                let mut given = 0_u64;
                while SystemClock.now().saturating_duration_since(begun) < length {
                    let sql = "UPDATE cells SET v = LAST_INSERT_ID(v + 1) WHERE k = ?";
                    conn.exec_drop(sql, (&key,)).await.map_err(|error| error.to_string())?;
                    given += u64::from(conn.last_insert_id().is_some());
                }
                Ok::<(u64, Conn), String>((given, conn))
            });
        }
        let (mut given, mut conns) = (0, Vec::new());
        while let Some(done) = callers.join_next().await {
            let (own, conn) = done.map_err(|error| error.to_string())??;
            given += own;
            conns.push(conn);
        }
        Ok((rate(given, SystemClock.now().saturating_duration_since(begun)), conns))
    }

    /// An engine with its shards on one server, and its ledger on the other.
    async fn engine(
        &self,
        server: &MariaDb,
        shard: &MariaDb,
        folder: &std::path::Path,
    ) -> Result<Engine, String> {
        let mut text = format!(
            "cluster = \"bench\"\n[ring]\nshard_bits = 1\nmemory_bits = 0\n[limits]\ndeadline_ms = 30000\n\
             [[shard]]\nslot = 0\nstore = \"mysql-row\"\nurl = \"{}\"\n\
             [[shard]]\nslot = 1\nstore = \"mysql-row\"\nurl = \"{}\"\n[ledger]\nstore = \"mysql\"\nurl = \"{}\"\n",
            url(shard, "dense_shard"),
            url(shard, "dense_other"),
            url(server, "dense_ledger"),
        );
        for key in 0..self.keys {
            let name = self.key_of(key);
            text.extend(["[[sequence]]\nname = \"", &name, "\"\nplacement = \"dense\"\n"]);
        }
        let file = folder.join("sequent.toml");
        std::fs::write(&file, text).map_err(|error| error.to_string())?;
        let config = Config::load(&Sources::embedded(folder.join("data")).file(file))
            .map_err(|error| error.to_string())?;
        Engine::open(config, Options::default()).await.map_err(|error| error.to_string())
    }

    /// The sequence that a caller asks for.
    fn key_of(&self, caller: u64) -> String {
        format!("invoice{}", caller % self.keys)
    }
}

/// Writes of the engine's kind so far.
async fn merged_writes(server: &MariaDb) -> f64 {
    let said = server.sql("SHOW GLOBAL STATUS LIKE 'Com_update_multi'").await;
    said.split_whitespace().next_back().and_then(|count| count.parse().ok()).unwrap_or(0.0)
}

#[allow(clippy::cast_precision_loss, reason = "numbers of a bench")]
fn rate(given: u64, took: Duration) -> f64 {
    given as f64 / took.as_secs_f64().max(1e-9)
}

async fn connect(server: &MariaDb) -> Result<Conn, String> {
    let opts = Opts::from_url(&url(server, "dense_bare")).map_err(|error| error.to_string())?;
    let opts = OptsBuilder::from_opts(opts).prefer_socket(false).tcp_nodelay(true);
    Conn::new(opts).await.map_err(|error| error.to_string())
}

/// As administrator.
fn url(server: &MariaDb, database: &str) -> String {
    format!("mysql://root@{}/{database}", server.address())
}
