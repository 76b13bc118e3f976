//! Two servers under load over an SQL ledger that other clients disturb: rows held, deadlocks provoked, connections cut.
//!
//! `SEQUENT_DISTURBED=full` disturbs for a minute instead of seconds.

use std::{
    fmt::Write as _,
    sync::Arc,
    time::{Duration, Instant},
};

use sequent_testkit::servers::{MariaDb, Postgres};
use tempfile::TempDir;

use crate::{
    http::Http,
    load::{Load, until},
    server::Server,
    site::{maria, password_file, postgres},
};

/// Dense sequences under load beside the spread one.
const DENSE: [&str; 4] = ["invoice0", "invoice1", "invoice2", "invoice3"];

/// Between two cuts of all connections to the ledger.
const CUT_EVERY: Duration = Duration::from_millis(700);

/// How a ledger is disturbed: statements of its administrator.
struct Statements {
    /// Holds the row of a dense counter for a second.
    hold_a_row: &'static str,
    /// Locks a dense counter, then the row that every server locks first: the reverse of a server's order.
    reverse_the_order: &'static str,
    /// The same with a row of the spread sequence.
    reverse_the_rows: &'static str,
    /// Ends every connection of the servers.
    cut: &'static str,
    /// Counts transactions of the servers that are open.
    open_transactions: &'static str,
}

const MARIADB: Statements = Statements {
    hold_a_row: "USE ledger; BEGIN; SELECT v FROM sequent_dense WHERE k = 'invoice0' FOR UPDATE; SELECT SLEEP(1); ROLLBACK;",
    reverse_the_order: "USE ledger; BEGIN; SELECT v FROM sequent_dense WHERE k = 'invoice1' FOR UPDATE; SELECT SLEEP(0.1); \
        SELECT version FROM sequent_meta FOR UPDATE; ROLLBACK;",
    reverse_the_rows: "USE ledger; BEGIN; SELECT ceiling FROM sequent_counters WHERE k = 'order' FOR UPDATE; SELECT SLEEP(0.3); \
        SELECT version FROM sequent_meta FOR UPDATE; ROLLBACK;",
    cut: "KILL USER sequent;",
    open_transactions: "SELECT COUNT(*) FROM information_schema.innodb_trx;",
};

const POSTGRES: Statements = Statements {
    hold_a_row: "\\connect seq\nBEGIN; SELECT v FROM sequent_ledger.dense WHERE k = 'invoice0' FOR UPDATE; SELECT pg_sleep(1); ROLLBACK;",
    reverse_the_order: "\\connect seq\nBEGIN; SELECT v FROM sequent_ledger.dense WHERE k = 'invoice1' FOR UPDATE; \
        SELECT pg_sleep(0.1); SELECT version FROM sequent_ledger.meta FOR UPDATE; ROLLBACK;",
    reverse_the_rows: "\\connect seq\nBEGIN; SELECT ceiling FROM sequent_ledger.counters WHERE k = 'order' FOR UPDATE; \
        SELECT pg_sleep(0.3); SELECT version FROM sequent_ledger.meta FOR UPDATE; ROLLBACK;",
    cut: "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'seq';",
    open_transactions: "SELECT count(*) FROM pg_stat_activity WHERE usename = 'seq' AND xact_start IS NOT NULL;",
};

/// An administrator of the ledger's server.
trait Administrator: Sync {
    async fn ask(&self, statements: &str) -> Result<String, String>;
}

impl Administrator for MariaDb {
    async fn ask(&self, statements: &str) -> Result<String, String> {
        self.try_sql(statements).await
    }
}

impl Administrator for Postgres {
    async fn ask(&self, statements: &str) -> Result<String, String> {
        self.try_sql(statements).await
    }
}

/// How long the ledger is disturbed.
fn length() -> Duration {
    match std::env::var("SEQUENT_DISTURBED") {
        Ok(word) => {
            assert_eq!(word, "full", "SEQUENT_DISTURBED: only \"full\" is known");
            Duration::from_secs(60)
        }
        Err(_) => Duration::from_secs(8),
    }
}

