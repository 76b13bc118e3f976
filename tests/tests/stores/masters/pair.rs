//! Two MariaDB servers that replicate without waiting for each other, and servers of numbers whose ledger is one of them.

use std::{net::SocketAddr, path::Path};

use sequent_testkit::{proxy::Proxy, servers::MariaDb};
use tempfile::TempDir;

use crate::{
    load::until,
    place::Ran,
    server::Server,
    site::{maria, password_file},
};

const SETTINGS: &str = "
cluster = \"c\"
[ring]
shard_bits = 1
memory_bits = 0
[limits]
deadline_ms = 20000
[[sequence]]
name = \"invoice\"
placement = \"dense\"
";

/// Two MariaDB servers, of which the second follows the first; each server of numbers has a switch to them.
pub(super) struct Pair {
    pub(super) one: MariaDb,
    pub(super) two: MariaDb,
    pub(super) switches: [Proxy; 2],
    folder: TempDir,
}

impl Pair {
    /// Where `goes_on`, neither stops for what contradicts.
    pub(super) async fn start(goes_on: bool) -> Self {
        let settings: &[(&str, &str)] = if goes_on { &[("slave-skip-errors", "all")] } else { &[] };
        let (one, two) =
            tokio::join!(MariaDb::start_in_group(1, settings), MariaDb::start_in_group(2, settings));
        two.follow(one.address()).await;
        maria(&one, "ledger", "ledger").await;
        two.has_applied(&one).await;
        let switches = [Proxy::to(one.address()).await, Proxy::to(one.address()).await];
        Self { one, two, switches, folder: tempfile::tempdir().unwrap() }
    }

    /// The first follows the second as well.
    pub(super) async fn close_the_circle(&self) {
        self.one.follow(self.two.address()).await;
        self.one.has_applied(&self.two).await;
    }

    /// Each has a row that the other has, too: neither applies anything any more.
    pub(super) async fn contradict(&self) {
        let both = [&self.one, &self.two];
        self.one.sql("CREATE TABLE ledger.contradiction (id INT PRIMARY KEY)").await;
        self.two.has_applied(&self.one).await;
        for db in both {
            db.sql("STOP SLAVE").await;
        }
        for db in both {
            db.sql("INSERT INTO ledger.contradiction VALUES (1); START SLAVE").await;
        }
        for db in both {
            let stopped = async || db.replication().await.contains("Duplicate entry");
            until("replication stops at a contradiction", stopped).await;
        }
    }

    /// A server of numbers over two slots of `shards` that belong to this pair alone; or how it refused to be.
    pub(super) fn server(&self, switch: usize, shards: &Shards<'_>) -> Result<Server, Ran> {
        Server::try_start(&shards.config(self.folder.path(), self.switches[switch].address()))
    }
}

/// Two databases of a MariaDB for the slots.
pub(super) struct Shards<'a> {
    db: &'a MariaDb,
    names: [String; 2],
}

impl<'a> Shards<'a> {
    pub(super) async fn on(db: &'a MariaDb, of: &str) -> Self {
        let names = [0, 1].map(|slot| format!("{of}{slot}"));
        for name in &names {
            maria(db, name, "mysql-row").await;
        }
        Self { db, names }
    }

    fn config(&self, folder: &Path, ledger: SocketAddr) -> String {
        let secret = password_file(folder, "password").display().to_string();
        let place = |address: SocketAddr, database: &str| {
            format!("url = \"mysql://sequent@{address}/{database}\"\npassword_file = \"{secret}\"\n")
        };
        let slot = |slot: usize| {
            let place = place(self.db.address(), &self.names[slot]);
            format!("[[shard]]\nslot = {slot}\nstore = \"mysql-row\"\n{place}")
        };
        let ledger = format!("[ledger]\nstore = \"mysql\"\n{}", place(ledger, "ledger"));
        [SETTINGS, &slot(0), &slot(1), &ledger].concat()
    }
}
