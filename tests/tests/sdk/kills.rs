//! One of two servers over one cluster dies, or drains, under load: the SDK that knows both sees no failed request.

use std::{
    collections::HashSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use sequent_client::{Client, Error, Number, Sequence};
use tokio::{task::JoinHandle, time::sleep};

use crate::{place::Place, server::Server};

/// How often a server is killed.
const KILLS: usize = 10;

/// Longer than a busy machine stands still: what is tested where servers drain is that nobody is refused.
const STANDSTILL: Duration = Duration::from_secs(5);

/// Callers of every kind, until they are told to stop.
struct Load {
    callers: Vec<JoinHandle<()>>,
    stop: Arc<AtomicBool>,
    given: Arc<Mutex<Given>>,
}

#[derive(Default)]
struct Given {
    numbers: HashSet<Number>,
    repeats: Vec<Number>,
    errors: Vec<Error>,
    calls: usize,
}

impl Given {
    fn add(&mut self, outcome: Result<Vec<Number>, Error>) {
        self.calls += 1;
        match outcome {
            Ok(numbers) => {
                let repeats = numbers.into_iter().filter(|number| !self.numbers.insert(*number));
                self.repeats.extend(repeats.collect::<Vec<_>>());
            }
            Err(error) => self.errors.push(error),
        }
    }
}

impl Load {
    fn start(sequence: &Sequence) -> Self {
        let (stop, given) = (Arc::new(AtomicBool::new(false)), Arc::<Mutex<Given>>::default());
        let caller = |kind: usize| {
            let (sequence, stop, given) = (sequence.clone(), Arc::clone(&stop), Arc::clone(&given));
            tokio::spawn(async move {
                while !stop.load(Ordering::Relaxed) {
                    let outcome = match kind % 3 {
                        0 => sequence.next_fresh().await.map(|number| vec![number]),
                        1 => sequence.next_many(50).await,
                        _ => sequence.next().await.map(|number| vec![number]),
                    };
                    given.lock().unwrap().add(outcome);
                    sleep(Duration::from_millis(2)).await;
                }
            })
        };
        let callers = (0..12).map(caller).collect();
        Self { callers, stop, given }
    }

    /// So many more calls, which shows that service goes on.
    async fn goes_on(&self, calls: usize) {
        let now = || self.given.lock().unwrap().calls;
        let goal = now() + calls;
        tokio::time::timeout(Duration::from_secs(60), async {
            while now() < goal {
                sleep(Duration::from_millis(10)).await;
            }
        })
        .await
        .expect("service goes on");
    }

    async fn end(self) {
        self.stop.store(true, Ordering::Relaxed);
        for caller in self.callers {
            caller.await.unwrap();
        }
        let given = self.given.lock().unwrap();
        println!("{} calls, {} numbers", given.calls, given.numbers.len());
        assert!(
            given.errors.is_empty(),
            "{} failed requests: {:?}",
            given.errors.len(),
            given.errors.first()
        );
        assert!(given.repeats.is_empty(), "given twice: {:?}", given.repeats);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_again_and_again_nobody_sees_a_failed_request() {
    let place = Place::new();
    place.numbers(&["next", "order", "-n", "5"]);
    let mut servers = [Server::start(&place), Server::start(&place)];
    let addresses = format!("{},{}", servers[0].address(), servers[1].address());
    let client = Client::connect(&addresses).await.unwrap();
    let load = Load::start(&client.sequence("order").unwrap());
    for kill in 0..KILLS {
        load.goes_on(100).await;
        let victim = &mut servers[kill % 2];
        victim.kill();
        load.goes_on(100).await;
        victim.restart(&place);
        // The next victim is the other one: this one must be found to be back before that.
        all_live(&client).await;
    }
    load.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_hangs_costs_no_request() {
    let place = Place::new();
    place.numbers(&["next", "order", "-n", "5"]);
    let servers = [Server::start(&place), Server::start(&place)];
    let addresses = format!("{},{}", servers[0].address(), servers[1].address());
    let client = Client::connect(&addresses).await.unwrap();
    let load = Load::start(&client.sequence("order").unwrap());
    for server in &servers {
        load.goes_on(200).await;
        server.hang(&place.ledger());
        // Longer than an attempt may last, and than slowness is borne with.
        sleep(Duration::from_secs(4)).await;
        load.goes_on(200).await;
        server.signal("CONT");
        all_live(&client).await;
    }
    load.end().await;
}

/// Who is back is found to be back.
async fn all_live(client: &Client) {
    let live = async {
        while !client.endpoints().iter().all(|(_, live)| *live) {
            sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), live).await.expect("who is back is found to be back");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_drains_costs_no_request() {
    let place = Place::new();
    place.numbers(&["next", "order", "-n", "5"]);
    let mut servers = [Server::start(&place), Server::start(&place)];
    let addresses = format!("{},{}", servers[0].address(), servers[1].address());
    let client = Client::connect(&addresses).await.unwrap();
    let load = Load::start(&client.sequence("order").unwrap().deadline(STANDSTILL));
    for server in &mut servers {
        load.goes_on(200).await;
        let code = tokio::task::block_in_place(|| server.drain());
        assert_eq!(code, Some(0));
        load.goes_on(200).await;
        server.restart(&place);
        all_live(&client).await;
    }
    load.end().await;
}
