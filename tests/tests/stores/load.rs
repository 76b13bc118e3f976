//! Callers over HTTP who go on whatever happens, and what they were given.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::task::JoinSet;

use crate::{bits::Bits, http::Http, server::Server};

/// Between two looks, and how long anything may take that has no bound of its own.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(20);
const PATIENCE: Duration = Duration::from_secs(60);

/// Numbers of each request: few, so that the stores are asked all the time.
const COUNT: usize = 40;

/// Between two tries of a caller who was refused.
const REST: Duration = Duration::from_millis(20);

/// After so many numbers of a slot nothing is left of what two servers had in memory when they were begun to be counted, where
/// `reservoir.at_risk_max` is 512.
const SPENT: u64 = 2_500;

/// Numbers after the copy: 10^4, or what `SEQUENT_NUMBERS` asks for, up to 10^5.
pub(crate) fn many() -> u64 {
    let given = std::env::var("SEQUENT_NUMBERS").ok();
    given.map_or(10_000, |count| {
        count.parse::<u64>().expect("SEQUENT_NUMBERS is a number").clamp(10_000, 100_000)
    })
}

/// Waits until it is so.
pub(crate) async fn until(what: &str, mut ask: impl AsyncFnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !ask().await {
        assert!(Instant::now() < end, "{what}: not within {PATIENCE:?}");
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Callers of both servers over HTTP, until told to stop; each number noted, refusals counted.
pub(crate) struct Load {
    pub(crate) bits: Arc<Bits>,
    stopped: Arc<AtomicBool>,
    /// Requests that were refused so far.
    pub(crate) refused: Arc<AtomicU64>,
    tally: Arc<Tally>,
    callers: JoinSet<()>,
}

/// What callers had to say beside the numbers themselves.
#[derive(Default)]
struct Tally {
    /// Numbers by their lowest two bits.
    of_slots: [AtomicU64; 4],
    /// The latest refusal.
    refusal: Mutex<String>,
}

impl Tally {
    fn add(&self, numbers: &[u64]) {
        for number in numbers {
            self.of_slots[slot_of(*number)].fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// The slot that a number tells, in a ring of four with one number an id.
pub(crate) fn slot_of(number: u64) -> usize {
    usize::try_from((number + 3) & 3).unwrap()
}

impl Load {
    /// Two callers a server, of `order`.
    pub(crate) fn on(servers: &[Server], bits: &Arc<Bits>) -> Self {
        Self::of("order", servers, bits)
    }

    /// Two callers a server.
    pub(crate) fn of(name: &'static str, servers: &[Server], bits: &Arc<Bits>) -> Self {
        let (stopped, refused) = (Arc::<AtomicBool>::default(), Arc::<AtomicU64>::default());
        let (mut callers, tally) = (JoinSet::new(), Arc::<Tally>::default());
        for api in servers.iter().flat_map(|server| [server.http(); 2]) {
            let (bits, stopped, refused) = (Arc::clone(bits), Arc::clone(&stopped), Arc::clone(&refused));
            let tally = Arc::clone(&tally);
            callers.spawn(async move {
                let mut http = Http::connect(api).await.unwrap();
                while !stopped.load(Ordering::Relaxed) {
                    match http.next_of(name, COUNT).await {
                        Ok(numbers) => {
                            tally.add(&numbers);
                            bits.add("a caller", numbers);
                        }
                        Err(refusal) => {
                            *tally.refusal.lock().unwrap() = refusal;
                            refused.fetch_add(1, Ordering::Relaxed);
                            tokio::time::sleep(REST).await;
                        }
                    }
                }
            });
        }
        Self { bits: Arc::clone(bits), stopped, refused, tally, callers }
    }

    /// How many numbers of a slot were given, in a ring of four with one number an id.
    pub(crate) fn of_slot(&self, slot: usize) -> u64 {
        self.tally.of_slots[slot].load(Ordering::Relaxed)
    }

    /// How many numbers these callers were given.
    pub(crate) fn given(&self) -> u64 {
        (0..4).map(|slot| self.of_slot(slot)).sum()
    }

    /// What the latest refusal said.
    pub(crate) fn refusal(&self) -> String {
        self.tally.refusal.lock().unwrap().clone()
    }

    /// Waits until all these servers have the slot in use, and it has given more than they can have had in memory when it had
    /// given `before`.
    pub(crate) async fn gives(&self, servers: &[Server], slot: usize, before: u64, after: &str) {
        let what = format!("slot {slot} gives, after {after}");
        until(&what, async || {
            if self.of_slot(slot) < before + SPENT {
                return false;
            }
            for server in servers {
                if !server.look().await.is_live(slot) {
                    return false;
                }
            }
            true
        })
        .await;
    }

    /// No request failed since `before` had.
    pub(crate) fn nobody_failed(&self, before: u64, after: &str) {
        let refused = self.refused.load(Ordering::Relaxed) - before;
        let latest = self.tally.refusal.lock().unwrap();
        assert_eq!(refused, 0, "requests failed after {after}, the latest: {latest}");
    }

    /// So many more numbers: service goes on.
    pub(crate) async fn more(&self, numbers: u64) {
        let goal = self.bits.count() + numbers;
        until("more numbers", async || self.bits.count() >= goal).await;
    }

    pub(crate) async fn end(self) {
        self.stopped.store(true, Ordering::Relaxed);
        self.callers.join_all().await;
        println!(
            "{} numbers, none twice; {} refusals",
            self.bits.count(),
            self.refused.load(Ordering::Relaxed)
        );
    }
}
