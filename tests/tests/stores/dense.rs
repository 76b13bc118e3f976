//! Dense numbers on real processes: many callers of two servers, one of which is killed; a ledger put back to a copy older
//! than its last mark while every server is stopped; and one that loses commits, killed and put back under a running server.

use std::sync::Arc;

use sequent_client::Client;
use sequent_testkit::servers::MariaDb;
use tokio::task::JoinSet;

use crate::{
    bits::Bits,
    http::Http,
    load::LOOK_EVERY,
    server::Server,
    site::{maria, password_file},
};

/// Callers of each server, and the numbers that each asks for one by one.
const CALLERS: usize = 32;
const ROUNDS: usize = 40;

/// How often a ledger that restarted is waited for: a minute at least.
const LOOKS_MAX: usize = 3_000;

/// The shards are files of one machine, and the ledger is another's.
fn config(ledger: &MariaDb, folder: &std::path::Path) -> String {
    let file = |slot: usize| folder.join(format!("shard-{slot}.db")).display().to_string();
    let (address, password) = (ledger.address(), password_file(folder, "password").display().to_string());
    format!(
        "cluster = \"c\"\n[ring]\nshard_bits = 1\nmemory_bits = 0\n[limits]\ndeadline_ms = 20000\n\
         [[sequence]]\nname = \"invoice\"\nplacement = \"dense\"\n\
         [[shard]]\nslot = 0\nstore = \"sqlite\"\npath = \"{}\"\n[[shard]]\nslot = 1\nstore = \"sqlite\"\npath = \"{}\"\n\
         [ledger]\nstore = \"mysql\"\nurl = \"mysql://sequent@{address}/ledger\"\npassword_file = \"{password}\"\n",
        file(0),
        file(1),
    )
}

