//! Faults, done to the world where the scenario's promise covers them.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use sequent_backend::memory::Cells;
use sequent_core::{
    Cell, Epoch, Key, SlotIndex, Store,
    ledger::{Counter, Loss},
    mark_of,
};
use sequent_testkit::SeededEntropy;

use crate::{dice::index, scenario::Fault, server::Server, world::World};

/// Does faults to a world, and remembers what the model's conditions ask for.
pub(crate) struct Nature {
    world: Arc<World>,
    dice: SeededEntropy,
    /// The highest ceiling that any ledger ever acknowledged, by counter.
    ceilings: BTreeMap<Counter, u64>,
}

impl Nature {
    /// The nature of a world.
    pub(crate) fn new(world: Arc<World>, dice: SeededEntropy) -> Self {
        Self { world, dice, ceilings: BTreeMap::new() }
    }

    /// Whether no store stands behind what left from it: what one forgot has been met, and lifted.
    fn stores_know_what_left(&self) -> bool {
        let truth = self.world.truth();
        let knows = |slot: usize, counter: Counter| {
            let cell = self.world.stores.get(slot).and_then(|store| store.snapshot().cell(&counter.key));
            cell.map_or(0, |cell| cell.value) >= truth.highest(&counter)
        };
        (0..self.world.stores.len()).all(|slot| self.world.counters(slot).all(|counter| knows(slot, counter)))
    }

    /// Until then the marks that tell of an earlier loss may still be on the store that would forget next.
    fn everybody_has_met_the_ledger(&self, servers: &[Option<Server>]) -> bool {
        let speaks = self.world.ledger.instance();
        servers.iter().flatten().all(|s| s.guard.status().ledger == speaks && s.guard.trouble().is_none())
    }

    /// Whether a copy of the ledger and of one store may come back at once: the marks are where they belong.
    async fn is_marked_elsewhere(&self, slot: usize) -> bool {
        let version = self.world.ledger.snapshot().version();
        for (other, store) in self.world.stores.iter().enumerate() {
            if other != slot && mark_of(store).await.unwrap_or(0) >= version {
                return true;
            }
        }
        false
    }

    /// Does one fault, if the model's conditions allow it; says what was done. Crashes are the runner's.
    pub(crate) async fn strike(&mut self, fault: Fault, servers: &[Option<Server>]) -> Option<String> {
        let slot = index(&self.dice, self.world.stores.len());
        let store = self.world.stores[slot].clone();
        let key = self.world.keys[index(&self.dice, self.world.keys.len())].clone();
        let copied = self.world.copies()[slot].clone();
        match fault {
            Fault::Restart => store.restart(),
            Fault::Backup => self.world.copies()[slot] = Some(store.snapshot()),
            Fault::Restore if self.world.ledger_covers(slot) => store.restore(copied?),
            Fault::Empty if self.world.ledger_covers(slot) => store.empty(),
            Fault::Delete if self.world.ledger_covers(slot) => drop(store.delete(&key)),
            Fault::Hot => store.restore_in_place(copied?),
            // Cells without a stamp would be somebody else's store, which is refused: another story.
            Fault::StrayClose if store.snapshot().stamped().is_some() => self.stray_close(&store, &key).await,
            Fault::Cut => return self.cut(servers),
            Fault::Partition if self.world.ledger_covers(slot) => return self.part(slot, copied, servers),
            Fault::Step => {
                self.world.clock.step_wall(i64::try_from(self.dice.below(20_000)).unwrap_or(0) - 10_000);
            }
            Fault::LedgerBackup => *self.world.ledger_copy() = Some(self.world.ledger.snapshot()),
            Fault::LedgerRestart => self.world.ledger.restart(),
            Fault::LedgerRestore => self.ledger_back(false)?,
            // In place and beside a store that has forgotten unnoticed: what cannot be promised (guard.md), since a server that
            // has not called since the copy opens the store's next epoch in the ledger that went back.
            Fault::LedgerInPlace if self.stores_know_what_left() => self.ledger_back(true)?,
            Fault::Both
                if self.world.ledger_covers(slot)
                    && self.everybody_has_met_the_ledger(servers)
                    && self.is_marked_elsewhere(slot).await =>
            {
                // Never in place: a server that has not called since the copy can't notice that, and its writes lift the
                // version to the mark before another compares them (guard.md, what cannot be promised).
                self.ledger_back(false)?;
                match copied.filter(|_| self.dice.chance(60)) {
                    Some(copy) => store.restore(copy),
                    None => store.empty(),
                }
            }
            Fault::Crash
            | Fault::Stop
            | Fault::Restore
            | Fault::Empty
            | Fault::Delete
            | Fault::LedgerInPlace
            | Fault::Both
            | Fault::Partition
            | Fault::StrayClose => return None,
        }
        Some(format!("{fault:?} slot {slot} key {key}"))
    }

