//! Rows and cells that a hand lowered or deleted on servers while nothing ran: what `sequent doctor` says of them, and that nothing
//! comes twice where it says that all is well, or after what it advises was done.

use std::{collections::BTreeSet, fmt::Write as _};

use sequent_engine::{
    Engine, NextRequest,
    config::{Config, Sources},
};
use sequent_testkit::servers::{MariaDb, Postgres, Redis};
use serde_json::Value;

use crate::{
    load::slot_of,
    place::Place,
    site::{maria, open, password_file, postgres, redis_users},
};

/// The slots, by their stores.
const SLOTS: usize = 3;
/// So many raw ids of each slot: further than slots that take turns are apart.
const EACH: u64 = 5_000;
/// Numbers of one request, and how many there are at most until each slot has given as many.
const COUNT: u64 = 4_000;
const REQUESTS_MAX: usize = 50;
/// Requests after all that was done.
const REQUESTS_MORE: usize = 5;
/// What a hand leaves of a row.
const LEFT: u64 = 100;

/// What a busy machine makes slow is no failure here.
const SETTINGS: &str = "
cluster = \"c\"
auto_create = [\"*\"]
[ring]
shard_bits = 2
memory_bits = 0
attempt_timeout_ms = 8000
slow_after_ms = 8000
[limits]
deadline_ms = 60000
";

/// What a hand does, each to counters of its own.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Deed {
    /// Sets the row lower.
    Lowers,
    /// Sets the row lower, and deletes the cell.
    LowersAndForgets,
    /// Deletes row and cell.
    DeletesBoth,
    /// Deletes the row, and leaves the cell.
    DeletesRow,
}

impl Deed {
    const ALL: [Self; 4] = [Self::Lowers, Self::LowersAndForgets, Self::DeletesBoth, Self::DeletesRow];

    /// A sequence for this deed in this slot.
    fn name(self, slot: usize) -> String {
        format!("{self:?}-{slot}").to_lowercase()
    }

    /// How grave it is, and what is said of it.
    fn said(self) -> (&'static str, &'static str) {
        match self {
            Self::Lowers => ("error", ", above its ceiling 100"),
            // One finding names both.
            Self::LowersAndForgets | Self::DeletesBoth => {
                ("warning", ", and the key's counters in all other slots are at ")
            }
            Self::DeletesRow => ("error", "and the ledger has no row of it"),
        }
    }

    fn is_error(self) -> bool {
        self.said().0 == "error"
    }
}

/// Where the ledger is.
#[derive(Debug, Clone, Copy)]
enum Book {
    Maria,
    Postgres,
}

/// A ring of Redis, MariaDB and PostgreSQL, whose ledger is a database of one of the two.
struct Site {
    redis: Redis,
    maria: MariaDb,
    postgres: Postgres,
    book: Book,
    place: Place,
    given: Vec<(String, BTreeSet<u64>)>,
}

impl Site {
    async fn start(book: Book) -> Self {
        let durable = [("appendonly", "yes"), ("appendfsync", "always")];
        let (redis, one, other) =
            tokio::join!(Redis::start_with(&durable), MariaDb::start(), Postgres::start());
        redis_users(&redis, "c").await;
        maria(&one, "shard1", "mysql-row").await;
        maria(&one, "ledger", "ledger").await;
        postgres(&other).await;
        let given = (0..SLOTS).flat_map(|slot| Deed::ALL.map(|deed| (deed.name(slot), BTreeSet::new())));
        let site =
            Self { redis, maria: one, postgres: other, book, place: Place::new(), given: given.collect() };
        std::fs::write(site.place.path("sequent.toml"), site.text()).unwrap();
        site
    }

    fn text(&self) -> String {
        let secret = password_file(&self.place.path(""), "password");
        let secret = format!("password_file = \"{}\"", secret.display());
        let redis = format!("redis://sequent@{}/0", self.redis.address());
        let maria = format!("mysql://sequent@{}", self.maria.address());
        let postgres = format!("postgres://seq@{}/seq", self.postgres.address());
        let mut text = SETTINGS.to_owned();
        for (slot, (store, url)) in
            [("redis", &redis), ("mysql-row", &format!("{maria}/shard1")), ("postgres-row", &postgres)]
                .iter()
                .enumerate()
        {
            writeln!(text, "[[shard]]\nslot = {slot}\nstore = \"{store}\"\nurl = \"{url}\"\n{secret}")
                .unwrap();
        }
        let (store, url) = match self.book {
            Book::Maria => ("mysql", format!("{maria}/ledger")),
            Book::Postgres => ("postgres", postgres),
        };
        writeln!(text, "[ledger]\nstore = \"{store}\"\nurl = \"{url}\"\n{secret}").unwrap();
        text
    }

    fn run(&self, args: &[&str]) -> crate::place::Ran {
        let args = [args, &["--config", "sequent.toml"]].concat();
        tokio::task::block_in_place(|| self.place.run(&args))
    }

    async fn engine(&self) -> Engine {
        let sources = Sources::embedded(self.place.data()).file(self.place.path("sequent.toml"));
        open(&Config::load(&sources).unwrap()).await
    }

