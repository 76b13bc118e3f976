//! What lies between a server and what it calls: delays, lost answers, calls that arrive after their caller gave up.

use std::{
    collections::BTreeMap,
    future::Future,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use sequent_backend::memory::MemoryStore;
use sequent_core::{ErrorKind, SlotIndex, SourceError};
use sequent_testkit::SeededEntropy;
use tokio::sync::watch;

/// One server's lines: whether it answers, and whether it reaches the ledger.
#[derive(Debug, Default)]
pub(crate) struct Switches {
    dead: AtomicBool,
    cut: AtomicBool,
    /// Stores of the other side of a partition, by slot: this server reaches these in their place.
    apart: Mutex<BTreeMap<SlotIndex, MemoryStore>>,
    asleep: watch::Sender<bool>,
}

impl Switches {
    /// The process is gone: nothing it asks is done or answered any more, but for what is already on the wire.
    pub(crate) fn kill(&self) {
        self.dead.store(true, Ordering::Relaxed);
    }

    /// Whether the process is gone.
    pub(crate) fn is_dead(&self) -> bool {
        self.dead.load(Ordering::Relaxed)
    }

    /// Takes the ledger away from this server, or gives it back.
    pub(crate) fn cut(&self, cut: bool) {
        self.cut.store(cut, Ordering::Relaxed);
    }

    /// This server reaches `old` in the place of the store of a slot, until it is [together](Self::reunite).
    pub(crate) fn part(&self, slot: SlotIndex, old: MemoryStore) {
        self.parted().insert(slot, old);
    }

    /// The partition is over.
    pub(crate) fn reunite(&self) {
        self.parted().clear();
    }

    /// The store that this server reaches in the place of another one.
    pub(crate) fn apart(&self, slot: SlotIndex) -> Option<MemoryStore> {
        self.parted().get(&slot).cloned()
    }

    fn parted(&self) -> MutexGuard<'_, BTreeMap<SlotIndex, MemoryStore>> {
        self.apart.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stops the process where it is, or lets it go on: what it has sent is carried out meanwhile, and no answer heard.
    pub(crate) fn sleep(&self, asleep: bool) {
        self.asleep.send_replace(asleep);
    }

    /// Returns when the process runs.
    pub(crate) async fn awake(&self) {
        if *self.asleep.borrow() {
            // Its end is the end of whoever waits.
            drop(self.asleep.subscribe().wait_for(|asleep| !asleep).await);
        }
    }

    /// Whether this server can't reach the ledger.
    pub(crate) fn is_cut(&self) -> bool {
        self.cut.load(Ordering::Relaxed)
    }
}

/// A server's end of the wire.
#[derive(Debug, Clone)]
pub(crate) struct Network {
    /// The server's switches.
    pub(crate) switches: Arc<Switches>,
    dice: Arc<SeededEntropy>,
    calm: Arc<AtomicBool>,
    /// In how many of 1000 calls something is lost or very late.
    trouble: u64,
}

/// The slowest ordinary way there or back.
const ORDINARY_US: u64 = 3_000;

/// The slowest way of a troubled message: several attempt limits, so that it arrives long after its caller gave up.
const TROUBLED_US: u64 = 4_000_000;

impl Network {
    /// Lines that lose or delay `trouble` of 1000 messages, until it is calm.
    pub(crate) fn new(dice: SeededEntropy, trouble: u64, calm: Arc<AtomicBool>) -> Self {
        Self { switches: Arc::default(), dice: Arc::new(dice), trouble, calm }
    }

    fn is_troubled(&self) -> bool {
        self.dice.below(1000) < self.trouble && !self.calm.load(Ordering::Relaxed)
    }

    /// Sends a call: it is carried out after a delay even if the caller goes away meanwhile (a stray), or never.
    pub(crate) async fn call<T: Send + 'static>(
        &self,
        ledger: bool,
        act: impl Future<Output = Result<T, SourceError>> + Send + 'static,
    ) -> Result<T, SourceError> {
        self.switches.awake().await;
        if self.switches.is_dead() {
            std::future::pending::<()>().await;
        }
        if ledger && self.switches.is_cut() {
            return self.unreachable().await;
        }
        let (there, back) = (self.delay(), self.delay());
        let lost = self.is_troubled();
        let carried = tokio::spawn(async move {
            tokio::time::sleep(there).await;
            if lost {
                std::future::pending::<()>().await;
            }
            act.await
        });
        let answer = carried.await;
        tokio::time::sleep(back).await;
        self.switches.awake().await;
        if self.switches.is_dead() || self.is_troubled() {
            std::future::pending::<()>().await;
        }
        answer.unwrap_or_else(|error| {
            Err(SourceError::new(ErrorKind::Unavailable, "simulated call ended").because(error))
        })
    }

    async fn unreachable<T>(&self) -> Result<T, SourceError> {
        match self.dice.below(3) {
            0 => std::future::pending().await,
            _ => tokio::time::sleep(self.delay()).await,
        }
        Err(SourceError::new(ErrorKind::Unavailable, "ledger is cut off"))
    }

    fn delay(&self) -> Duration {
        let troubled = self.is_troubled();
        Duration::from_micros(self.dice.below(if troubled { TROUBLED_US } else { ORDINARY_US }))
    }
}
