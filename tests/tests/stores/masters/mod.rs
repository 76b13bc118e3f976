//! Dense numbers where the ledger is one of two MariaDB servers that replicate without waiting for each other: with a server
//! on each of the two, and with one server moved to the other. No number is given twice, or it is refused by name.

mod pair;

use std::time::{Duration, Instant};

use sequent_testkit::servers::MariaDb;
use tokio::time::sleep;

use crate::{
    load::until,
    paced::{Notes, Paced},
    place::Ran,
    server::Server,
};
use pair::{Pair, Shards};

/// For how long numbers are asked for where something may repeat, and before it.
const STRETCH: Duration = Duration::from_secs(20);
const WARM: Duration = Duration::from_secs(4);

/// Of each server's caller: 80 a second in all.
const EVERY: Duration = Duration::from_millis(25);

/// What is refused: the reasons that a server may have to give no dense number.
const REASONS: [(&str, &str); 2] = [("409 ", "RECOVERY_REQUIRED"), ("503 ", "LEDGER_UNAVAILABLE")];

fn load(servers: &[Server; 2]) -> Paced {
    Paced::start(&servers.each_ref().map(Server::http), &["invoice".to_owned()], 1, EVERY)
}

/// Waits until each server has given something.
async fn both_give(load: &Paced) {
    let gives = |server| !load.notes.given(|from| from.server == server).is_empty();
    until("both servers give", async || gives(0) && gives(1)).await;
}

/// A server on each of two masters that follow each other.
async fn apart(what: &str, shards: Shards<'_>, contradicting: bool) -> Vec<String> {
    let pair = Pair::start(!contradicting).await;
    pair.close_the_circle().await;
    let first = match pair.server(0, &shards) {
        Ok(server) => server,
        Err(ran) => return named(what, &ran),
    };
    // What the first has founded.
    pair.two.has_applied(&pair.one).await;
    pair.switches[1].turn_to(pair.two.address()).await;
    let second = match pair.server(1, &shards) {
        Ok(server) => server,
        Err(ran) => return named(what, &ran),
    };
    let mut servers = [first, second];
    let load = load(&servers);
    let since = Instant::now();
    both_give(&load).await;
    if contradicting {
        pair.contradict().await;
    }
    sleep(STRETCH).await;
    judged(what, load, &mut servers, since).await
}

/// Two servers on one master, of which one is moved to the other: both masters take writes then.
async fn moved(what: &str, shards: Shards<'_>, in_a_circle: bool) -> Vec<String> {
    let pair = Pair::start(in_a_circle).await;
    let [first, second] = [0, 1].map(|switch| pair.server(switch, &shards));
    let mut servers = match (first, second) {
        (Ok(first), Ok(second)) => [first, second],
        (Err(ran), _) | (_, Err(ran)) => return vec![format!("{what}: a primary was refused: {}", ran.err)],
    };
    let load = load(&servers);
    both_give(&load).await;
    sleep(WARM).await;
    if in_a_circle {
        pair.close_the_circle().await;
    } else {
        pair.two.sql("STOP SLAVE").await;
    }
    pair.switches[1].turn_to(pair.two.address()).await;
    let since = Instant::now();
    sleep(STRETCH).await;
    judged(what, load, &mut servers, since).await
}

/// Refused at the start: by name, or it is a fault.
fn named(what: &str, ran: &Ran) -> Vec<String> {
    println!("{what}: refused at the start, {:?}: {}", ran.code, ran.err);
    let names = ran.err.to_lowercase();
    let is_named = ran.code != Some(0) && names.contains("replica") && names.contains("ledger");
    (!is_named).then(|| format!("{what}: refused, and not by name: {}", ran.err)).into_iter().collect()
}

/// What is wrong with what was given and refused.
async fn judged(what: &str, load: Paced, servers: &mut [Server; 2], since: Instant) -> Vec<String> {
    println!("{what}:");
    let notes = load.end().await;
    let mut faults = Vec::new();
    for server in servers {
        // It may have stopped for good: what it says of that was looked at.
        server.drain();
    }
    let twice = notes.twice().len();
    let given = notes.given(|_| true).len();
    if twice > 0 {
        faults.push(format!("{what}: {twice} of {given} numbers were given twice"));
    }
    faults.extend(unnamed(what, &notes, since));
    faults
}

/// Refusals without one of the reasons.
fn unnamed(what: &str, notes: &Notes, since: Instant) -> Option<String> {
    for server in [0, 1] {
        let given = notes.given(|from| from.server == server && from.at >= since);
        let refused = notes.refused(|from| from.server == server);
        println!(
            "    server {server}: {} given since, {} refused: {:?}",
            given.len(),
            refused.len(),
            refused.last()
        );
    }
    let said = |text: &str, (status, reason): (&str, &str)| text.starts_with(status) && text.contains(reason);
    let is_named = |text: &str| REASONS.iter().any(|reason| said(text, *reason));
    let refused = notes.refused(|_| true);
    let unnamed: Vec<_> = refused.iter().filter(|(_, text)| !is_named(text)).collect();
    let (_, first) = unnamed.first()?;
    Some(format!("{what}: {} refusals name no reason, the first: {first}", unnamed.len()))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_ledger_on_two_masters_gives_no_dense_number_twice_or_is_refused_by_name() {
    let db = MariaDb::start().await;
    let mut shards = Vec::new();
    for of in ["healthy", "broken", "circle", "promoted"] {
        shards.push(Shards::on(&db, of).await);
    }
    let [healthy, broken, circle, promoted] = shards.try_into().unwrap_or_else(|_| unreachable!());
    // Boxed: so many starts at once are a large future.
    let (a, b, c, d) = tokio::join!(
        Box::pin(apart("a server on each of two masters", healthy, false)),
        Box::pin(apart("a server on each of two masters that contradict each other", broken, true)),
        Box::pin(moved("a server moved to the other master", circle, true)),
        Box::pin(moved("a server moved to a promoted replica", promoted, false)),
    );
    let faults = [a, b, c, d].concat();
    assert!(faults.is_empty(), "{faults:#?}");
}
