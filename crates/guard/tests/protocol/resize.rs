//! The ring grows from one slot to two, under servers of the layout before.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use sequent_backend::memory::MemoryStore;
use sequent_core::{
    BoxFuture, Clock, DurabilityClass, Entropy, Env, Era, ErrorKind, Event, Events, Key, Layout, Mark,
    MarkPlace, Rules, SlotIndex, SourceError, Store,
    ledger::{LayoutBook, LayoutRecord, Ledger, Loss, Rebased, Rows},
};
use sequent_guard::{LedgerFault, Placed, Progress, Resize};

use crate::harness::{Kind, Server, Wires, World};

/// A world before and after, and every number that left, as its place among all numbers.
pub(crate) struct Growth {
    pub(crate) before: World,
    pub(crate) after: World,
    places: Mutex<BTreeSet<u64>>,
    pub(crate) repeats: Mutex<Vec<String>>,
}

fn empty_store(world: &World, class: DurabilityClass) -> MemoryStore {
    let shared: Arc<dyn Clock> = Arc::clone(&world.clock) as _;
    MemoryStore::with_rules(shared, &world.entropy, world.rules).posing_as(class)
}

impl Growth {
    pub(crate) fn of(rules: Rules) -> Self {
        Self::with(Kind { rules, ..Kind::default() })
    }

    /// Of stores of a class.
    fn with(Kind { rules, class, .. }: Kind) -> Self {
        let before = World::of(Kind { slots: 1, rules, class, ..Kind::default() }).tolerant();
        let new = empty_store(&before, class);
        let after = World {
            clock: Arc::clone(&before.clock),
            stores: vec![before.stores[0].clone(), new],
            ledger: before.ledger.clone(),
            home: Arc::clone(&before.home),
            numbers: Arc::default(),
            rules,
            entropy: before.entropy.fork(),
        };
        Self { before, after, places: Mutex::default(), repeats: Mutex::default() }
    }

    /// An empty store.
    fn store(&self, class: DurabilityClass) -> MemoryStore {
        empty_store(&self.before, class)
    }

    /// Takes one id, and notes its number; what is refused leaves nothing behind.
    pub(crate) async fn take(&self, server: &Arc<Server>, slot: SlotIndex) -> Result<u64, SourceError> {
        let layout = server.guard.layout().layout;
        let raw = server.take(slot, 1).await?[0];
        let place = layout.place_of(raw, slot).unwrap();
        if !self.places.lock().unwrap().insert(place) {
            self.repeats.lock().unwrap().push(format!("place {place} again, as raw id {raw} of slot {slot}"));
        }
        Ok(place)
    }

    pub(crate) async fn take_often(&self, server: &Arc<Server>, slot: SlotIndex, times: usize) -> usize {
        let mut taken = 0;
        for _ in 0..times {
            taken += usize::from(self.take(server, slot).await.is_ok());
        }
        taken
    }

    pub(crate) fn resize(&self) -> Resize {
        self.resize_through(Arc::new(self.before.ledger.clone()))
    }

    pub(crate) fn resize_through(&self, ledger: Arc<dyn Ledger>) -> Resize {
        let placed = |(slot, store): (SlotIndex, &MemoryStore)| {
            let store: Arc<dyn Store> = Arc::new(store.clone());
            Placed { slot: Some(slot), store }
        };
        let entropy: Arc<dyn Entropy> = Arc::new(self.before.entropy.fork());
        Resize {
            ledger,
            stores: (0..).zip(&self.after.stores).map(placed).collect(),
            next: Layout::new(1, 0).unwrap(),
            gone: BTreeSet::new(),
            embedded: true,
            home: None,
            limit: Duration::from_secs(1),
            env: Env { clock: Arc::clone(&self.before.clock) as _, entropy, events: Events::default() },
            rules: self.before.rules,
        }
    }

    fn highest(&self) -> u64 {
        *self.places.lock().unwrap().last().unwrap()
    }

