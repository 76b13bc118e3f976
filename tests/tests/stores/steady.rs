//! `sequent doctor` beside three servers at work on many counters, old and just begun, whatever befalls a server, the ledger or a
//! slot: what servers just change is no fault, so there is no error, look after look.

use std::{
    fmt::Write as _,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use sequent_testkit::servers::{MariaDb, Postgres, Redis};
use tokio::task::JoinSet;

use crate::{
    http::Http,
    load::until,
    place::Ran,
    server::Server,
    site::{maria, password_file, postgres, redis_users},
};

/// What a busy machine makes slow is no failure here; little is kept ready, so that the stores are asked all the time.
const SETTINGS: &str = "
cluster = \"c\"
auto_create = [\"*\"]
[ring]
shard_bits = 2
memory_bits = 0
attempt_timeout_ms = 4000
slow_after_ms = 2000
rescue_after_max_s = 1
[reservoir]
at_risk_max = 512
[limits]
deadline_ms = 30000
";

/// Sequences there are at most, one more begun now and then; the last of them is young.
const NAMES_MAX: u64 = 300;
/// Requests between two that are begun.
const BETWEEN: u64 = 8;
/// Numbers of each request.
const COUNT: usize = 40;
/// Looks at each scene.
const LOOKS: usize = 4;
/// How long a caller who was refused waits.
const REST: Duration = Duration::from_millis(20);

/// Callers who go on whatever happens, of sequence after sequence.
struct Callers {
    stopped: Arc<AtomicBool>,
    served: Arc<AtomicU64>,
    tasks: JoinSet<()>,
}

impl Callers {
    fn on(servers: &[Server]) -> Self {
        let (stopped, served) = (Arc::<AtomicBool>::default(), Arc::<AtomicU64>::default());
        let mut tasks = JoinSet::new();
        for api in servers.iter().map(Server::http) {
            let (stopped, served) = (Arc::clone(&stopped), Arc::clone(&served));
            tasks.spawn(async move {
                let (mut line, mut turn) = (None, 0);
                while !stopped.load(Ordering::Relaxed) {
                    // Without the ledger none is begun: whoever is refused goes on to the next.
                    let begun = (1 + served.load(Ordering::Relaxed) / BETWEEN).min(NAMES_MAX);
                    let name = format!("k{}", turn % begun);
                    turn += 1;
                    if line.is_none() {
                        line = Http::connect(api).await.ok();
                    }
                    let given = match &mut line {
                        Some(http) => http.next_of(&name, COUNT).await.is_ok(),
                        None => false,
                    };
                    if given {
                        served.fetch_add(1, Ordering::Relaxed);
                    } else {
                        line = None;
                        tokio::time::sleep(REST).await;
                    }
                }
            });
        }
        Self { stopped, served, tasks }
    }

    /// So many more requests were served.
    async fn more(&self, requests: u64) {
        let goal = self.served.load(Ordering::Relaxed) + requests;
        until("more requests", async || self.served.load(Ordering::Relaxed) >= goal).await;
    }

    async fn end(self) {
        self.stopped.store(true, Ordering::Relaxed);
        self.tasks.join_all().await;
        println!("{} requests served", self.served.load(Ordering::Relaxed));
    }
}

/// Three servers over a slot of each durable kind on a server, and a ledger on MariaDB.
struct Site {
    // First: the servers go before their stores.
    servers: [Server; 3],
    maria: MariaDb,
    _redis: Redis,
    _postgres: Postgres,
    ledger: MariaDb,
    _folder: tempfile::TempDir,
}

impl Site {
    async fn start() -> Self {
        let durable = [("appendonly", "yes"), ("appendfsync", "always")];
        let (redis, one, other, ledger) =
            tokio::join!(Redis::start_with(&durable), MariaDb::start(), Postgres::start(), MariaDb::start());
        redis_users(&redis, "c").await;
        maria(&one, "shard1", "mysql-row").await;
        maria(&ledger, "ledger", "ledger").await;
        postgres(&other).await;
        let folder = tempfile::tempdir().unwrap();
        let secret = password_file(folder.path(), "password").display().to_string();
        let mut text = SETTINGS.to_owned();
        let mut place = |head: &str, url: String| {
            writeln!(text, "{head}\nurl = \"{url}\"\npassword_file = \"{secret}\"").unwrap();
        };
        let mysql = |server: &MariaDb, name: &str| format!("mysql://sequent@{}/{name}", server.address());
        place("[[shard]]\nslot = 0\nstore = \"redis\"", format!("redis://sequent@{}/0", redis.address()));
        place("[[shard]]\nslot = 1\nstore = \"mysql-row\"", mysql(&one, "shard1"));
        place(
            "[[shard]]\nslot = 2\nstore = \"postgres-row\"",
            format!("postgres://seq@{}/seq", other.address()),
        );
        place("[ledger]\noutage_s = 1\nstore = \"mysql\"", mysql(&ledger, "ledger"));
        let servers = [Server::start(&text), Server::start(&text), Server::start(&text)];
        Self { servers, maria: one, _redis: redis, _postgres: other, ledger, _folder: folder }
    }

    fn look(&self) -> Ran {
        self.servers[1].operate(&["doctor", "--json"])
    }

    /// No error, look after look, whatever else is told.
    fn is_well(&self, after: &str) {
        for look in 0..LOOKS {
            let ran = self.look();
            assert_eq!(ran.code, Some(0), "look {look} {after}: {ran:?}");
        }
    }

    /// The same while a place is away, which the exit code tells.
    fn has_no_error(&self, after: &str) {
        let ran = self.look();
        assert_eq!(ran.json()["errors"], 0, "{after}: {ran:?}");
        assert_ne!(ran.code, Some(0), "{after}: {ran:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_servers_at_work_just_change_is_no_error() {
    let mut site = Site::start().await;
    let callers = Callers::on(&site.servers);
    callers.more(100).await;
    site.is_well("under load");
    for kill in 0..3 {
        callers.more(50).await;
        site.servers[0].kill();
        site.is_well("right after a server was killed");
        println!("kill {kill}");
        site.servers[0].restart();
        site.is_well("with the server back");
    }
    site.ledger.kill().await;
    callers.more(30).await;
    site.has_no_error("without the ledger");
    callers.more(30).await;
    site.ledger.restart().await;
    site.is_well("with the ledger back");
    callers.more(50).await;
    site.maria.kill().await;
    callers.more(50).await;
    site.has_no_error("without a slot");
    site.maria.restart().await;
    site.is_well("with the slot back");
    callers.more(50).await;
    site.is_well("at last");
    callers.end().await;
    for server in &mut site.servers {
        assert_eq!(server.drain(), Some(0));
    }
    site.is_well("with nobody at work");
}
