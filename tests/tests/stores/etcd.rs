//! A ledger on etcd under two servers over stores that forget: etcd killed, and put back to an old copy, under load and
//! with nobody running. No number comes twice, the event is told, and nothing that could repeat leaves before `recover`.

use std::sync::{Arc, atomic::Ordering};

use sequent_testkit::servers::{Etcd, Redis};
use tempfile::TempDir;

use crate::{
    bits::Bits,
    http::Http,
    load::{LOOK_EVERY, Load, many, until},
    server::Server,
    site::{PASSWORD, password_file, redis_users},
};

/// More raw ids than any counter can have given after the copy.
const LOSS: &str = "10000000";

/// Ceilings a second ahead, so that a copy of a moment ago lacks some.
const SETTINGS: &str = "
cluster = \"c\"
[ring]
shard_bits = 1
memory_bits = 0
rescue_after_max_s = 2
[reservoir]
at_risk_max = 512
[[sequence]]
name = \"order\"
";

/// Nothing is ever written to the disk.
const FORGETFUL: &[(&str, &str)] = &[("save", ""), ("appendonly", "no")];

/// Two servers over two slots that forget, and a ledger that does not.
struct Site {
    // First: the servers go before their stores.
    servers: [Server; 2],
    etcd: Etcd,
    redis: [Redis; 2],
    bits: Arc<Bits>,
    _folder: TempDir,
}

impl Site {
    async fn start() -> Self {
        let (a, b, etcd) =
            tokio::join!(Redis::start_with(FORGETFUL), Redis::start_with(FORGETFUL), Etcd::start());
        tokio::join!(redis_users(&a, "c"), redis_users(&b, "c"), etcd_user(&etcd));
        let folder = tempfile::tempdir().unwrap();
        let password = password_file(folder.path(), "password").display().to_string();
        let slot = |slot: usize, redis: &Redis| {
            let url = redis.url_as("sequent", "x").replace(":x@", "@");
            format!(
                "[[shard]]\nslot = {slot}\nstore = \"redis\"\nurl = \"{url}\"\npassword_file = \"{password}\"\n"
            )
        };
        let url = etcd.url().replace("http://", "http://sequent@");
        let ledger = format!(
            "[ledger]\noutage_s = 1\nstore = \"etcd\"\nurl = \"{url}\"\npassword_file = \"{password}\"\n"
        );
        let config = [SETTINGS, &slot(0, &a), &slot(1, &b), &ledger].concat();
        let servers = [Server::start(&config), Server::start(&config)];
        Self { servers, etcd, redis: [a, b], bits: Arc::default(), _folder: folder }
    }

    /// Waits until both servers' metrics say so.
    async fn both(&self, what: &str, ask: impl Fn(&crate::server::Look) -> bool) {
        until(what, async || {
            let (one, other) = tokio::join!(self.servers[0].look(), self.servers[1].look());
            ask(&one) && ask(&other)
        })
        .await;
    }

    /// The ledger's version, as it says itself.
    async fn version(&self) -> u64 {
        let root = format!("root:{PASSWORD}");
        let said = self.etcd.ctl(&["--user", &root, "get", "--print-value-only", "sequent/version"]).await;
        said.trim().parse().unwrap()
    }

    /// A copy that an operator would take, of which the ledger lacks something before it is put back.
    async fn snapshot(&self, name: &str) -> std::path::PathBuf {
        let (path, root) = (self.etcd.folder().join(name), format!("root:{PASSWORD}"));
        self.etcd.ctl(&["--user", &root, "snapshot", "save", &path.display().to_string()]).await;
        path
    }
}

