//! Shards and the ledger put back to old copies: each kind of durable shard under load, then the ledger and a shard
//! together from the same moment, with servers running and with none. No number comes twice, each event is told.

use std::{path::PathBuf, sync::Arc, sync::atomic::Ordering};

use sequent_testkit::servers::{DataCopy, Etcd, MariaDb, Postgres};
use tempfile::TempDir;

use crate::{
    bits::Bits,
    http::Http,
    load::{LOOK_EVERY, Load, many, until},
    place::{copy, with_companions},
    server::{Look, Server},
    site::{maria, password_file, postgres},
    tale::INSTANCE_CHANGED,
};

/// The slots, by their stores.
const MARIA: usize = 0;
const POSTGRES: usize = 1;
const FILE: usize = 2;

/// More raw ids than any counter can have given after the copy.
const LOSS: &str = "10000000";

/// Little in memory and little room below the ceilings, so that stores and ledger are asked all the time; what a busy machine
/// makes slow is no failure here.
const SETTINGS: &str = "
cluster = \"c\"
[ring]
shard_bits = 2
memory_bits = 0
attempt_timeout_ms = 8000
slow_after_ms = 4000
rescue_after_max_s = 2
[limits]
deadline_ms = 30000
[reservoir]
at_risk_max = 512
[[sequence]]
name = \"order\"
";

/// Two servers over a shard of each durable kind, and a ledger on etcd.
struct Site {
    // First: the servers go before their stores.
    servers: [Server; 2],
    maria: MariaDb,
    postgres: Postgres,
    etcd: Etcd,
    folder: TempDir,
    bits: Arc<Bits>,
}

/// Everything as it was at one moment, with nobody at work.
struct Old {
    maria: DataCopy,
    postgres: DataCopy,
    files: PathBuf,
    ledger: PathBuf,
}

impl Site {
    async fn start() -> Self {
        let (row, other, etcd) = tokio::join!(MariaDb::start(), Postgres::start(), Etcd::start());
        maria(&row, "shard0", "mysql-row").await;
        postgres(&other).await;
        let folder = tempfile::tempdir().unwrap();
        let secret = format!("password_file = \"{}\"", password_file(folder.path(), "password").display());
        let maria_url = format!("mysql://sequent@{}/shard0", row.address());
        let postgres_url = format!("postgres://seq@{}/seq", other.address());
        let file = folder.path().join("shard-2.db");
        let config = [
            SETTINGS.to_owned(),
            format!("[[shard]]\nslot = 0\nstore = \"mysql-row\"\nurl = \"{maria_url}\"\n{secret}\n"),
            format!("[[shard]]\nslot = 1\nstore = \"postgres-row\"\nurl = \"{postgres_url}\"\n{secret}\n"),
            format!("[[shard]]\nslot = 2\nstore = \"sqlite\"\npath = \"{}\"\n", file.display()),
            format!("[ledger]\noutage_s = 1\nstore = \"etcd\"\nurl = \"{}\"\n", etcd.url()),
        ]
        .concat();
        let servers = [Server::start(&config), Server::start(&config)];
        Self { servers, maria: row, postgres: other, etcd, folder, bits: Arc::default() }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("shard-2.db")
    }

    /// A copy of everything; the servers are stopped for it, and go on.
    async fn copied(&mut self, name: &str) -> Old {
        for server in &mut self.servers {
            assert_eq!(server.drain(), Some(0));
        }
        let files = self.folder.path().join(name);
        std::fs::create_dir(&files).unwrap();
        copy(&with_companions(&self.file()), &files);
        let ledger = self.etcd.snapshot(name).await;
        let (maria, postgres) = tokio::join!(self.maria.copy(), self.postgres.copy());
        for server in &mut self.servers {
            server.restart();
        }
        Old { maria, postgres, files, ledger }
    }

    /// The old file in place of the one that is open, as a restore tool would do it.
    fn put_file_back(&self, old: &Old) {
        for file in with_companions(&self.file()) {
            let _ = std::fs::remove_file(&file);
        }
        copy(&with_companions(&old.files.join("shard-2.db")), self.folder.path());
    }

    /// Waits until both servers' metrics say so.
    async fn both(&self, what: &str, ask: impl Fn(&Look) -> bool) {
        until(what, async || {
            let (one, other) = tokio::join!(self.servers[0].look(), self.servers[1].look());
            ask(&one) && ask(&other)
        })
        .await;
    }

