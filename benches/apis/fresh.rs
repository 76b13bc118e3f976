//! S8: the SDK's callers that want fresh numbers, merged into few calls, beside as many that call for themselves.

use std::cell::Cell;

use sequent_benches::{Row, cpu_of};
use sequent_client::{Client, Sequence};
use sequent_core::{Clock, SystemClock};
use tokio::runtime::Runtime;

use crate::{
    callers::{Names, calling, runtime, unary},
    child::Server,
    load::Found,
    plan::{Cost, Loading, Plan},
    serve::SEQUENT,
};

/// The goal's callers.
const CALLERS: u64 = 64;

/// Requests that a server was asked, over all APIs.
const REQUESTS: &str = "sequent_requests_total";

/// What a side costs the process of its callers.
#[derive(Default)]
struct Spent {
    seconds: Cell<f64>,
    numbers: Cell<f64>,
}

impl Spent {
    fn on(&self, calls: impl FnOnce() -> Result<Found, String>) -> Result<Found, String> {
        let before = cpu_of("self")?;
        let found = calls()?;
        let spent = cpu_of("self")?.saturating_sub(before).as_secs_f64();
        self.seconds.set(self.seconds.get() + spent);
        self.numbers.set(self.numbers.get() + found.done);
        Ok(found)
    }

    fn micros(&self) -> f64 {
        self.seconds.get() / self.numbers.get() * 1e6
    }
}

pub(crate) fn run(
    plan: &Plan,
    (rows, costs, notes): (&mut Vec<Row>, &mut Vec<Cost>, &mut Vec<(&'static str, f64)>),
) -> Result<(), String> {
    let runtime = runtime()?;
    let (subject, baseline) = (Server::start(SEQUENT)?, Server::start(SEQUENT)?);
    let orders = runtime.block_on(orders(&subject))?;
    let (merged, alone) = (Spent::default(), Spent::default());
    let sdk = |_: &Server| merged.on(|| fresh(&runtime, &orders, plan.load.seconds));
    let tonic = |server: &Server| {
        let to = server.addresses[0];
        alone.on(|| runtime.block_on(unary(to, CALLERS, Names::Order, plan.load)))
    };
    let before = subject.metric(REQUESTS)?;
    let loads: (Loading<'_>, Loading<'_>) = (&sdk, &tonic);
    plan.pair(("S8", 8.0), (&subject, &baseline), loads, (rows, costs))?;
    let requests = subject.metric(REQUESTS)? - before;
    notes.push(("S8: numbers a merged call", merged.numbers.get() / requests));
    notes.push(("S8: us of processor time of the callers' process a number, merged", merged.micros()));
    notes.push(("S8: us of processor time of the callers' process a number, each alone", alone.micros()));
    Ok(())
}

async fn orders(server: &Server) -> Result<Sequence, String> {
    let client = Client::connect(&format!("http://{}", server.addresses[0])).await;
    client.and_then(|client| client.sequence("order")).map_err(|error| format!("SDK: {error}"))
}

fn fresh(runtime: &Runtime, orders: &Sequence, seconds: u64) -> Result<Found, String> {
    runtime.block_on(calling(CALLERS, seconds, |_, until| {
        let orders = orders.clone();
        async move {
            let mut done = 0;
            while SystemClock.now() < until {
                orders.next_fresh().await.map_err(|error| format!("SDK: {error}"))?;
                done += 1;
            }
            Ok(done)
        }
    }))
}
