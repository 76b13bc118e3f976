//! A ledger and all its shards put back together to one old copy, with every server stopped: nothing inside is newer, and
//! only who was given numbers knows. The SDK, which runs all the time, tells what it was given, and is refused.

use std::{sync::Arc, time::Duration};

use hyper::Method;
use sequent_client::{Client, Error, ErrorKind, Sequence};
use sequent_testkit::servers::MariaDb;

use crate::{
    bits::Bits,
    http::Http,
    load::until,
    server::Server,
    site::{maria, password_file},
};

/// Numbers before the copy, and after it: many more than ceilings lie ahead.
const BEFORE: u64 = 200;
const AFTER: u64 = 20_000;

/// More raw ids than any counter can have given after the copy.
const LOSS: &str = "1000000";

/// Everything on one server, so that one copy has all of it.
fn config(db: &MariaDb, password: &str) -> String {
    let at = |name: &str| {
        let address = db.address();
        format!("url = \"mysql://sequent@{address}/{name}\"\npassword_file = \"{password}\"\n")
    };
    format!(
        "cluster = \"c\"\n[ring]\nshard_bits = 1\nmemory_bits = 0\nrescue_after_max_s = 1\n\
         [reservoir]\nat_risk_max = 512\n[limits]\nlease_max_count = 200\n[[sequence]]\nname = \"order\"\n\
         [[shard]]\nslot = 0\nstore = \"mysql-row\"\n{}[[shard]]\nslot = 1\nstore = \"mysql-row\"\n{}\
         [ledger]\noutage_s = 1\nstore = \"mysql\"\n{}",
        at("shard0"),
        at("shard1"),
        at("ledger"),
    )
}

/// How often who can't be served now asks again, and after how long: a minute of it.
const AGAIN_MAX: u64 = 3_000;
const AGAIN: Duration = Duration::from_millis(20);

/// So many numbers, none of them given before; who can't be served now is patient.
async fn take(orders: &Sequence, count: u64, bits: &Bits) -> u64 {
    let (mut highest, mut taken) = (0, 0);
    for _ in 0..count + AGAIN_MAX {
        if taken == count {
            return highest;
        }
        match orders.next().await {
            Ok(number) => {
                let number = u64::try_from(number.get()).unwrap();
                highest = highest.max(number);
                bits.add("the sdk", [number]);
                taken += 1;
            }
            Err(error) if error.is_retryable() => tokio::time::sleep(AGAIN).await,
            Err(error) => panic!("{error:?}"),
        }
    }
    panic!("{taken} of {count} numbers");
}

/// Goes on until the lease in hand is used up, and the next is refused.
async fn refusal(orders: &Sequence, highest: u64, bits: &Bits) -> Error {
    let mut last = 0;
    for _ in 0..2_000 {
        match orders.next().await {
            Ok(number) => {
                last = u64::try_from(number.get()).unwrap();
                bits.add("from the lease in hand", [last]);
            }
            Err(error) if error.is_retryable() => tokio::time::sleep(AGAIN).await,
            Err(error) => return error,
        }
    }
    panic!("nobody noticed: {highest} was given before all went back, the last one after is {last}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_ledger_and_all_shards_put_back_together_are_told_by_the_sdk_that_runs() {
    let db = MariaDb::start().await;
    maria(&db, "shard0", "mysql-row").await;
    maria(&db, "shard1", "mysql-row").await;
    maria(&db, "ledger", "ledger").await;
    let folder = tempfile::tempdir().unwrap();
    let mut server =
        Server::start(&config(&db, &password_file(folder.path(), "password").display().to_string()));
    let client = Client::connect(&format!("http://{}", server.grpc())).await.unwrap();
    let (orders, bits) = (client.sequence("order").unwrap(), Arc::<Bits>::default());
    take(&orders, BEFORE, &bits).await;
    let old = db.copy().await;
    let highest = take(&orders, AFTER, &bits).await;
    assert_eq!(server.drain(), Some(0));
    // A new machine in the place of the old one: what it kept beside the databases is gone, too.
    server.forget();
    db.stop().await;
    db.restore_from(&old).await;
    server.restart();
    let error = refusal(&orders, highest, &bits).await;
    assert_eq!((error.kind(), error.reason()), (ErrorKind::ClusterBehind, "CLUSTER_BEHIND"), "{error:?}");
    assert_eq!(orders.next_fresh().await.unwrap_err().kind(), ErrorKind::ClusterBehind);
    let mut http = Http::connect(server.http()).await.unwrap();
    let path = format!("/v1/sequences/order/next?above={highest}");
    let answer = http.ask(Method::POST, &path).await.unwrap();
    assert_eq!((answer.status, &answer.json()["reason"]), (409, &"CLUSTER_BEHIND".into()), "{answer:?}");
    told(&server).await;
    server.operate(&["recover", "--bump", LOSS, "--yes"]).succeeded();
    until("the sdk goes on", async || match orders.next().await {
        Ok(number) => {
            bits.add("after the recovery", [u64::try_from(number.get()).unwrap()]);
            true
        }
        Err(_) => false,
    })
    .await;
    assert!(take(&orders, BEFORE, &bits).await > highest);
    assert_eq!(server.drain(), Some(0));
    another_ledger_is_refused(&db, &server, &bits).await;
    println!("{} numbers, none twice", bits.count());
}

/// An empty ledger over the shards of another: nothing is given, and the own one goes on.
async fn another_ledger_is_refused(db: &MariaDb, server: &Server, bits: &Bits) {
    maria(db, "ledger2", "ledger").await;
    let other = format!("ledger.url=mysql://sequent@{}/ledger2", db.address());
    server.operate(&["next", "order", "--set", &other]).refused(3, &["another ledger"]);
    let own = server.operate(&["next", "order", "-n", "10"]).succeeded().numbers();
    bits.add("by the own ledger", own);
}

/// In status, log and metric.
async fn told(server: &Server) {
    assert!(server.look().await.sum("sequent_cluster_behind_total") >= 3, "{}", server.log());
    let line = "a caller was given a number that this cluster can't have given";
    assert!(server.log().contains(line), "{}", server.log());
    until("the status has it", async || {
        let status: serde_json::Value = serde_json::from_str(&server.ask("/v1/status").await).unwrap();
        status["behind"][0]["key"] == "order" && status["behind"][0]["above"].is_string()
    })
    .await;
}