    /// Under load a slot is put back: both servers hear another instance and tell of it, and it gives again. No request
    /// fails.
    async fn put_back(&self, load: &Load, slot: usize, deed: impl AsyncFnOnce()) {
        let (told, refused) =
            (INSTANCE_CHANGED.of(&self.servers, slot).await, load.refused.load(Ordering::Relaxed));
        deed().await;
        let given = load.of_slot(slot);
        load.more(1_000).await;
        told.is_told(&self.servers, "it was put back").await;
        load.gives(&self.servers, slot, given, "it was put back").await;
        load.nobody_failed(refused, "one slot was put back");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_kind_of_shard_put_back_to_an_old_copy_repeats_nothing_and_fails_nobody() {
    let mut site = Site::start().await;
    let load = Load::on(&site.servers, &site.bits);
    load.more(2_000).await;
    load.end().await;
    let old = site.copied("old").await;
    let load = Load::on(&site.servers, &site.bits);
    load.more(many()).await;
    site.put_back(&load, MARIA, async || site.maria.restore_from(&old.maria).await).await;
    site.put_back(&load, POSTGRES, async || site.postgres.restore_from(&old.postgres).await).await;
    site.put_back(&load, FILE, async || site.put_file_back(&old)).await;
    load.end().await;
    all_put_back_while_nobody_runs(&mut site).await;
    for server in &mut site.servers {
        assert_eq!(server.drain(), Some(0));
    }
}

/// All shards at once, with every server stopped, to a copy of the epochs that the ledger speaks of: whoever starts finds each to
/// be another run.
async fn all_put_back_while_nobody_runs(site: &mut Site) {
    let old = site.copied("older").await;
    let load = Load::on(&site.servers, &site.bits);
    load.more(many()).await;
    load.end().await;
    for server in &mut site.servers {
        assert_eq!(server.drain(), Some(0));
    }
    tokio::join!(site.maria.restore_from(&old.maria), site.postgres.restore_from(&old.postgres));
    site.put_file_back(&old);
    let begun = INSTANCE_CHANGED.at_the_start::<3>(&site.servers);
    for server in &mut site.servers {
        server.restart();
    }
    let load = Load::on(&site.servers, &site.bits);
    for (slot, told) in [MARIA, POSTGRES, FILE].into_iter().zip(begun) {
        load.gives(&site.servers, slot, 0, "all were put back").await;
        told.is_told_by_one(&site.servers, "all were put back").await;
    }
    load.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_ledger_and_a_shard_put_back_together_give_nothing_before_the_loss_is_named() {
    let mut site = Site::start().await;
    let load = Load::on(&site.servers, &site.bits);
    load.more(2_000).await;
    load.end().await;
    let old = site.copied("old").await;
    let load = Load::on(&site.servers, &site.bits);
    load.more(many()).await;
    tokio::join!(site.maria.restore_from(&old.maria), site.etcd.restore_snapshot(&old.ledger));
    site.both("both servers notice", |look| look.sum("sequent_ledger_behind") == 1).await;
    for server in &site.servers {
        let error = Http::connect(server.http()).await.unwrap().next(1).await.unwrap_err();
        assert!(error.contains("RECOVERY_REQUIRED"), "{error}");
        assert!(server.log().contains("nothing is opened before `sequent recover`"), "{}", server.log());
        assert!(server.ask("/v1/status").await.contains("sequent recover --bump N"), "status says how");
    }
    let stopped = load.bits.count();
    tokio::time::sleep(LOOK_EVERY * 10).await;
    assert_eq!(load.bits.count(), stopped, "nothing leaves before somebody has named the loss");
    site.servers[0].operate(&["recover", "--bump", LOSS, "--yes"]).succeeded();
    site.both("both servers hear of it", |look| look.sum("sequent_ledger_behind") == 0).await;
    load.more(2_000).await;
    site.both("the slot gives again", |look| look.is_live(MARIA)).await;
    load.end().await;
    put_back_while_nobody_runs(&mut site).await;
}

/// The same again, with every server stopped.
async fn put_back_while_nobody_runs(site: &mut Site) {
    let old = site.copied("older").await;
    let load = Load::on(&site.servers, &site.bits);
    load.more(many()).await;
    load.end().await;
    for server in &mut site.servers {
        assert_eq!(server.drain(), Some(0));
    }
    tokio::join!(site.maria.restore_from(&old.maria), site.etcd.restore_snapshot(&old.ledger));
    for server in &mut site.servers {
        let refused = server.operate(&["next", "order", "-n", "5"]);
        refused.refused(3, &["RECOVERY_REQUIRED", "sequent recover"]);
        server.restart();
    }
    site.both("both servers say so", |look| look.sum("sequent_ledger_behind") == 1).await;
    for server in &mut site.servers {
        assert!(server.log().contains("nothing is opened before `sequent recover`"), "{}", server.log());
        assert!(server.ask("/v1/status").await.contains("sequent recover --bump N"), "status says how");
        assert_eq!(server.drain(), Some(0));
    }
    site.servers[1].operate(&["recover", "--bump", LOSS, "--yes"]).succeeded();
    for server in &site.servers {
        site.bits.add("after it", server.operate(&["next", "order", "-n", "500"]).succeeded().numbers());
    }
    println!("{} numbers, none twice", site.bits.count());
}
