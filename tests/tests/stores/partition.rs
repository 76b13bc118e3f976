//! The network parts, and a database fails over meanwhile: a server, the old primary and no ledger on one side; a server, the
//! promoted standby and the ledger on the other. Whatever either side gives, nobody gives it again.
//!
//! `SEQUENT_PARTITION=full`: with an outage of 600 s survived, which is the default.

use std::time::{Duration, Instant};

use tokio::time::sleep;

use crate::{
    load::until,
    paced::{Notes, Paced},
    pair::{Ceilings, Site},
};

/// The servers: who loses the ledger, and who keeps it.
const A: usize = 0;
const B: usize = 1;

/// Requests: 200 a second by eight callers, of three numbers each.
const EVERY: Duration = Duration::from_millis(40);
const COUNT: usize = 3;

/// Before the network parts: the pace is known by then.
const WARM: Duration = Duration::from_secs(10);

/// After it was healed.
const AFTER: Duration = Duration::from_secs(15);

/// For so long nobody was given anything by who has run out.
const SILENT: Duration = Duration::from_secs(3);

/// How long what.
struct Scale {
    /// Numbers are to go on for so long without the ledger.
    outage: Duration,
    /// The network stays parted for so long at least; and until the server without a ledger has run out.
    parted: Duration,
    /// But no longer than this.
    given_up: Duration,
}

impl Scale {
    fn from_environment() -> Self {
        let (outage, parted, given_up) = match std::env::var("SEQUENT_PARTITION") {
            Ok(word) => {
                assert_eq!(word, "full", "SEQUENT_PARTITION: only \"full\" is known");
                (600, 540, 3600)
            }
            // Twice the outage at the busiest ten seconds, which filled the reserves too: up to a minute, and more where a
            // machine is slow.
            Err(_) => (12, 30, 180),
        };
        let [outage, parted, given_up] = [outage, parted, given_up].map(Duration::from_secs);
        Self { outage, parted, given_up }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_fails_over_beyond_a_partition_and_no_number_is_given_twice() {
    let scale = Scale::from_environment();
    let mut site = Site::start(scale.outage).await;
    let names = [0, 1, 2, 3].map(|key| format!("order{key}"));
    let apis = [site.servers[A].http(), site.servers[B].http()];
    let load = Paced::start(&apis, &names, COUNT, EVERY);
    sleep(WARM).await;
    let ceilings = site.part().await;
    let parted = Instant::now();
    site.fail_over().await;
    sleep(scale.parted).await;
    let ran_out = runs_out(&load.notes, parted, scale.given_up).await;
    let healed = Instant::now();
    site.heal().await;
    until("it goes on", async || !load.notes.given(|from| from.server == A && from.at > healed).is_empty())
        .await;
    println!("parted for {:?}, served again after {:?}", healed - parted, healed.elapsed());
    sleep(AFTER).await;
    let notes = load.end().await;

    let mut faults = Vec::new();
    if !ran_out {
        faults.push("the server without a ledger never ran out".to_owned());
    }
    faults.extend(above(&notes, &names, &ceilings, parted..healed));
    faults.extend(refusals(&notes, parted..healed));
    let twice = notes.twice().len();
    if twice > 0 {
        let late = notes.twice().iter().filter(|(_, _, from)| from.at > healed).count();
        faults.push(format!("{twice} numbers were given twice, {late} of them after the network was healed"));
    }
    for server in &mut site.servers {
        assert_eq!(server.drain(), Some(0));
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// Waits until the server without a ledger gives nothing; whether it came to that in time.
async fn runs_out(notes: &Notes, parted: Instant, within: Duration) -> bool {
    loop {
        let now = Instant::now();
        if notes.given(|from| from.server == A && from.at + SILENT > now).is_empty() {
            let last = notes.given(|from| from.server == A).last().map(|(from, _)| from.at);
            println!(
                "it ran out {:?} after the network parted",
                last.map(|at| at.saturating_duration_since(parted))
            );
            return true;
        }
        if now > parted + within {
            return false;
        }
        sleep(SILENT / 4).await;
    }
}

/// What the server without a ledger gave above what the ledger had acknowledged.
fn above(
    notes: &Notes,
    names: &[String],
    ceilings: &Ceilings,
    while_parted: std::ops::Range<Instant>,
) -> Option<String> {
    let given = notes.given(|from| from.server == A && while_parted.contains(&from.at));
    let above = given.iter().filter(|(from, number)| ceilings.are_below(&names[from.key], *number)).count();
    println!("{} numbers without the ledger, {above} above their ceilings", given.len());
    (above > 0).then(|| format!("{above} of {} numbers were above their ceilings", given.len()))
}

/// Who has the ledger never refuses; who lost it says so, and nothing else.
fn refusals(notes: &Notes, while_parted: std::ops::Range<Instant>) -> Vec<String> {
    let mut faults = Vec::new();
    let stopped = notes.refused(|from| from.server == B && from.at >= while_parted.start);
    if let Some((_, first)) = stopped.first() {
        faults.push(format!(
            "{} requests of the server with the ledger failed, the first: {first}",
            stopped.len()
        ));
    }
    let refused = notes.refused(|from| from.server == A && while_parted.contains(&from.at));
    println!("{} refusals without the ledger", refused.len());
    if refused.is_empty() {
        faults.push("the server without a ledger never refused".to_owned());
    }
    // Where a slot beyond the partition was waited for in vain, each slot is named with its cause.
    let names = ["LEDGER_UNAVAILABLE", "no-witness"];
    let is_named = |text: &str| text.starts_with("503 ") && names.iter().any(|name| text.contains(name));
    let unnamed: Vec<_> = refused.iter().filter(|(_, text)| !is_named(text)).collect();
    if let Some((_, first)) = unnamed.first() {
        faults.push(format!("{} refusals name something else, the first: {first}", unnamed.len()));
    }
    faults
}