    /// The ledger goes back, a person says that nothing is lost, and a server of the layout before has not heard of it; the ring grows;
    /// servers of the next layout come, and the one of before takes what it can get.
    #[cfg(feature = "mutation")]
    pub(crate) async fn story(&self) {
        let old = self.before.open("old").await;
        self.take_often(&old, 0, 20).await;
        let copy = self.before.ledger.snapshot();
        let ceiling = self.before.row(0).ceiling;
        while self.take(&old, 0).await.unwrap() < ceiling + 20 {}
        old.wires.ledger.cut();
        old.heartbeat().await;
        self.before.ledger.restore(copy);
        self.before.recover(Loss::Bump(0)).await;
        self.resize().run(&|_| {}).await.unwrap();
        self.take_often(&old, 0, 20).await;
        let new = self.after.open("new").await;
        for slot in [0, 1] {
            self.take_often(&new, slot, 60).await;
        }
    }
}

impl Growth {
    /// A ledger that can't replace all rows of a key at once is cut off in between: slot 1 has its row of the next layout,
    /// and the row of the layout before is gone.
    pub(crate) async fn in_pieces(&self) {
        let old = self.before.open("old").await;
        self.take_often(&old, 0, 40).await;
        let (ledger, next) = (&self.before.ledger, Layout::new(1, 0).unwrap());
        let plan = self.resize().plan().await.unwrap();
        let bases = plan.bases(&plan.keys[0]).into_iter().filter(|(slot, _)| *slot == 1).collect();
        let page = ledger.page().await.unwrap().unwrap();
        let planned = page.planned(next);
        ledger.turn(&page, &planned).await.unwrap();
        let fenced = planned.fenced().unwrap();
        ledger.turn(&planned, &fenced).await.unwrap();
        ledger.rebase(&fenced, &[Rebased { key: crate::harness::key(), bases }]).await.unwrap();
        self.resize().run(&|_| {}).await.unwrap();
        let new = self.after.open("new").await;
        for slot in [0, 1] {
            self.take_often(&new, slot, 60).await;
        }
    }
}

/// A data directory that can be read, and may be read-only.
#[derive(Default)]
struct Disk(AtomicBool);

impl MarkPlace for Disk {
    fn bear(&self, version: u64, era: Option<Era>) -> BoxFuture<'_, Result<Mark, SourceError>> {
        let refused = SourceError::new(ErrorKind::Unavailable, "the data directory is read-only");
        let is_broken = version > 0 && self.0.load(Ordering::Relaxed);
        Box::pin(std::future::ready(if is_broken { Err(refused) } else { Ok(Mark { version: 0, era }) }))
    }
}

#[tokio::test(start_paused = true)]
async fn what_can_not_be_written_to_is_told_before_the_fence_and_takes_no_step_after_it() {
    let growth = Growth::of(Rules::ALL);
    let old = growth.before.open("old").await;
    growth.take_often(&old, 0, 20).await;
    let home = Arc::new(Disk::default());
    let resize = || Resize { home: Some(Arc::clone(&home) as _), ..growth.resize() };
    let page = async || growth.before.ledger.page().await.unwrap().unwrap();
    home.0.store(true, Ordering::Relaxed);
    // It can be read, and only a write shows it.
    let error = resize().run(&|_| {}).await.unwrap_err();
    assert!(error.to_string().contains("read-only"), "{error}");
    assert!(!page().await.step.is_fenced());
    assert_eq!(growth.take_often(&old, 0, 30).await, 30, "nothing is different");
    home.0.store(false, Ordering::Relaxed);
    let cut = |step| {
        if step == Progress::Fenced {
            home.0.store(true, Ordering::Relaxed);
        }
    };
    resize().run(&cut).await.unwrap_err();
    assert!(page().await.step.is_fenced());
    let rows = || growth.before.ledger.snapshot().list(None, 100);
    let held = rows();
    for _ in 0..3 {
        let error = resize().run(&|_| {}).await.unwrap_err();
        assert!(error.to_string().contains("still fenced"), "{error}");
        assert_eq!(rows(), held, "not by one step further");
    }
    home.0.store(false, Ordering::Relaxed);
    resize().run(&|_| {}).await.unwrap();
    let new = growth.after.open("new").await;
    assert_eq!(growth.take_often(&new, 0, 30).await + growth.take_often(&new, 1, 30).await, 60);
    assert_eq!(*growth.repeats.lock().unwrap(), [""; 0]);
}

