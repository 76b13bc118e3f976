//! Four MariaDB servers, each behind a wire that fails on command, and a ledger on a fifth.

use std::{fmt::Write as _, net::SocketAddr, path::Path, time::Duration};

use sequent_testkit::{
    proxy::{Mode, Proxy},
    servers::{DataCopy, MariaDb},
};

use crate::site::{maria, password_file};

/// The kinds of the slots: each way of counting on MariaDB, and the one to take where nothing speaks for another twice.
pub(crate) const KINDS: [&str; 4] = ["mysql-row", "mysql-segment", "mysql-auto-increment", "mysql-row"];

/// How slow a store is made: more than what is borne with, less than an attempt may last.
pub(crate) const SLOWNESS: Duration = Duration::from_millis(300);

/// A database and the wire to it.
pub(crate) struct Store {
    pub(crate) kind: &'static str,
    pub(crate) db: MariaDb,
    pub(crate) wire: Proxy,
}

impl Store {
    async fn start(kind: &'static str) -> Self {
        let db = MariaDb::start().await;
        maria(&db, "sequent_test", kind).await;
        let wire = Proxy::to(db.address()).await;
        Self { kind, db, wire }
    }

    /// Where servers find it: its wire.
    fn address(&self) -> SocketAddr {
        self.wire.address()
    }

    /// Every byte of its answers arrives so much later.
    pub(crate) async fn slow_down(&self) {
        self.wire.set(Mode::Latency { there: Duration::ZERO, back: SLOWNESS }).await;
    }
}

/// The stores of a ring, and its ledger's.
pub(crate) struct Ring {
    pub(crate) slots: Vec<Store>,
    pub(crate) ledger: Store,
}

impl Ring {
    pub(crate) async fn start() -> Self {
        // Boxed: five starts at once are a large future.
        let [a, b, c, d] = KINDS.map(|kind| Box::pin(Store::start(kind)));
        let (a, b, c, d, ledger) = tokio::join!(a, b, c, d, Box::pin(Store::start("ledger")));
        Self { slots: vec![a, b, c, d], ledger }
    }

    /// Copies of all slots as they are now; each is stopped meanwhile, and started again.
    pub(crate) async fn copies(&self) -> Vec<DataCopy> {
        let [a, b, c, d] = [0, 1, 2, 3].map(|slot| self.slots[slot].db.copy());
        let (a, b, c, d) = tokio::join!(a, b, c, d);
        vec![a, b, c, d]
    }

    /// The configuration that names them all; `more` is put before the shards, `outage_s` for how long numbers go on
    /// without the ledger. Passwords lie in `folder`.
    pub(crate) fn config(&self, folder: &Path, more: &str, outage_s: u32) -> String {
        let password = password_file(folder, "password");
        let url = |store: &Store| {
            let (address, file) = (store.address(), password.display());
            format!("url = \"mysql://sequent@{address}/sequent_test\"\npassword_file = \"{file}\"\n")
        };
        let mut text = format!("cluster = \"failover\"\n{more}\n");
        for (slot, store) in self.slots.iter().enumerate() {
            writeln!(text, "[[shard]]\nslot = {slot}\nstore = \"{}\"\n{}", store.kind, url(store)).unwrap();
        }
        write!(text, "[ledger]\nstore = \"mysql\"\noutage_s = {outage_s}\n{}", url(&self.ledger)).unwrap();
        text
    }
}