    /// Numbers of every sequence, each once, until each slot has given as many.
    async fn take(&mut self) {
        let engine = self.engine().await;
        for (name, given) in &mut self.given {
            let mut of_slots = [0; 4];
            for _ in 0..REQUESTS_MAX {
                let issued = engine.next(&NextRequest::new(name).unwrap().count(COUNT)).await.unwrap();
                for number in issued.numbers.numbers() {
                    assert!(given.insert(number), "{number} of {name} came twice");
                    of_slots[slot_of(number)] += 1;
                }
                if of_slots[..SLOTS].iter().all(|given| *given > EACH) {
                    break;
                }
            }
            assert!(of_slots[..SLOTS].iter().all(|given| *given > EACH), "{name}: {of_slots:?}");
        }
        engine.shutdown().await;
    }

    /// More numbers of every sequence, none of them given before, whichever slots they are of: who was advanced rests until the
    /// others come up to it.
    async fn take_more(&mut self) {
        let engine = self.engine().await;
        for (name, given) in &mut self.given {
            for _ in 0..REQUESTS_MORE {
                let issued = engine.next(&NextRequest::new(name).unwrap().count(COUNT)).await.unwrap();
                let mut numbers = issued.numbers.numbers();
                assert!(numbers.all(|number| given.insert(number)), "a number of {name} came twice");
            }
        }
        engine.shutdown().await;
    }

    async fn in_ledger(&self, deed: &str, tail: &str) {
        match self.book {
            Book::Maria => self.maria.sql(&format!("{deed} ledger.sequent_counters {tail}")).await,
            Book::Postgres => {
                self.postgres.sql(&format!("\\c seq\n{deed} sequent_ledger.counters {tail}")).await
            }
        };
    }

    async fn forget_cell(&self, slot: usize, name: &str) {
        match slot {
            0 => {
                let [cell, witness] = ["cell", "witness"].map(|what| format!("sequent/c/0/{what}/{name}"));
                assert_eq!(self.redis.ask(&["DEL", &cell, &witness]).await, "2");
            }
            1 => drop(self.maria.sql(&format!("DELETE FROM shard1.sequent_cells WHERE k = '{name}'")).await),
            _ => {
                let delete = format!("\\c seq\nDELETE FROM sequent_store.cells WHERE k = '{name}'");
                self.postgres.sql(&delete).await;
            }
        }
    }

    async fn does(&self, deed: Deed, slot: usize) {
        let name = deed.name(slot);
        let of = format!("WHERE slot = {slot} AND k = '{name}'");
        match deed {
            Deed::Lowers | Deed::LowersAndForgets => {
                self.in_ledger("UPDATE", &format!("SET base = 0, seen = 0, ceiling = {LEFT} {of}")).await;
            }
            Deed::DeletesBoth | Deed::DeletesRow => self.in_ledger("DELETE FROM", &of).await,
        }
        if matches!(deed, Deed::LowersAndForgets | Deed::DeletesBoth) {
            self.forget_cell(slot, &name).await;
        }
    }

    /// What doctor says, with this exit code.
    fn doctor(&self, code: i32) -> Value {
        let ran = self.run(&["doctor", "--json"]);
        assert_eq!(ran.code, Some(code), "{ran:?}");
        ran.json()
    }

    /// Advances a sequence beyond all that was given of it, or as far as is asked for: other slots may have more ready.
    fn advance(&self, name: &str) {
        let (_, given) = self.given.iter().find(|(own, _)| own == name).unwrap();
        let ran = self.run(&["advance", name, &(given.last().unwrap() + 1).to_string()]);
        if ran.code != Some(0) {
            let asked = ran.err.split_once("at least ").and_then(|(_, rest)| rest.split(' ').next());
            let to = asked.unwrap_or_else(|| panic!("{ran:?}"));
            self.run(&["advance", name, to]).succeeded();
        }
    }
}

/// That it is told of this deed in this slot what it is to be told, as grave as that.
fn tells(report: &Value, deed: Deed, slot: usize) {
    let (severity, said) = deed.said();
    let (place, name) = (format!("slot {slot}"), deed.name(slot));
    let is_it = |finding: &&Value| {
        finding["place"] == place
            && finding["keys"].as_array().is_some_and(|keys| keys.contains(&name.clone().into()))
            && finding["severity"] == severity
    };
    let found = report["findings"].as_array().unwrap().iter().find(is_it);
    let found = found.unwrap_or_else(|| panic!("nothing of {deed:?} in {place}: {report:#}"));
    assert!(found["found"].as_str().unwrap().contains(said), "{found}");
}

async fn is_told_and_repeats_nothing(book: Book) {
    let mut site = Site::start(book).await;
    site.take().await;
    assert_eq!(site.doctor(0)["findings"], serde_json::json!([]), "before anything was done");
    let deeds = (0..SLOTS).flat_map(|slot| Deed::ALL.map(|deed| (deed, slot)));
    for (deed, slot) in deeds.clone() {
        site.does(deed, slot).await;
    }
    let report = site.doctor(1);
    deeds.clone().for_each(|(deed, slot)| tells(&report, deed, slot));
    for (deed, slot) in deeds.clone().filter(|(deed, _)| deed.is_error()) {
        site.advance(&deed.name(slot));
    }
    site.doctor(0);
    // What was mended holds without the cell, too.
    for (deed, slot) in deeds.filter(|(deed, _)| deed.is_error()) {
        site.forget_cell(slot, &deed.name(slot)).await;
    }
    site.doctor(0);
    site.take_more().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_hand_did_is_told_over_a_ledger_on_mariadb_and_repeats_nothing() {
    is_told_and_repeats_nothing(Book::Maria).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_hand_did_is_told_over_a_ledger_on_postgresql_and_repeats_nothing() {
    is_told_and_repeats_nothing(Book::Postgres).await;
}