/// The book's role and user, and nobody without a login.
async fn etcd_user(etcd: &Etcd) {
    let page = include_str!("../../../docs/operating/stores/etcd.md");
    let commands: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("etcdctl ")).collect();
    assert_eq!(commands.len(), 4, "the book's role and user: {commands:?}");
    let own = format!("sequent:{PASSWORD}");
    for command in commands {
        let mut words: Vec<&str> = command.split(' ').collect();
        if words[..2] == ["user", "add"] {
            words[2] = &own;
        }
        etcd.ctl(&words).await;
    }
    etcd.ctl(&["user", "add", &format!("root:{PASSWORD}")]).await;
    etcd.ctl(&["user", "grant-role", "root", "root"]).await;
    etcd.ctl(&["auth", "enable"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn etcd_killed_and_back_repeats_nothing() {
    let mut site = Site::start().await;
    let load = Load::on(&site.servers, &site.bits);
    load.more(5_000).await;
    site.etcd.kill().await;
    site.both("both servers know that the ledger is away", |look| look.sum("sequent_ledger_away") == 1).await;
    // Without the ledger, what forgets gives up to its ceilings, and not beyond.
    let refused = load.refused.load(Ordering::Relaxed);
    until("ceilings are used up", async || load.refused.load(Ordering::Relaxed) > refused + 20).await;
    // What one of the slots gave since is known to nobody but the ceilings that etcd has.
    site.redis[0].kill().await;
    site.redis[0].restart().await;
    site.etcd.restart().await;
    site.both("both servers know that it is back", |look| look.sum("sequent_ledger_away") == 0).await;
    load.more(5_000).await;
    load.end().await;
    for server in &mut site.servers {
        assert_eq!(server.drain(), Some(0));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn etcd_put_back_to_an_older_copy_is_told_and_repeats_nothing() {
    let mut site = Site::start().await;
    let load = Load::on(&site.servers, &site.bits);
    load.more(2_000).await;
    let (copied, old) = (site.version().await, site.snapshot("old").await);
    load.more(many()).await;
    until("the ledger was written to", async || site.version().await > copied).await;
    site.etcd.restore_snapshot(&old).await;
    // At the same moment a slot forgets: nothing but the ledger knew how far it was.
    site.redis[1].kill().await;
    site.redis[1].restart().await;
    site.both("both servers notice", |look| look.sum("sequent_ledger_behind") == 1).await;
    for server in &site.servers {
        let error = Http::connect(server.http()).await.unwrap().next(1).await.unwrap_err();
        assert!(error.contains("RECOVERY_REQUIRED"), "{error}");
        assert!(server.log().contains("nothing is opened before `sequent recover`"), "{}", server.log());
        let status = server.ask("/v1/status").await;
        assert!(status.contains("sequent recover --bump N"), "{status}");
    }
    let stopped = load.bits.count();
    tokio::time::sleep(LOOK_EVERY * 10).await;
    assert_eq!(load.bits.count(), stopped, "nothing leaves before somebody has named the loss");
    site.servers[0].operate(&["recover", "--bump", LOSS, "--yes"]).succeeded();
    site.both("both servers hear that the loss was named", |look| look.sum("sequent_ledger_behind") == 0)
        .await;
    load.more(2_000).await;
    load.end().await;
    for server in &mut site.servers {
        assert_eq!(server.drain(), Some(0));
    }
    put_back_while_nobody_runs(&site).await;
}

/// Another copy, with every server stopped. The mark that tells both of it is on a slot: had that one forgotten as well, the
/// server that left it would know, and the other one go on with the slots that have not.
async fn put_back_while_nobody_runs(site: &Site) {
    let (copied, old) = (site.version().await, site.snapshot("older").await);
    site.bits.add("between", site.servers[0].operate(&["next", "order", "-n", "500"]).succeeded().numbers());
    // Otherwise the copy would lack nothing.
    let (lacks, from) = (site.version().await, copied);
    assert!(lacks > from, "the ledger was at {from}, and is at {lacks}");
    site.etcd.restore_snapshot(&old).await;
    for server in &site.servers {
        let refused = server.operate(&["next", "order", "-n", "5"]);
        refused.refused(3, &["RECOVERY_REQUIRED", "sequent recover"]);
    }
    site.servers[1].operate(&["recover", "--bump", LOSS, "--yes"]).succeeded();
    for server in &site.servers {
        let numbers = server.operate(&["next", "order", "-n", "500"]).succeeded().numbers();
        site.bits.add("after the second recovery", numbers);
    }
    println!("{} numbers, none twice", site.bits.count());
}
