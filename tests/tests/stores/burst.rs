//! Three servers whose callers all ask at the same moment, each for a text of every one of many partitions that are new: each
//! counter is begun once, whoever meets at it.

use std::{collections::BTreeSet, path::Path, process::Command, sync::Arc};

use hyper::Method;
use sequent_testkit::servers::MariaDb;
use tokio::{sync::Barrier, task::JoinSet};

use crate::{
    http::Http,
    server::Server,
    site::{maria, password_file},
};

/// Servers, and callers of each.
const SERVERS: usize = 3;
const CALLERS: usize = 8;

/// Every partition is asked for by each caller, so that more take long and tell little.
const PARTITIONS_MAX: usize = 2000;

const SETTINGS: &str = "
cluster = \"c\"
[ring]
shard_bits = 1
# A busy machine is no slow store: whoever takes longer than the limits to begin a counter is followed by another.
slow_after_ms = 4000
attempt_timeout_ms = 8000
[limits]
deadline_ms = 30000
[[sequence]]
name = \"repair\"
template = \"@{ctx,shop,len=6}-@{seq,w=6}\"
";

/// New partitions: `SEQUENT_PARTITIONS`, by default 120.
fn partitions() -> usize {
    let given = std::env::var("SEQUENT_PARTITIONS").ok();
    let given = given.map_or(120, |count| count.parse().expect("SEQUENT_PARTITIONS is a number"));
    given.clamp(1, PARTITIONS_MAX)
}

/// One table of TOML, of a file that all servers share.
fn file(folder: &Path, table: &str, name: &str) -> String {
    format!("{table}\nstore = \"sqlite\"\npath = \"{}\"\n", folder.join(name).display())
}

fn shards(folder: &Path) -> String {
    let shard = |slot| file(folder, &format!("[[shard]]\nslot = {slot}"), &format!("shard-{slot}.db"));
    [shard(0), shard(1)].concat()
}

/// Asks for each partition once, beginning with the `first`; what it was given.
async fn call(mut http: Http, first: usize, partitions: usize, go: Arc<Barrier>) -> Vec<String> {
    go.wait().await;
    let mut texts = Vec::new();
    for at in 0..partitions {
        let body = format!("{{\"values\": {{\"shop\": \"{:06}\"}}}}", (first + at) % partitions);
        let answer = http.say(Method::POST, "/v1/sequences/repair/next", body).await.unwrap();
        assert_eq!(answer.status, 200, "{answer:?}");
        texts.push(answer.json()["texts"][0].as_str().unwrap().to_owned());
    }
    texts
}

/// All callers of all servers at once; every text is another.
async fn burst(config: &str, partitions: usize) {
    let mut servers = [(); SERVERS].map(|()| Server::start(config));
    let (go, mut callers) = (Arc::new(Barrier::new(SERVERS * CALLERS)), JoinSet::new());
    for server in &servers {
        for caller in 0..CALLERS {
            let (http, first) = (Http::connect(server.http()).await.unwrap(), caller * partitions / CALLERS);
            callers.spawn(call(http, first, partitions, Arc::clone(&go)));
        }
    }
    let mut given = BTreeSet::new();
    while let Some(texts) = callers.join_next().await {
        for text in texts.unwrap() {
            assert!(given.insert(text.clone()), "{text} was given twice");
        }
    }
    assert_eq!(given.len(), SERVERS * CALLERS * partitions);
    for server in &mut servers {
        assert_eq!(server.drain(), Some(0));
    }
}

/// So many rows and epochs that ended: each partition has a row, one for each slot at most, and no row has an epoch before its own.
fn one_epoch_each(rows: usize, ended: usize, partitions: usize) {
    println!("{rows} counters of {partitions} partitions, {ended} epochs ended");
    assert!((partitions..=2 * partitions).contains(&rows), "{rows} counters of {partitions} partitions");
    assert_eq!(ended, 0, "epochs of a counter were ended by another's");
}

/// How many rows a table of a SQLite ledger has of these partitions.
fn count(ledger: &Path, table: &str) -> usize {
    let script = format!(
        "import sqlite3, sys\n\
         db = sqlite3.connect(sys.argv[1], timeout=30)\n\
         print(db.execute(\"SELECT count(*) FROM {table} WHERE k LIKE 'repair%'\").fetchone()[0])\n"
    );
    let ran = Command::new("python3").args(["-c", &script]).arg(ledger).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap().trim().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn servers_that_meet_at_new_partitions_begin_each_counter_once_in_a_file() {
    let (folder, partitions) = (tempfile::tempdir().unwrap(), partitions());
    let ledger = file(folder.path(), "[ledger]", "ledger.db");
    burst(&[SETTINGS, &shards(folder.path()), &ledger].concat(), partitions).await;
    let count = |table| count(&folder.path().join("ledger.db"), table);
    one_epoch_each(count("counters"), count("history"), partitions);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn servers_that_meet_at_new_partitions_begin_each_counter_once_in_mariadb() {
    let (folder, partitions) = (tempfile::tempdir().unwrap(), partitions());
    let server = MariaDb::start().await;
    maria(&server, "ledger", "ledger").await;
    let secret = password_file(folder.path(), "password").display().to_string();
    let url = format!("mysql://sequent@{}/ledger", server.address());
    let ledger = format!("[ledger]\nstore = \"mysql\"\nurl = \"{url}\"\npassword_file = \"{secret}\"\n");
    burst(&[SETTINGS, &shards(folder.path()), &ledger].concat(), partitions).await;
    let count = async |table: &str| {
        let said = server.sql(&format!("SELECT count(*) FROM ledger.{table} WHERE k LIKE 'repair%'")).await;
        said.split_whitespace().next_back().unwrap().parse::<usize>().unwrap()
    };
    let (rows, ended) = (count("sequent_counters").await, count("sequent_history").await);
    one_epoch_each(rows, ended, partitions);
}
