//! The ledger away for as long as it may be, under a steady load of many sequences: nobody notices for four fifths of that time,
//! also where the pace doubles at the moment when it goes, and what is given was acknowledged before.
//!
//! `SEQUENT_FAILOVER=full`: for ten minutes, at a pace that stays; otherwise it doubles for half of the sequences.

use std::{
    collections::HashMap,
    fmt::Write as _,
    ops::Range,
    path::Path,
    time::{Duration, Instant},
};

use sequent_testkit::proxy::Mode;
use tempfile::TempDir;
use tokio::time::sleep;

use crate::{
    harness::{PATIENCE, until},
    paced::{Notes, Paced},
    ring::{Ring, Store},
    scale::Scale,
    server::Server,
    site::{ledger_away, password_file},
};

/// 2,000 numbers a second, of 50 sequences by two servers.
const KEYS: usize = 50;
const COUNT: usize = 5;
const EVERY: Duration = Duration::from_millis(250);

/// A machine shared with others may be slow, and no request is to fail for that.
const SETTINGS: &str = "
cluster = \"c\"
auto_create = [\"*\"]
[ring]
shard_bits = 2
memory_bits = 0
[limits]
deadline_ms = 5000
";

/// Everything that there is.
struct Site {
    // First: the servers go before their stores.
    servers: [Server; 2],
    ring: Ring,
    names: Vec<String>,
    _folder: TempDir,
}

/// The highest raw id of each sequence and slot that the ledger has acknowledged.
type Ceilings = HashMap<(String, u64), u64>;

impl Site {
    async fn start(outage: Duration) -> Self {
        let ring = Ring::start().await;
        let folder = tempfile::tempdir().unwrap();
        let config = config(&ring, folder.path(), outage);
        let servers = [Server::start(&config), Server::start(&config)];
        let names = (0..KEYS).map(|key| format!("order{key}")).collect();
        Self { servers, ring, names, _folder: folder }
    }

    async fn ceilings(&self) -> Ceilings {
        let sql = "SELECT k, slot, ceiling FROM sequent_test.sequent_counters";
        let row = |row: &str| {
            let [key, slot, ceiling] = row.split('\t').collect::<Vec<_>>()[..] else { panic!("{row}") };
            ((key.to_owned(), slot.parse().unwrap()), ceiling.parse().unwrap())
        };
        self.ring.ledger.db.sql(sql).await.lines().map(row).collect()
    }

    /// Waits until every server has given numbers of every sequence since then.
    async fn all_give(&self, notes: &Notes, since: Instant) -> bool {
        until(PATIENCE, async || {
            let mut left: Vec<_> = (0..KEYS).flat_map(|key| [(key, 0), (key, 1)]).collect();
            for (from, _) in notes.given(|from| from.at > since) {
                left.retain(|caller| *caller != (from.key, from.server));
            }
            left.is_empty()
        })
        .await
    }
}

fn config(ring: &Ring, folder: &Path, outage: Duration) -> String {
    let password = password_file(folder, "password");
    let url = |store: &Store| {
        let (address, file) = (store.wire.address(), password.display());
        format!("url = \"mysql://sequent@{address}/sequent_test\"\npassword_file = \"{file}\"\n")
    };
    let mut text = SETTINGS.to_owned();
    for (slot, store) in ring.slots.iter().enumerate() {
        writeln!(text, "[[shard]]\nslot = {slot}\nstore = \"{}\"\n{}", store.kind, url(store)).unwrap();
    }
    writeln!(text, "{}store = \"mysql\"\n{}", ledger_away(outage), url(&ring.ledger)).unwrap();
    text
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn for_four_fifths_of_the_time_that_the_ledger_may_be_away_nobody_notices() {
    let scale = Scale::from_environment();
    let outage = scale.ledger_outage();
    let mut site = Site::start(outage).await;
    let load = Paced::start(&site.servers.each_ref().map(Server::http), &site.names, COUNT, EVERY);
    assert!(site.all_give(&load.notes, Instant::now()).await, "not all sequences are served");
    sleep(scale.before_outage()).await;

    let first = load.notes.refused(|_| true);
    println!("{} refusals before the ledger goes, the latest: {:?}", first.len(), first.last());
    site.ring.ledger.wire.set(Mode::BlackHole).await;
    let (struck, ceilings) = (Instant::now(), site.ceilings().await);
    load.ask_for(scale.doubling(KEYS), 2 * COUNT);
    sleep(outage).await;
    site.ring.ledger.wire.set(Mode::Pass).await;
    let back = Instant::now();
    let served = site.all_give(&load.notes, back).await;
    println!("all are served {:?} after the ledger's return", back.elapsed());
    // None of those who ask now was held up before.
    let calm = Instant::now();
    assert!(site.all_give(&load.notes, calm).await, "not all sequences go on");
    let notes = load.end().await;

    let mut faults: Vec<String> = early(&notes, struck, outage).into_iter().collect();
    faults.extend(above(&notes, &site.names, &ceilings, struck..back));
    if !served {
        faults.push(format!("not all sequences are served {PATIENCE:?} after the ledger's return"));
    }
    let after = notes.refused(|from| from.at > calm);
    faults
        .extend(after.first().map(|(_, text)| format!("{} fail with the ledger back: {text}", after.len())));
    let twice = notes.twice().len();
    if twice > 0 {
        faults.push(format!("{twice} numbers were given twice"));
    }
    for server in &mut site.servers {
        assert_eq!(server.drain(), Some(0));
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// Requests that failed before four fifths of the time were over.
fn early(notes: &Notes, struck: Instant, outage: Duration) -> Option<String> {
    let refused = notes.refused(|from| from.at >= struck);
    let (first, text) = refused.first()?;
    let (first, bound) = (first.at - struck, outage * 4 / 5);
    println!("{} refusals, the first {first:?} after the ledger went: {text}", refused.len());
    let early = refused.iter().filter(|(from, _)| from.at < struck + bound).count();
    (early > 0)
        .then(|| format!("{early} requests failed before {bound:?}, the first after {first:?}: {text}"))
}

/// What was given above what the ledger had acknowledged.
fn above(notes: &Notes, names: &[String], ceilings: &Ceilings, away: Range<Instant>) -> Option<String> {
    let given = notes.given(|from| away.contains(&from.at));
    let is_above = |key: usize, number: u64| {
        // Four slots, one number an id.
        let (slot, raw) = ((number + 3) & 3, (number + 3) >> 2);
        ceilings.get(&(names[key].clone(), slot)).is_none_or(|ceiling| raw > *ceiling)
    };
    let above: Vec<_> = given.iter().filter(|(from, number)| is_above(from.key, *number)).collect();
    println!("{} numbers without the ledger, {} above their ceilings", given.len(), above.len());
    let (first, _) = above.first()?;
    let (count, first) = (above.len(), first.at - away.start);
    Some(format!("{count} of {} numbers were above their ceilings, the first after {first:?}", given.len()))
}
