//! One counter set to 2^62 by hand under load, on its shard and then in the ledger: it stops alone, and nothing follows.

use std::sync::Arc;

use sequent_testkit::servers::MariaDb;
use tempfile::TempDir;

use crate::{
    bits::Bits,
    load::{Load, until},
    server::Server,
    site::{maria, password_file},
};

/// What the hand sets.
const POISON: u64 = 1 << 62;
/// More than any other counter of this test comes to.
const FAR: u64 = 1 << 40;

/// Little in memory and little room below the ceilings, so that stores and ledger are asked all the time; what a busy machine makes
/// slow is no failure here.
const SETTINGS: &str = "
cluster = \"c\"
[ring]
shard_bits = 2
memory_bits = 0
attempt_timeout_ms = 4000
slow_after_ms = 2000
slow_limit = 1000
rescue_after_max_s = 1
[reservoir]
at_risk_max = 512
[limits]
deadline_ms = 30000
[[sequence]]
name = \"order\"
[[sequence]]
name = \"invoice\"
";

/// Whether a server's log says that a counter is put aside.
fn is_told(server: &Server, slot: usize, key: &str) -> bool {
    let words = ["counter quarantined", &format!("slot={slot} "), &format!("key=\"{key}\"")];
    server.log().lines().any(|line| words.iter().all(|word| line.contains(word)))
}

/// Two servers over two MariaDB shards and a file, and a ledger on MariaDB; each sequence under load.
struct Site {
    // First: the servers go before their stores.
    servers: [Server; 2],
    shards: [MariaDb; 2],
    ledger: MariaDb,
    config: String,
    _folder: TempDir,
}

impl Site {
    async fn start() -> Self {
        let (a, b, ledger) = tokio::join!(MariaDb::start(), MariaDb::start(), MariaDb::start());
        maria(&a, "shard0", "mysql-row").await;
        maria(&b, "shard1", "mysql-row").await;
        maria(&ledger, "ledger", "ledger").await;
        let folder = tempfile::tempdir().unwrap();
        let secret = password_file(folder.path(), "password").display().to_string();
        let place = |store: &str, server: &MariaDb, database: &str| {
            let url = format!("mysql://sequent@{}/{database}", server.address());
            format!("store = \"{store}\"\nurl = \"{url}\"\npassword_file = \"{secret}\"\n")
        };
        let file = folder.path().join("shard-2.db");
        let config = [
            SETTINGS.to_owned(),
            format!("[[shard]]\nslot = 0\n{}", place("mysql-row", &a, "shard0")),
            format!("[[shard]]\nslot = 1\n{}", place("mysql-row", &b, "shard1")),
            format!("[[shard]]\nslot = 2\nstore = \"sqlite\"\npath = \"{}\"\n", file.display()),
            format!("[ledger]\noutage_s = 1\n{}", place("mysql", &ledger, "ledger")),
        ]
        .concat();
        let servers = [Server::start(&config), Server::start(&config)];
        Self { servers, shards: [a, b], ledger, config, _folder: folder }
    }

    async fn value(&self, slot: usize, key: &str) -> u64 {
        let sql = format!("SELECT v FROM shard{slot}.sequent_cells WHERE k = '{key}'");
        self.shards[slot].sql(&sql).await.trim().parse().unwrap()
    }

    /// The highest of anything that the ledger holds of counters, but for those of `but`.
    async fn highest_row(&self, but: &str) -> u64 {
        let sql = format!(
            "SELECT MAX(GREATEST(base, ceiling, seen)) FROM ledger.sequent_counters WHERE NOT ({but})"
        );
        self.ledger.sql(&sql).await.trim().parse().unwrap()
    }

    /// Whether a server has put a counter of the slot aside.
    async fn is_quarantined(&self, slot: usize) -> bool {
        let series = format!("sequent_quarantines_total{{slot=\"{slot}\",kind=\"jumped\"}}");
        let (one, other) = tokio::join!(self.servers[0].look(), self.servers[1].look());
        one.at(&series) + other.at(&series) > 0
    }

    /// Waits until a server that met the counter has put it aside, and says so.
    async fn quarantined(&self, slot: usize, key: &str) {
        until("the counter is put aside", async || self.is_quarantined(slot).await).await;
        until("the log says so", async || self.servers.iter().any(|server| is_told(server, slot, key))).await;
    }

    /// A hand writes into a row. A call of the ledger that had read the row, and writes it back after, undoes that: who needs it to
    /// stay looks, and writes once more.
    async fn set(&self, what: &str, row: &str) {
        self.ledger.sql(&format!("UPDATE ledger.sequent_counters SET {what} WHERE {row}")).await;
    }

    /// Sets a row's ceiling as far as that, or further, and lets the servers go on under it.
    async fn set_ceiling(&self, ceiling: u64, row: &str, loads: &[Load]) {
        until("the ceiling stays as it was set", async || {
            if self.of_row("ceiling", row).await >= i64::try_from(ceiling).unwrap() {
                return true;
            }
            self.set(&format!("ceiling = {ceiling}"), row).await;
            for load in loads {
                load.more(4_000).await;
            }
            false
        })
        .await;
    }