/// One caller, who asks one by one: his numbers ascend. Ends where his server is gone.
async fn ask(api: std::net::SocketAddr, bits: Arc<Bits>) -> Vec<u64> {
    let mut own: Vec<u64> = Vec::new();
    let Ok(mut http) = Http::connect(api).await else { return own };
    for _ in 0..ROUNDS {
        let Ok(numbers) = http.next_of("invoice", 1).await else { break };
        assert!(own.last().is_none_or(|last| *last < numbers[0]), "{own:?} and then {numbers:?}");
        bits.add("a caller", numbers.iter().copied());
        own.extend(numbers);
    }
    own
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_server_costs_no_more_numbers_than_it_had_callers_and_an_older_ledger_gives_none() {
    let ledger = MariaDb::start().await;
    maria(&ledger, "ledger", "ledger").await;
    let folder = tempfile::tempdir().unwrap();
    let config = config(&ledger, folder.path());
    let mut servers = [Server::start(&config), Server::start(&config)];
    let bits = Arc::<Bits>::default();
    let mut callers = JoinSet::new();
    for api in servers.iter().flat_map(|server| [server.http(); CALLERS]) {
        callers.spawn(ask(api, Arc::clone(&bits)));
    }
    crate::load::until("half of them", async || bits.count() >= (CALLERS * ROUNDS) as u64).await;
    servers[0].kill();
    let mut all = callers.join_all().await.concat();
    all.sort_unstable();
    let (count, highest) = (bits.count(), *all.last().unwrap());
    assert_eq!(count, all.len() as u64);
    let lost = highest - count;
    assert!(lost <= CALLERS as u64, "{lost} of {highest} were given to nobody: only answers can be lost");
    println!(
        "{count} of {highest} numbers, none twice, {lost} lost with {CALLERS} callers of a killed server"
    );
    servers[0].restart();
    let client = Client::connect(&format!("http://{}", servers[1].grpc())).await.unwrap();
    let next = client.sequence("invoice").unwrap().next().await.unwrap().get();
    assert_eq!(u64::try_from(next).unwrap(), highest + 1, "the SDK asks one by one, and nothing is skipped");
    for server in &mut servers {
        assert_eq!(server.drain(), Some(0));
    }
    put_back(&ledger, &servers, highest + 1).await;
}

/// The ledger from a copy, with nobody running, once numbers were given since.
async fn put_back(ledger: &MariaDb, servers: &[Server; 2], mut highest: u64) {
    let old = ledger.copy().await;
    let since = servers[0].operate(&["next", "invoice", "-n", "20"]).succeeded().numbers();
    assert_eq!(since, (highest + 1..=highest + 20).collect::<Vec<_>>());
    highest += 20;
    ledger.stop().await;
    ledger.restore_from(&old).await;
    // One that kept nothing beside the shards learns it from their marks.
    servers[1].forget();
    for server in servers {
        let refused = server.operate(&["next", "invoice"]);
        refused.refused(3, &["RECOVERY_REQUIRED", "sequent recover"]);
    }
    servers[1].operate(&["recover", "--bump", "100", "--yes"]).succeeded();
    let after = servers[0].operate(&["next", "invoice", "-n", "3"]).succeeded().numbers();
    assert!(after[0] > highest, "{after:?} after {highest}");
    assert_eq!(after, (after[0]..after[0] + 3).collect::<Vec<_>>());
}

/// One number, or why there is none, once the ledger is found to be back: what restarted is away until it was seen.
async fn answered(http: &mut Http) -> Result<u64, String> {
    for _ in 0..LOOKS_MAX {
        match http.next_of("invoice", 1).await {
            Ok(numbers) => return Ok(numbers[0]),
            Err(error) if error.contains("LEDGER_UNAVAILABLE") => tokio::time::sleep(LOOK_EVERY).await,
            Err(error) => return Err(error),
        }
    }
    panic!("the ledger is away for ever");
}

/// Nothing is given, however often it is asked for.
pub(crate) async fn refuses(http: &mut Http) {
    for _ in 0..3 {
        let error = answered(http).await.unwrap_err();
        assert!(error.contains("RECOVERY_REQUIRED"), "{error}");
    }
}

pub(crate) async fn asks(http: &mut Http, count: u64, last: &mut u64) {
    for _ in 0..count {
        let number = answered(http).await.unwrap();
        assert!(number > *last, "{number} after {last}");
        *last = number;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_ledger_that_loses_commits_is_allowed_by_name_and_what_it_lost_is_given_by_nobody_again() {
    let ledger = MariaDb::start_with(&[("innodb-flush-log-at-trx-commit", "0")]).await;
    maria(&ledger, "ledger", "ledger").await;
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::start(&format!("{}allow_lossy = true\n", config(&ledger, folder.path())));
    let refused = server.operate(&["next", "invoice", "--set", "ledger.allow_lossy=false"]);
    let words =
        ["invoice", "ledger is lossy", "innodb_flush_log_at_trx_commit=0", "ledger.allow_lossy = true"];
    refused.refused(3, &words);
    let (mut http, mut last) = (Http::connect(server.http()).await.unwrap(), 0);
    asks(&mut http, 5, &mut last).await;
    let old = ledger.copy().await;
    asks(&mut http, 20, &mut last).await;
    // Killed, and as it was twenty commits before.
    ledger.restore_from(&old).await;
    refuses(&mut http).await;
    assert_eq!(server.look().await.sum("sequent_ledger_behind"), 1, "{}", server.log());
    assert!(server.log().contains("nothing is opened before `sequent recover`"), "{}", server.log());
    server.operate(&["next", "invoice"]).refused(3, &["RECOVERY_REQUIRED", "sequent recover"]);
    server.operate(&["recover", "--bump", "100", "--yes"]).succeeded();
    crate::load::until("the server goes on", async || match http.next_of("invoice", 1).await {
        Ok(numbers) => {
            assert!(numbers[0] > last, "{numbers:?} after {last}");
            last = numbers[0];
            true
        }
        Err(_) => false,
    })
    .await;
    set_back_by_hand(&ledger, &server, &mut http, last).await;
    assert_eq!(server.drain(), Some(0));
}

/// One row, under the server that counted in it.
async fn set_back_by_hand(ledger: &MariaDb, server: &Server, http: &mut Http, mut last: u64) {
    let set = async |to: u64| {
        ledger.sql(&format!("UPDATE ledger.sequent_dense SET v = {to} WHERE k = 'invoice'")).await;
    };
    asks(http, 3, &mut last).await;
    set(last - 2).await;
    refuses(http).await;
    // The log comes through a pipe, and an answer may be here before its line.
    let is_told = async || server.log().contains("dense counter went back");
    crate::load::until("the log tells of the counter", is_told).await;
    let log = server.log();
    assert_eq!(log.matches("dense counter went back").count(), 1, "told once: {log}");
    assert!(log.contains(&format!("given={last} found={}", last - 2)), "{log}");
    let look = server.look().await;
    assert_eq!(look.at("sequent_guard_violations_total{kind=\"dense_back\"}"), 1, "{log}");
    assert_eq!(look.sum("sequent_ledger_behind"), 0, "the others go on");
    assert!(server.ask("/v1/status").await.contains("dense_behind"), "status says it");
    set(last).await;
    asks(http, 3, &mut last).await;
}
