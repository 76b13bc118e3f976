//! Callers that move from a seed-shaped table to servers one after the other, without a stop: an old program takes numbers from
//! two tables all the while.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use sequent_testkit::servers::MariaDb;
use serde_json::Value;
use tokio::task::JoinHandle;

use crate::{
    bits::Bits,
    load::{Load, until},
    place::Ran,
    server::Server,
    site::Plan,
};

const SETTINGS: &str = "
cluster = \"c\"
[ring]
shard_bits = 1
memory_bits = 0
[limits]
deadline_ms = 30000
";

pub(crate) const TABLES: &str = "
CREATE TABLE sto_code_0 (id bigint PRIMARY KEY AUTO_INCREMENT, generate_time datetime) AUTO_INCREMENT = 5000;
CREATE TABLE sto_code_1 LIKE sto_code_0;
ALTER TABLE sto_code_1 AUTO_INCREMENT = 5000;
";

/// The old program takes ten numbers every 50 ms: 200 a second.
const OLD_COUNT: usize = 10;
const OLD_EVERY: Duration = Duration::from_millis(50);

/// Numbers that the old program takes before the import, while it runs, and after callers have begun to move.
const OLD_SPENT: u64 = 200;

/// Numbers that callers take from servers meanwhile.
const NEW_SPENT: u64 = 10_000;

/// How far the tables are set past the room: farther than servers count by themselves.
const FAR: u64 = 1 << 40;

/// The room for the old program.
const ROOM: u64 = 20_000;

/// The program that counts in the tables.
pub(crate) struct Old {
    stopped: Arc<AtomicBool>,
    taken: Arc<AtomicU64>,
    work: JoinHandle<u64>,
}

impl Old {
    pub(crate) fn start(db: &Arc<MariaDb>, bits: &Arc<Bits>) -> Self {
        let (stopped, taken) = (Arc::<AtomicBool>::default(), Arc::<AtomicU64>::default());
        let (db, bits) = (Arc::clone(db), Arc::clone(bits));
        let (is_stopped, count) = (Arc::clone(&stopped), Arc::clone(&taken));
        let work = tokio::spawn(async move {
            let (mut pace, mut highest) = (tokio::time::interval(OLD_EVERY), 0);
            while !is_stopped.load(Ordering::Relaxed) {
                pace.tick().await;
                let numbers = old_numbers(&db).await;
                highest = highest.max(numbers.iter().copied().max().unwrap());
                count.fetch_add(numbers.len() as u64, Ordering::Relaxed);
                bits.add("the old program", numbers);
            }
            highest
        });
        Self { stopped, taken, work }
    }

    pub(crate) async fn takes_more(&self) {
        let goal = self.taken.load(Ordering::Relaxed) + OLD_SPENT;
        until("the old program takes more", async || self.taken.load(Ordering::Relaxed) >= goal).await;
    }

    /// Its highest number.
    pub(crate) async fn stop(self) -> u64 {
        self.stopped.store(true, Ordering::Relaxed);
        self.work.await.unwrap()
    }
}

/// Numbers as the seed's program makes them: of each table in turn, `id << 1 | index`.
async fn old_numbers(db: &MariaDb) -> Vec<u64> {
    let of_table = |index| {
        format!(
            "INSERT INTO sto_code_{index} (generate_time) VALUES (now()); SELECT LAST_INSERT_ID() << 1 | {index};\n"
        )
    };
    let statements: String = (0..OLD_COUNT).map(|at| of_table(at % 2)).collect();
    db.sql(&statements).await.lines().map(|line| line.trim().parse().unwrap()).collect()
}

/// The one counter of a report.
fn counter(ran: &Ran) -> Value {
    let counters = &ran.json()["counters"];
    assert_eq!(counters.as_array().unwrap().len(), 1, "{ran:?}");
    counters[0].clone()
}

fn number(value: &Value) -> u64 {
    value.as_str().unwrap().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn old_and_new_programs_together_give_no_number_twice_and_the_gap_is_the_plans() {
    let (db, bits) = (Arc::new(MariaDb::start().await), Arc::<Bits>::default());
    db.sql(TABLES).await;
    let plan = Plan::of(SETTINGS).ledger(&db, "ledger").await;
    let plan = plan.shard(0, &db, "shard0").await.shard(1, &db, "shard1").await;
    let servers = [Server::start(&plan.text), Server::start(&plan.text)];
    let place = crate::place::Place::new();
    let file = place.path("source");
    std::fs::write(&file, db.url()).unwrap();
    let (file, room) = (file.display().to_string(), ROOM.to_string());
    let import = ["import", "--source-file", &file, "--json"];

    let old = Old::start(&db, &bits);
    old.takes_more().await;
    let ahead = [&import[..], &["--ahead", &room]].concat();
    let planned = counter(&servers[0].operate(&ahead).succeeded());
    let done = counter(&servers[0].operate(&[&ahead[..], &["--yes"]].concat()).succeeded());
    assert_eq!((&done["action"], &done["sequence"]), (&"define".into(), &"sto".into()));
    let to = number(&done["to"]);
    assert!(to >= number(&planned["to"]), "{planned} {done}");
    let load = Load::of("sto", &servers, &bits);
    old.takes_more().await;
    load.more(NEW_SPENT).await;
    old.takes_more().await;
    let last = old.stop().await;
    load.nobody_failed(0, "the move");

    let verify = [&import[..], &["--verify", "--watch-s", "0"]].concat();
    let kept = counter(&servers[1].operate(&verify).succeeded());
    assert_eq!(
        (&kept["standing"], number(&kept["last"]), &kept["gap"]),
        (&"kept".into(), last, &(to - last).into())
    );

    // Tables that were set past the room are found. The same import makes way for them, and servers follow under load.
    db.sql(&format!("ALTER TABLE sto_code_1 AUTO_INCREMENT = {}", to + FAR)).await;
    let passed = servers[1].operate(&verify);
    assert_eq!((passed.code, &counter(&passed)["standing"]), (Some(3), &"passed".into()), "{passed:?}");
    let again = counter(&servers[1].operate(&[&ahead[..], &["--yes"]].concat()).succeeded());
    assert_eq!(again["action"], "advance", "{again}");
    let far = number(&again["to"]);
    until("both servers are above", async || {
        let mut lowest = u64::MAX;
        for server in &servers {
            let mut http = crate::http::Http::connect(server.http()).await.unwrap();
            lowest = lowest.min(http.next_of("sto", 1).await.unwrap()[0]);
        }
        lowest > far
    })
    .await;
    load.end().await;
}