/// The ring is fenced, and whoever did it is killed; then another store is found in slot 0, an empty one. What the next
/// says to that; the server of before goes on without the ledger in the store of before, as far as it can.
async fn emptied_behind_the_fence(class: DurabilityClass) -> (Growth, Result<LayoutRecord, SourceError>) {
    let mut growth = Growth::with(Kind { class, ..Kind::default() });
    let old = growth.before.open("old").await;
    growth.take_often(&old, 0, 20).await;
    old.wires.ledger.cut();
    old.heartbeat().await;
    let wires = Wires::new(0);
    let distant =
        crate::harness::Wired { wire: Arc::clone(&wires.ledger), inner: growth.before.ledger.clone() };
    let killed = |step| {
        if step == Progress::Fenced {
            wires.ledger.cut();
        }
    };
    growth.resize_through(Arc::new(distant)).run(&killed).await.unwrap_err();
    growth.after.stores[0] = growth.store(class);
    let done = growth.resize().run(&|_| {}).await;
    assert!(growth.take_often(&old, 0, 2000).await > 0, "a server of before counts on where it was");
    if done.is_ok() {
        let new = growth.after.open("new").await;
        for slot in [0, 1] {
            assert_eq!(growth.take_often(&new, slot, 500).await, 500);
        }
    }
    (growth, done)
}

