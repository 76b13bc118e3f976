//! A PostgreSQL and its asynchronous standby, a third PostgreSQL beside them, and for each of two servers switches of its own
//! to the pair, to the third and to the ledger.

use std::{collections::HashMap, fmt::Write as _, net::SocketAddr, path::Path, time::Duration};

use sequent_testkit::{
    proxy::{Mode, Proxy},
    servers::Postgres,
};
use tempfile::TempDir;

use crate::{
    load::until,
    server::Server,
    site::{ledger_away, password_file, postgres},
};

/// A machine shared with others may be slow, and no store is to be left for that.
const SETTINGS: &str = "
cluster = \"c\"
auto_create = [\"*\"]
[ring]
shard_bits = 2
memory_bits = 0
rescue_after_max_s = 2
";

/// One server's ways to its stores.
pub(crate) struct Switches {
    pair: Proxy,
    third: Proxy,
    ledger: Proxy,
}

/// Two servers over the pair (slots 0 and 1) and the third, which has slots 2 and 3 and the ledger.
pub(crate) struct Site {
    // First: the servers go before their stores.
    pub(crate) servers: [Server; 2],
    switches: [Switches; 2],
    stream: Proxy,
    /// Runs as long as its clients do.
    _primary: Postgres,
    standby: Postgres,
    third: Postgres,
    _folder: TempDir,
}

impl Switches {
    async fn to(pair: SocketAddr, third: SocketAddr) -> Self {
        Self { pair: Proxy::to(pair).await, third: Proxy::to(third).await, ledger: Proxy::to(third).await }
    }

    /// The configuration of a server that reaches all by these.
    fn config(&self, password: &Path, outage: Duration) -> String {
        let mut text = SETTINGS.to_owned();
        let secret = format!("password_file = \"{}\"", password.display());
        let url = |proxy: &Proxy| format!("url = \"postgres://seq@{}/seq\"\n{secret}", proxy.address());
        for (slot, proxy) in [&self.pair, &self.pair, &self.third, &self.third].into_iter().enumerate() {
            let (url, schema) = (url(proxy), format!("schema = \"shard{slot}\""));
            writeln!(text, "[[shard]]\nslot = {slot}\nstore = \"postgres-row\"\n{schema}\n{url}").unwrap();
        }
        writeln!(text, "{}store = \"postgres\"\n{}", ledger_away(outage), url(&self.ledger)).unwrap();
        text
    }
}

impl Site {
    pub(crate) async fn start(outage: Duration) -> Self {
        let (primary, third) = tokio::join!(Postgres::start(), Postgres::start());
        tokio::join!(postgres(&primary), postgres(&third));
        let stream = Proxy::to(primary.address()).await;
        let standby = Postgres::standby(stream.address()).await;
        until("the standby streams", async || {
            let streams = "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'";
            primary.sql(streams).await == "1\n"
        })
        .await;
        let folder = tempfile::tempdir().unwrap();
        let password = password_file(folder.path(), "password");
        let (pair, other) = (primary.address(), third.address());
        let (a, b) = tokio::join!(Switches::to(pair, other), Switches::to(pair, other));
        let servers = [&a, &b].map(|switches| Server::start(&switches.config(&password, outage)));
        Self { servers, switches: [a, b], stream, _primary: primary, standby, third, _folder: folder }
    }

    /// The network parts: the first server and the primary on one side; the second, the standby, the third and the ledger on the
    /// other. The ceilings as they are then.
    pub(crate) async fn part(&self) -> Ceilings {
        let [a, b] = &self.switches;
        tokio::join!(
            self.stream.set(Mode::BlackHole),
            a.third.set(Mode::BlackHole),
            a.ledger.set(Mode::BlackHole),
            b.pair.set(Mode::BlackHole),
        );
        self.ceilings().await
    }

    /// The standby becomes a primary, and the second server's switch leads to it.
    pub(crate) async fn fail_over(&self) {
        self.standby.promote().await;
        let pair = &self.switches[1].pair;
        pair.turn_to(self.standby.address()).await;
        pair.set(Mode::Pass).await;
    }

    /// The network is whole again, and the first server's switch leads to the new primary, too.
    pub(crate) async fn heal(&self) {
        let a = &self.switches[0];
        a.pair.turn_to(self.standby.address()).await;
        tokio::join!(a.third.set(Mode::Pass), a.ledger.set(Mode::Pass));
    }

    async fn ceilings(&self) -> Ceilings {
        let sql = "\\c seq\nSELECT encode(k, 'escape'), slot, ceiling FROM sequent_ledger.counters";
        let row = |row: &str| {
            let [key, slot, ceiling] = row.split('\t').collect::<Vec<_>>()[..] else { panic!("{row}") };
            ((key.to_owned(), slot.parse().unwrap()), ceiling.parse().unwrap())
        };
        Ceilings(self.third.sql(sql).await.lines().map(row).collect())
    }
}

/// The highest raw id of each sequence and slot that the ledger has acknowledged.
pub(crate) struct Ceilings(HashMap<(String, u64), u64>);

impl Ceilings {
    /// Whether a number lies above, in a ring of four with one number an id.
    pub(crate) fn are_below(&self, name: &str, number: u64) -> bool {
        let (slot, raw) = ((number + 3) & 3, (number + 3) >> 2);
        self.0.get(&(name.to_owned(), slot)).is_none_or(|ceiling| raw > *ceiling)
    }
}