    async fn stray_close(&self, store: &sequent_backend::memory::MemoryStore, key: &Key) {
        let (under, epoch) = (store.instance(), Epoch::random(&self.dice));
        // The store refuses nothing that names its own instance.
        drop(store.close(Cell { key, under: &under }, epoch).await);
    }

    fn cut(&mut self, servers: &[Option<Server>]) -> Option<String> {
        let server = servers[index(&self.dice, servers.len())].as_ref()?;
        let seconds = 1 + self.dice.below(6);
        away_for(server, seconds);
        Some(format!("server {} loses the ledger for {seconds} s", server.name))
    }

    /// One server goes on with the store as it is, without the ledger; for all others a copy of it is promoted, which may be older.
    fn part(&mut self, slot: usize, copied: Option<Cells>, servers: &[Option<Server>]) -> Option<String> {
        let server = servers[index(&self.dice, servers.len())].as_ref()?;
        let seconds = 1 + self.dice.below(12);
        let store = &self.world.stores[slot];
        server.switches.part(SlotIndex::try_from(slot).ok()?, store.parted());
        let promoted = copied.filter(|_| self.dice.chance(50)).unwrap_or_else(|| store.snapshot());
        store.restore(promoted);
        away_for(server, seconds);
        Some(format!("server {} and the old store of slot {slot} are cut off for {seconds} s", server.name))
    }

    fn ledger_back(&mut self, in_place: bool) -> Option<()> {
        let copy = self.world.ledger_copy().clone()?;
        self.note_ceilings();
        if in_place {
            self.world.ledger.restore_in_place(copy);
        } else {
            self.world.ledger.restore(copy);
        }
        Some(())
    }

    fn note_ceilings(&mut self) {
        let book = self.world.ledger.snapshot();
        for (counter, row) in book.list(None, usize::MAX) {
            let highest = self.ceilings.entry(counter).or_insert(0);
            *highest = row.ceiling.max(*highest);
        }
    }

    /// The operator names the loss: at least what any counter gave, or was permitted, above its row.
    pub(crate) async fn recover(&mut self) {
        let book = self.world.ledger.snapshot();
        let mut loss = 0;
        for slot in 0..self.world.stores.len() {
            for counter in self.world.counters(slot) {
                let ceiling = book.row(&counter).map_or(0, |row| row.ceiling);
                let highest = self.world.truth().highest(&counter);
                let permitted = self.ceilings.get(&counter).copied().unwrap_or(0);
                loss = loss.max(highest.max(permitted).saturating_sub(ceiling));
            }
        }
        let shards: Vec<_> =
            (0..).zip(&self.world.stores).map(|(slot, s)| (slot, Arc::new(s.clone()) as _)).collect();
        let limit = Duration::from_secs(1);
        let done = sequent_guard::recover(&self.world.ledger, &shards, None, Loss::Bump(loss), limit).await;
        self.world.note(format_args!("the operator recovers with a bump of {loss}: {done:?}"));
    }
}

/// The server does not reach the ledger for so long; then all is as it was.
fn away_for(server: &Server, seconds: u64) {
    server.switches.cut(true);
    let switches = Arc::clone(&server.switches);
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(seconds)).await;
        switches.cut(false);
        switches.reunite();
    });
}