#[tokio::test(start_paused = true)]
async fn a_volatile_store_that_comes_back_empty_behind_the_fence_needs_no_word() {
    let (growth, done) = emptied_behind_the_fence(DurabilityClass::Volatile).await;
    done.unwrap();
    assert_eq!(*growth.repeats.lock().unwrap(), [""; 0], "though servers counted in another");
    let (growth, done) = emptied_behind_the_fence(DurabilityClass::Durable).await;
    let error = done.unwrap_err().to_string();
    assert!(error.contains("the given one is empty") && error.contains("`--gone 0`"), "{error}");
    let resize = Resize { gone: [0].into(), ..growth.resize() };
    resize.run(&|_| {}).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_volatile_store_that_was_empty_before_the_fence_is_stamped_first() {
    let growth = Growth::with(Kind { class: DurabilityClass::Volatile, ..Kind::default() });
    let old = growth.before.open("old").await;
    growth.take_often(&old, 0, 20).await;
    growth.before.stores[0].empty();
    let error = growth.resize().run(&|_| {}).await.unwrap_err().to_string();
    assert!(error.contains("start a server of the old layout, which stamps it again"), "{error}");
    assert!(!growth.before.ledger.page().await.unwrap().unwrap().step.is_fenced());
    let other = growth.before.open("other").await;
    growth.take_often(&other, 0, 20).await;
    growth.resize().run(&|_| {}).await.unwrap();
    let new = growth.after.open("new").await;
    assert_eq!(growth.take_often(&new, 0, 30).await, 30);
    assert_eq!(*growth.repeats.lock().unwrap(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_key_that_a_resize_left_half_done_is_done_by_the_next() {
    let growth = Growth::of(Rules::ALL);
    growth.in_pieces().await;
    assert_eq!(*growth.repeats.lock().unwrap(), [""; 0]);
    assert_eq!(growth.places.lock().unwrap().len(), 160, "both slots serve");
}

#[tokio::test(start_paused = true)]
async fn a_counter_that_was_advanced_while_its_store_was_away_is_closed_too() {
    let growth = Growth::of(Rules::ALL);
    let (old, operator) = (growth.before.open("old").await, growth.before.open("operator").await);
    growth.take_often(&old, 0, 20).await;
    old.wires.ledger.cut();
    old.heartbeat().await;
    operator.wires.stores[0].cut();
    operator.guard.advance(&crate::harness::key(), 1 << 40, &[100]).await.unwrap();
    growth.resize().run(&|_| {}).await.unwrap();
    let new = growth.after.open("new").await;
    for slot in [0, 1] {
        growth.take_often(&new, slot, 200).await;
    }
    assert_eq!(growth.take_often(&old, 0, 400).await, 0, "the layout before gives nothing any more");
    assert_eq!(*growth.repeats.lock().unwrap(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_resize_that_has_ended_is_not_done_again() {
    let growth = Growth::of(Rules::ALL);
    let old = growth.before.open("old").await;
    growth.take_often(&old, 0, 20).await;
    growth.resize().run(&|_| {}).await.unwrap();
    let new = growth.after.open("new").await;
    growth.take(&new, 0).await.unwrap();
    growth.take(&new, 1).await.unwrap();
    let again = growth.resize().run(&|step| assert_eq!(step, Progress::Current)).await.unwrap();
    assert_eq!(again.generation, 2);
    new.heartbeat().await;
    assert_eq!(growth.take_often(&new, 0, 50).await, 50, "its servers go on");
}

/// What a server was told of its ledger: whether it refuses, and why.
fn losses(server: &Server) -> Vec<(bool, String)> {
    let loss = |event| match event {
        Event::LedgerLost { refused, detail, .. } => Some((refused, detail)),
        _ => None,
    };
    server.events().into_iter().filter_map(loss).collect()
}

#[tokio::test(start_paused = true)]
async fn a_grown_ring_goes_on_above_all_that_was_given() {
    let growth = Growth::of(Rules::ALL);
    let (old, paused) = (growth.before.open("old").await, growth.before.open("paused").await);
    growth.take_often(&old, 0, 50).await;
    growth.take(&paused, 0).await.unwrap();
    paused.wires.ledger.hang();
    let told: Mutex<Vec<Progress>> = Mutex::default();
    let record = growth.resize().run(&|step| told.lock().unwrap().push(step)).await.unwrap();
    assert_eq!((record.layout, record.generation), (Layout::new(1, 0).unwrap(), 2));
    let steps =
        [Progress::Planned, Progress::Fenced, Progress::Rebased { done: 1, of: 1 }, Progress::Current];
    assert_eq!(*told.lock().unwrap(), steps);

    let highest = growth.highest();
    let new = growth.after.open("new").await;
    assert!(new.outside.is_empty());
    for slot in [0, 1, 0, 1] {
        assert!(growth.take(&new, slot).await.unwrap() > highest);
    }
    // One that hears of it, and one that slept.
    old.heartbeat().await;
    let Some(LedgerFault::Relaid { reason, .. }) = old.guard.trouble() else {
        panic!("{:?}", old.guard.trouble())
    };
    assert!(reason.contains("layout changed: the ring was resized to n=1 m=0 (generation 2)"), "{reason}");
    assert_eq!(losses(&old), [(true, reason)], "it was never out of reach");
    assert_eq!(old.guard.status().away, None, "nor is it shown as away");
    assert_eq!(growth.take(&old, 0).await.unwrap_err().kind(), ErrorKind::LedgerBehind);
    paused.wires.ledger.mend();
    assert!(growth.take(&paused, 0).await.is_err(), "its cell is closed");
    paused.heartbeat().await;
    assert!(matches!(paused.guard.trouble(), Some(LedgerFault::Relaid { .. })));
    // Its calls hung while it slept: what it wakes up to is told all the same.
    let told = losses(&paused);
    let Some((true, why)) = told.last() else { panic!("{told:?}") };
    assert!(why.starts_with("layout changed: ") && told.len() <= 2, "{told:?}");
    assert_eq!(growth.take_often(&paused, 0, 5).await + growth.take_often(&old, 0, 5).await, 0);
    assert_eq!(growth.take_often(&new, 0, 20).await, 20, "whatever they try");
    assert_eq!(*growth.repeats.lock().unwrap(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn nobody_opens_while_a_change_is_fenced_and_a_plan_can_be_taken_back() {
    let growth = Growth::of(Rules::ALL);
    let old = growth.before.open("old").await;
    growth.take_often(&old, 0, 5).await;
    let ledger = &growth.before.ledger;
    let page = ledger.page().await.unwrap().unwrap();
    let planned = page.planned(Layout::new(1, 0).unwrap());
    ledger.turn(&page, &planned).await.unwrap();
    old.heartbeat().await;
    assert_eq!(growth.take_often(&old, 0, 50).await, 50, "a plan changes nothing");
    assert!(Resize::cancel(ledger, Duration::from_secs(1)).await.unwrap());
    assert_eq!(ledger.page().await.unwrap(), Some(page));
    let refused = ledger.turn(&planned, &planned).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Refused, "another page is held");

    let page = ledger.page().await.unwrap().unwrap();
    ledger.turn(&page, &planned).await.unwrap();
    ledger.turn(&planned, &planned.fenced().unwrap()).await.unwrap();
    assert!(Resize::cancel(ledger, Duration::from_secs(1)).await.is_err(), "too late");
    for world in [&growth.before, &growth.after] {
        let error = world.try_open("early", crate::harness::Setup::default()).await.err().unwrap();
        assert!(error.to_string().contains("sequent resize --go"), "{error}");
    }
    old.heartbeat().await;
    let Some(LedgerFault::Relaid { reason, .. }) = old.guard.trouble() else {
        panic!("{:?}", old.guard.trouble())
    };
    assert!(reason.contains("is being changed from n=0 m=0 to n=1 m=0"), "{reason}");
    growth.resize().run(&|_| {}).await.unwrap();
    let new = growth.after.open("new").await;
    assert_eq!(growth.take_often(&new, 1, 9).await, 9);
    assert_eq!(*growth.repeats.lock().unwrap(), [""; 0]);
}

/// Whoever changes the layout is killed after so many calls of the ledger; whether the next one had to go on.
async fn killed_after(calls: usize) -> bool {
    let growth = Growth::of(Rules::ALL);
    let old = growth.before.open("old").await;
    growth.take_often(&old, 0, 30).await;
    let wires = Wires::new(0);
    wires.ledger.mend_for(calls);
    if calls == 0 {
        wires.ledger.cut();
    }
    let distant =
        crate::harness::Wired { wire: Arc::clone(&wires.ledger), inner: growth.before.ledger.clone() };
    let died = growth.resize_through(Arc::new(distant)).run(&|_| {}).await.is_err();
    growth.take_often(&old, 0, 20).await;
    let is_current = |record: LayoutRecord| record.generation == 2;
    if !growth.before.ledger.layout().await.is_ok_and(|held| held.is_some_and(is_current)) {
        growth.resize().run(&|_| {}).await.unwrap();
    }
    growth.take_often(&old, 0, 20).await;
    let new = growth.after.open("new").await;
    for slot in [0, 1] {
        assert_eq!(growth.take_often(&new, slot, 30).await, 30, "killed after {calls} calls");
    }
    assert_eq!(*growth.repeats.lock().unwrap(), [""; 0], "killed after {calls} calls");
    died
}

#[tokio::test(start_paused = true)]
async fn a_change_that_was_killed_anywhere_is_finished_by_the_next() {
    let mut calls = 0;
    while killed_after(calls).await {
        calls += 1;
        assert!(calls < 100);
    }
    assert!(calls >= 8, "only {calls} calls: the test is about fewer places than there are");
}

#[tokio::test(start_paused = true)]
async fn what_would_not_be_safe_is_refused_and_changes_nothing() {
    let growth = Growth::of(Rules::ALL);
    let old = growth.before.open("old").await;
    growth.take_often(&old, 0, 5).await;
    let page = growth.before.ledger.page().await.unwrap();
    let refused = async |resize: Resize, words: &str| {
        let error = resize.run(&|_| {}).await.unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
        assert_eq!(growth.before.ledger.page().await.unwrap(), page, "{error}");
    };
    let mut resize = growth.resize();
    resize.stores.remove(0);
    refused(resize, "slot 0: its store has counters that must be closed").await;
    let mut resize = growth.resize();
    resize.stores[1].slot = Some(2);
    refused(resize, "slot is 2: 0 to 1 are allowed").await;
    let mut resize = growth.resize();
    resize.stores[1].store = Arc::clone(&resize.stores[0].store);
    refused(resize, "two slots are on one store").await;
    growth.after.stores[1].set_away(true);
    refused(growth.resize(), "switched away").await;
    growth.after.stores[1].set_away(false);
    let strange = World::of(Kind { slots: 1, seed: 2, ..Kind::default() });
    let stranger = strange.open("stranger").await;
    stranger.take(0, 1).await.unwrap();
    let mut resize = growth.resize();
    resize.stores[1].store = Arc::new(strange.stores[0].clone());
    refused(resize, "which is neither of this layout nor of the next").await;
    assert_eq!(growth.take_often(&old, 0, 30).await, 30);

    let mut resize = growth.resize();
    resize.stores.remove(0);
    resize.gone.insert(0);
    growth.after.stores[0].set_away(true);
    resize.run(&|_| {}).await.unwrap();
    let new = growth.after.open("new").await;
    assert_eq!(growth.take_often(&new, 1, 30).await, 30, "a person says that nobody can reach it");
    assert_eq!(*growth.repeats.lock().unwrap(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_jump_is_told_before_anything_is_changed_and_takes_no_key_with_it() {
    let growth = Growth::of(Rules::ALL);
    let old = growth.before.open("old").await;
    growth.take_often(&old, 0, 20).await;
    old.heartbeat().await;
    let value = growth.before.cell(0).value;
    growth.before.stores[0].set_value(&crate::harness::key(), 1 << 62);
    let error = growth.resize().plan().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Jumped, "{error}");
    assert!(
        error.to_string().contains("slot 0 key order: the store has raw id 4611686018427387904"),
        "{error}"
    );
    growth.before.stores[0].set_value(&crate::harness::key(), value + 7);
    let plan = growth.resize().plan().await.unwrap();
    assert!(plan.keys[0].last >= Some(value + 6), "{plan:?}");
    // Set only after the look: it stops at the close, and goes on once it is right.
    growth.before.stores[0].set_value(&crate::harness::key(), 1 << 62);
    let error = growth.resize().run(&|_| {}).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Jumped, "{error}");
    growth.before.stores[0].set_value(&crate::harness::key(), value + 7);
    growth.resize().run(&|_| {}).await.unwrap();
    let new = growth.after.open("new").await;
    assert!(growth.take(&new, 0).await.unwrap() < 1 << 20);
    assert_eq!(*growth.repeats.lock().unwrap(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_row_that_claims_too_much_takes_no_key_with_it_either() {
    let growth = Growth::of(Rules::ALL);
    let old = growth.before.open("old").await;
    growth.take_often(&old, 0, 20).await;
    old.stop().await;
    let (ledger, counter, row) = (&growth.before.ledger, crate::harness::counter(0), growth.before.row(0));
    let set = |far| assert!(ledger.set_ceiling(&counter, far) && ledger.set_seen(&counter, far));
    set(1 << 62);
    for error in [growth.resize().plan().await.unwrap_err(), growth.resize().run(&|_| {}).await.unwrap_err()]
    {
        assert_eq!(error.kind(), ErrorKind::Jumped, "{error}");
        let text = "slot 0 key order: the ledger's row says that it is at 4611686018427387904, but its cell";
        assert!(error.to_string().contains(text), "{error}");
    }
    // Its cell is a hand's work, too, and witnesses nothing.
    let value = growth.before.cell(0).value;
    growth.before.stores[0].set_value(&crate::harness::key(), 1 << 62);
    for base in [row.base, 1 << 62] {
        assert!(ledger.set_base(&counter, base));
        let error = growth.resize().run(&|_| {}).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Jumped, "{error}");
        assert!(error.to_string().contains("and its cell is as far"), "{error}");
    }
    assert!(ledger.set_base(&counter, row.base));
    growth.before.stores[0].set_value(&crate::harness::key(), value);
    set(row.seen.max(row.ceiling));
    growth.resize().run(&|_| {}).await.unwrap();
    let new = growth.after.open("new").await;
    assert!(growth.take(&new, 0).await.unwrap() < 1 << 20);
    assert_eq!(*growth.repeats.lock().unwrap(), [""; 0]);
}

/// So many keys that have a counter each.
pub(crate) async fn many_keys(growth: &Growth, keys: usize) {
    let old = growth.before.open("old").await;
    for at in 0..keys {
        old.take_of(&Key::from_stored(&format!("key-{at}")), 0, 1).await.unwrap();
    }
    old.stop().await;
}

/// A ledger behind a wire, which rebases a key in so long.
pub(crate) fn slow(growth: &Growth, each: Duration) -> (Wires, Arc<dyn Ledger>) {
    let wires = Wires::new(0);
    wires.ledger.takes(each);
    let ledger =
        crate::harness::Wired { wire: Arc::clone(&wires.ledger), inner: growth.before.ledger.clone() };
    (wires, Arc::new(ledger))
}

#[tokio::test(start_paused = true)]
async fn a_ring_of_many_keys_is_changed_by_a_slow_ledger_too() {
    for (keys, each_ms) in [(300, 10), (80, 2000)] {
        let growth = Growth::of(Rules::ALL);
        many_keys(&growth, keys).await;
        let (wires, ledger) = slow(&growth, Duration::from_millis(each_ms));
        let told: Mutex<Vec<usize>> = Mutex::default();
        let tell = |step| {
            if let Progress::Rebased { done, of } = step {
                assert_eq!(of, keys);
                told.lock().unwrap().push(done);
            }
        };
        growth.resize_through(ledger).run(&tell).await.unwrap();
        let told = told.into_inner().unwrap();
        assert!(told.is_sorted() && told.last() == Some(&keys), "{told:?}");
        assert_eq!(told.len(), wires.ledger.calls("rebase"), "each call is told");
        assert!(told.len() >= keys / 32, "{told:?}");
        let rows = growth.before.ledger.list(None, 1000).await.unwrap();
        assert_eq!(rows.len(), keys * 2, "one for each slot");
        let new = growth.after.open("new").await;
        assert_eq!(growth.take_often(&new, 0, 5).await, 5);
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_slow_ledger_has_done_of_a_change_stays_done() {
    let growth = Growth::of(Rules::ALL);
    many_keys(&growth, 100).await;
    let (wires, ledger) = slow(&growth, Duration::from_millis(10));
    // From the second call on no key is done in time, however few there are.
    let tell = |step| {
        if matches!(step, Progress::Rebased { .. }) {
            wires.ledger.takes(Duration::from_secs(31));
        }
    };
    let error = growth.resize_through(ledger).run(&tell).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoWitness, "{error}");
    for words in ["what was done stays done", "32 of 100 keys", "repeat the command to continue", "30000 ms"]
    {
        assert!(error.to_string().contains(words), "{error}");
    }
    let (_, ledger) = slow(&growth, Duration::from_millis(10));
    let tell = |step| {
        if let Progress::Rebased { of, .. } = step {
            assert_eq!(of, 68, "the others only");
        }
    };
    growth.resize_through(ledger).run(&tell).await.unwrap();
    assert_eq!(growth.before.ledger.list(None, 1000).await.unwrap().len(), 200);
}

#[tokio::test(start_paused = true)]
async fn a_copied_cluster_is_not_opened_by_a_resize_either() {
    for is_fenced in [false, true] {
        let growth = Growth::of(Rules::ALL);
        let old = growth.before.open("old").await;
        growth.take_often(&old, 0, 20).await;
        old.stop().await;
        let ledger = &growth.before.ledger;
        if is_fenced {
            let page = ledger.page().await.unwrap().unwrap();
            let planned = page.planned(Layout::new(1, 0).unwrap());
            ledger.turn(&page, &planned).await.unwrap();
            ledger.turn(&planned, &planned.fenced().unwrap()).await.unwrap();
        }
        ledger.restart();
        growth.resize().plan().await.expect("the ledger alone is another file");
        growth.before.stores[0].restart();
        let servers = Resize { embedded: false, ..growth.resize() };
        servers.plan().await.expect("servers that were all restarted");
        let page = ledger.page().await.unwrap();
        for error in [growth.resize().plan().await.err(), growth.resize().run(&|_| {}).await.err()] {
            let error = error.expect("a refusal");
            assert_eq!(error.kind(), ErrorKind::LedgerBehind, "{error}");
            let text = error.to_string();
            assert!(text.contains("ledger and all shards are other files than those on record"), "{text}");
            assert!(text.contains("sequent recover --moved"), "{text}");
        }
        assert_eq!(ledger.page().await.unwrap(), page, "nothing was touched");
        growth.before.recover(Loss::Moved).await;
        growth.resize().run(&|_| {}).await.unwrap();
        let new = growth.after.open("new").await;
        assert_eq!(growth.take_often(&new, 0, 30).await, 30);
        assert_eq!(*growth.repeats.lock().unwrap(), [""; 0]);
    }
}