    /// Sets all that a row is judged by, until a server that met it has put the counter aside.
    async fn set_until_quarantined(&self, row: &str, slot: usize, key: &str) {
        let all = format!("base = {POISON}, seen = {POISON}, ceiling = {POISON}");
        until("the counter is put aside", async || {
            self.set(&all, row).await;
            self.is_quarantined(slot).await
        })
        .await;
        self.quarantined(slot, key).await;
    }

    /// One of a row's numbers, or its epoch.
    async fn of_row(&self, what: &str, row: &str) -> i64 {
        let sql = format!("SELECT {what} FROM ledger.sequent_counters WHERE {row}");
        self.ledger.sql(&sql).await.trim().parse().unwrap()
    }

    /// The other sequence counts on in a slot.
    async fn invoices_go_on(&self, slot: usize) {
        let before = self.value(slot, "invoice").await;
        until("the other sequence counts on", async || self.value(slot, "invoice").await > before).await;
    }
}

/// The ledger first and then the shard, each under load; and then all of the row, of which the store forgets the cell: neither
/// bears witness for the other.
async fn a_cell_and_its_row_set_far_beyond_are_followed_by_nobody(site: &Site, loads: &[Load], row: &str) {
    let before = site.of_row("epoch", row).await;
    site.set_ceiling(POISON + FAR, row, loads).await;
    site.shards[1].sql(&format!("UPDATE shard1.sequent_cells SET v = {POISON} WHERE k = 'invoice'")).await;
    site.quarantined(1, "invoice").await;
    let seen = site.of_row("seen", row).await;
    assert!(seen < i64::try_from(FAR).unwrap(), "the row does not follow: {seen}");
    let all = format!("base = {POISON}, seen = {POISON}, ceiling = {POISON}");
    until("all of the row stays as it was set", async || {
        let far = i64::try_from(POISON).unwrap();
        let stays = site.of_row("LEAST(base, seen, ceiling)", row).await >= far;
        if !stays {
            site.set(&all, row).await;
            for load in loads {
                load.more(4_000).await;
            }
        }
        stays
    })
    .await;
    site.shards[1].sql("DELETE FROM shard1.sequent_cells WHERE k = 'invoice'").await;
    // One that knows nothing of it.
    let mut fresh = [Server::start(&site.config)];
    let load = Load::of("invoice", &fresh, &loads[1].bits);
    until("the fresh server puts it aside", async || is_told(&fresh[0], 1, "invoice")).await;
    load.more(4_000).await;
    load.nobody_failed(0, "the others went on");
    load.end().await;
    assert_eq!(fresh[0].drain(), Some(0));
    assert_eq!(site.of_row("epoch", row).await, before, "no epoch began above it");
    for load in loads {
        load.more(4_000).await;
        load.nobody_failed(0, "the others went on");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_counter_set_far_beyond_stops_alone_on_its_shard_and_in_the_ledger() {
    let mut site = Site::start().await;
    let loads = ["order", "invoice"].map(|name| Load::of(name, &site.servers, &Arc::<Bits>::default()));
    for load in &loads {
        load.more(4_000).await;
    }
    site.shards[0].sql(&format!("UPDATE shard0.sequent_cells SET v = {POISON} WHERE k = 'order'")).await;
    site.quarantined(0, "order").await;
    site.invoices_go_on(0).await;
    assert!(site.highest_row("FALSE").await < FAR, "no row follows it");
    for load in &loads {
        load.more(4_000).await;
    }
    let row = "k = 'order' AND slot = 1";
    site.set_ceiling(POISON, row, &loads).await;
    // Another run of the store: what its counters begin with now is what the ledger says.
    site.shards[1].kill().await;
    site.shards[1].restart().await;
    site.quarantined(1, "order").await;
    site.invoices_go_on(1).await;
    for load in &loads {
        load.more(4_000).await;
        load.nobody_failed(0, "the others went on");
    }
    // All that is judged by, not the ceiling alone; nothing is restarted for it.
    let other = "k = 'invoice' AND slot = 2";
    site.set_until_quarantined(other, 2, "invoice").await;
    for load in &loads {
        load.more(4_000).await;
        load.nobody_failed(0, "the others went on");
    }
    let both = "k = 'invoice' AND slot = 1";
    a_cell_and_its_row_set_far_beyond_are_followed_by_nobody(&site, &loads, both).await;
    let poisoned = format!("{row} OR {other} OR {both}");
    assert!(site.highest_row(&poisoned).await < FAR, "no other row follows it");
    for (slot, key) in [(0, "invoice"), (1, "order")] {
        let value = site.value(slot, key).await;
        assert!(value < FAR, "slot {slot}, {key}: {value}");
    }
    for load in loads {
        load.end().await;
    }
    for server in &mut site.servers {
        assert_eq!(server.drain(), Some(0));
    }
}