/// Shards in files, dense sequences and `order`, and ceilings as little ahead as can be set, so that the ledger is asked often.
fn config(ledger: &str, folder: &TempDir) -> String {
    let mut text =
        "cluster = \"c\"\n[ring]\nshard_bits = 1\nmemory_bits = 0\n[limits]\ndeadline_ms = 20000\n\
        [reservoir]\nat_risk_max = 512\n[[sequence]]\nname = \"order\"\n"
            .to_owned();
    for name in DENSE {
        write!(text, "[[sequence]]\nname = \"{name}\"\nplacement = \"dense\"\n").unwrap();
    }
    for slot in 0..2 {
        let file = folder.path().join(format!("shard-{slot}.db"));
        write!(text, "[[shard]]\nslot = {slot}\nstore = \"sqlite\"\npath = \"{}\"\n", file.display())
            .unwrap();
    }
    let secret = password_file(folder.path(), "password");
    write!(text, "[ledger]\noutage_s = 1\n{ledger}\npassword_file = \"{}\"\n", secret.display()).unwrap();
    text
}

/// Disturbs by three clients at a time until the time is over; returns how many deadlocks the ledger's server told them of.
async fn disturb(ledger: &impl Administrator, statements: &Statements) -> u64 {
    let end = Instant::now() + length();
    let holding = async {
        while Instant::now() < end {
            // A cut or a deadlock ends it early.
            drop(ledger.ask(statements.hold_a_row).await);
        }
    };
    let reversing = async {
        let mut deadlocks = 0;
        while Instant::now() < end {
            for order in [statements.reverse_the_order, statements.reverse_the_rows] {
                let said = ledger.ask(order).await;
                deadlocks += u64::from(said.is_err_and(|why| why.to_lowercase().contains("deadlock")));
            }
        }
        deadlocks
    };
    let cutting = async {
        while Instant::now() < end {
            tokio::time::sleep(CUT_EVERY).await;
            ledger.ask(statements.cut).await.unwrap();
        }
    };
    tokio::join!(holding, reversing, cutting).1
}

/// Two servers go on through all of that: no number comes twice, and no lock is left.
async fn goes_on(ledger: &impl Administrator, statements: &Statements, config: &str) {
    let mut servers = [Server::start(config), Server::start(config)];
    let spread = Load::on(&servers, &Arc::default());
    let dense: Vec<Load> = DENSE.map(|name| Load::of(name, &servers, &Arc::default())).into();
    for load in dense.iter().chain([&spread]) {
        load.more(100).await;
    }
    let deadlocks = disturb(ledger, statements).await;
    for server in &servers {
        for name in DENSE.into_iter().chain(["order"]) {
            until(&format!("{name} is served again"), async || match Http::connect(server.http()).await {
                Ok(mut http) => http.next_of(name, 1).await.is_ok(),
                Err(_) => false,
            })
            .await;
        }
    }
    for load in dense {
        load.more(100).await;
        load.end().await;
    }
    spread.end().await;
    until("no transaction is left open", async || {
        ledger.ask(statements.open_transactions).await.unwrap().trim().ends_with('0')
    })
    .await;
    println!("{deadlocks} deadlocks met by the clients beside");
    for server in &mut servers {
        assert_eq!(server.drain(), Some(0));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_ledger_on_mariadb_that_others_lock_and_cut_gives_no_number_twice() {
    let (ledger, folder) = (MariaDb::start().await, tempfile::tempdir().unwrap());
    maria(&ledger, "ledger", "ledger").await;
    let url = format!("store = \"mysql\"\nurl = \"mysql://sequent@{}/ledger\"", ledger.address());
    goes_on(&ledger, &MARIADB, &config(&url, &folder)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_ledger_on_postgres_that_others_lock_and_cut_gives_no_number_twice() {
    let (ledger, folder) = (Postgres::start().await, tempfile::tempdir().unwrap());
    postgres(&ledger).await;
    let url = format!("store = \"postgres\"\nurl = \"postgres://seq@{}/seq\"", ledger.address());
    goes_on(&ledger, &POSTGRES, &config(&url, &folder)).await;
}
