//! One store in its slot: whose it is, and which instance of it may be touched.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use sequent_core::{
    DurabilityClass, ErrorKind, Event, Events, Inspection, InstanceId, LedgerId, SlotIndex, SourceError,
    Stamp, Store,
    ledger::{LayoutRecord, Ledger},
};

use crate::{
    stamps::{displaced, misfit},
    timeouts::limited,
};

/// A shard as the guard knows it.
pub(crate) struct Shard {
    store: Arc<dyn Store>,
    expected: Stamp,
    ledger: Arc<dyn Ledger>,
    /// The time limit of one ledger call.
    limit: Duration,
    events: Events,
    known: Mutex<Known>,
    /// Whether the ledger could not be told of the instance in use.
    untold: AtomicBool,
    admission: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Known {
    /// The instance admitted, until it is found to be another.
    admitted: Option<InstanceId>,
    /// The instance on record, or admitted last.
    last: Option<InstanceId>,
    /// The durability class found last.
    class: Option<DurabilityClass>,
    /// Whether it bore another ledger's stamp when it was looked at last: its marks speak of that ledger.
    foreign: bool,
}

impl Shard {
    pub(crate) fn new(
        store: Arc<dyn Store>,
        expected: Stamp,
        ledger: Arc<dyn Ledger>,
        limit: Duration,
        events: Events,
    ) -> Self {
        let (known, admission) = (Mutex::default(), tokio::sync::Mutex::default());
        let untold = AtomicBool::new(false);
        Self { store, expected, ledger, limit, events, known, untold, admission }
    }

    pub(crate) fn slot(&self) -> SlotIndex {
        self.expected.slot
    }

    pub(crate) fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    pub(crate) fn is_admitted(&self) -> bool {
        self.known().admitted.is_some()
    }

    /// Whether the store bore another ledger's stamp when it was looked at last.
    pub(crate) fn is_foreign(&self) -> bool {
        self.known().foreign
    }

    /// The instance admitted, if it is not known to have ended.
    pub(crate) fn instance(&self) -> Option<InstanceId> {
        self.known().admitted.clone()
    }

    /// The durability class found last; volatile before any was.
    pub(crate) fn class(&self) -> DurabilityClass {
        self.known().class.unwrap_or(DurabilityClass::Volatile)
    }

    /// Reads the settings of the store admitted again: whoever changes them under a running store tells nobody.
    ///
    /// Another store in its place, or none that answers, is for takes to judge.
    pub(crate) async fn look_at_the_settings(&self, limit: Duration) {
        if !self.is_admitted() {
            return;
        }
        let Ok(Ok(looked)) = tokio::time::timeout(limit, self.store.inspect()).await else { return };
        let was = {
            let mut known = self.known();
            if known.admitted.as_ref() != Some(&looked.instance) {
                return;
            }
            let is = looked.durability.class;
            known.class.replace(is)
        };
        if let Some(was) = was.filter(|was| *was != looked.durability.class) {
            let (slot, is) = (self.slot(), looked.durability);
            self.events.emit(Event::DurabilityChanged { slot, was, is });
        }
    }

    /// Whether it said that it forgets, when it was looked at last.
    pub(crate) fn forgets(&self) -> bool {
        self.known().class == Some(DurabilityClass::Volatile)
    }

    /// What the ledger has on record, before the first admission.
    pub(crate) fn recall(&self, instance: InstanceId) {
        self.known().last = Some(instance);
    }

    /// `gone` no longer speaks: the next touch inspects the store again.
    pub(crate) fn forget(&self, gone: &InstanceId) {
        let mut known = self.known();
        if known.admitted.as_ref() == Some(gone) {
            known.admitted = None;
        }
    }

    /// The instance that may be touched: inspects the store, checks and writes its stamp, where that is not known;
    /// then also the mark that it bears.
    pub(crate) async fn admit(&self, under: &InstanceId) -> Result<(InstanceId, Option<u64>), SourceError> {
        if let Some(instance) = self.instance() {
            return Ok((instance, None));
        }
        let _one_at_a_time = self.admission.lock().await;
        if let Some(instance) = self.instance() {
            return Ok((instance, None));
        }
        let inspection = self.store.inspect().await?;
        self.check(&inspection)?;
        self.check_beside(&inspection).await?;
        let mark = self.store.mark(&inspection.instance, 0).await?;
        Ok((self.accept(&inspection, under).await?, Some(mark)))
    }

    /// Leaves the ledger's version on the store admitted. Another one in its place is looked at first: it may have been
    /// restarted, or be anybody's.
    pub(crate) async fn bear(&self, version: u64) -> Result<u64, SourceError> {
        let Some(under) = self.instance() else {
            let context = format!("slot {}: the store is not admitted", self.slot());
            return Err(SourceError::new(ErrorKind::Reborn, context));
        };
        match self.store.mark(&under, version).await {
            Err(error) if error.kind() == ErrorKind::Reborn => self.forget(&under),
            held => return held,
        }
        let found = self.store.inspect().await?;
        self.check(&found)?;
        self.store.mark(&found.instance, version).await
    }

    /// The same on a store that is not admitted, if it bears its stamp.
    pub(crate) async fn bear_stamped(&self, version: u64) -> Result<u64, SourceError> {
        let found = self.store.inspect().await?;
        self.check(&found)?;
        if found.stamp.is_none() {
            let context = format!("slot {}: the store bears no stamp", self.slot());
            return Err(SourceError::new(ErrorKind::Refused, context));
        }
        self.store.mark(&found.instance, version).await
    }

    /// The mark that the store bears. Where it is no longer the one admitted, whatever is there is asked, unless it is
    /// another ledger's.
    pub(crate) async fn borne(&self) -> Result<u64, SourceError> {
        if let Some(under) = self.instance() {
            match self.store.mark(&under, 0).await {
                Err(error) if error.kind() == ErrorKind::Reborn => {}
                held => return held,
            }
        }
        let found = self.store.inspect().await?;
        match &found.stamp {
            Some(stamp) if stamp.ledger != self.expected.ledger => Ok(0),
            _ => self.store.mark(&found.instance, 0).await,
        }
    }

    /// Refuses a store that bears another stamp, or cells without one.
    pub(crate) fn check(&self, found: &Inspection) -> Result<(), SourceError> {
        let expected = &self.expected;
        self.known().foreign = found.stamp.as_ref().is_some_and(|stamp| stamp.ledger != expected.ledger);
        let Some(context) = misfit(found, expected) else { return Ok(()) };
        Err(SourceError::new(ErrorKind::Refused, context))
    }

    /// Refuses a store that bears no stamp, in a database that holds another slot's: that one was put in this slot's place.
    pub(crate) async fn check_beside(&self, found: &Inspection) -> Result<(), SourceError> {
        if found.stamp.is_some() {
            return Ok(());
        }
        let expected = &self.expected;
        let others = self.store.beside(expected.layout.slots()).await?;
        let is_ours =
            |stamp: &&Stamp| stamp.ledger == expected.ledger && stamp.generation == expected.generation;
        match others.iter().find(is_ours) {
            None => Ok(()),
            Some(other) => Err(SourceError::new(ErrorKind::Refused, displaced(other.slot, expected.slot))),
        }
    }

    /// Stamps the store if it bears no stamp, and records its instance.
    pub(crate) async fn accept(
        &self,
        found: &Inspection,
        under: &InstanceId,
    ) -> Result<InstanceId, SourceError> {
        let slot = self.slot();
        let is = found.instance.clone();
        if found.stamp.is_none() {
            self.is_in_force().await?;
            self.stamp(&is).await?;
            if self.known().last.is_some() {
                self.events.emit(Event::StampedAgain { slot });
            }
        }
        let was = self.known().last.clone();
        if was.as_ref() != Some(&is) {
            if was.is_some() {
                self.events.emit(Event::StoreReborn { slot, was, is: is.clone() });
            }
            // The record serves the check for a copied directory alone; without it the guard is as safe, so a ledger
            // that is away does not keep a store out.
            self.record(under, &is).await;
        }
        let mut known = self.known();
        *known = Known {
            admitted: Some(is.clone()),
            last: Some(is.clone()),
            class: Some(found.durability.class),
            foreign: false,
        };
        Ok(is)
    }

    /// Tells the ledger which instance is in use; what it could not be told is told again at a heartbeat.
    async fn record(&self, under: &InstanceId, is: &InstanceId) {
        let told =
            limited(self.limit, "record", self.ledger.record(under, Some(self.slot()), is)).await.is_ok();
        self.untold.store(!told, Ordering::Relaxed);
    }

    /// Tells the ledger again what it could not be told.
    pub(crate) async fn record_again(&self, under: &InstanceId) {
        if !self.untold.load(Ordering::Relaxed) {
            return;
        }
        if let Some(is) = self.instance() {
            self.record(under, &is).await;
        }
    }

    /// Refuses to stamp for a layout that is over, or for a ledger that is no longer the one in use. A server that slept through a
    /// resize, or through a recovery onto another ledger, would give an emptied store back to what was before, and those of the
    /// present would refuse it until a person acts.
    async fn is_in_force(&self) -> Result<(), SourceError> {
        let expected = &self.expected;
        let why = match self.held().await {
            Ok((id, _)) if id != expected.ledger => "the ledger is another one".to_owned(),
            Ok((_, Some(held))) if held.generation != expected.generation => {
                format!("it is of generation {}", held.generation)
            }
            Ok(_) => return Ok(()),
            Err(error) => error.to_string(),
        };
        let context = format!(
            "slot {}: an empty store is stamped for generation {} only where the ledger says so: {why}",
            expected.slot, expected.generation
        );
        Err(SourceError::new(ErrorKind::NoWitness, context))
    }

    /// Which ledger is in use, and the layout in force.
    async fn held(&self) -> Result<(LedgerId, Option<LayoutRecord>), SourceError> {
        let layout = limited(self.limit, "read of the layout", self.ledger.layout()).await?;
        let found = limited(self.limit, "inspect", self.ledger.inspect()).await?;
        Ok((found.id, layout))
    }

    /// Writes the stamp. Another server may have found none either, and been faster.
    async fn stamp(&self, under: &InstanceId) -> Result<(), SourceError> {
        let Err(error) = self.store.stamp(under, None, &self.expected).await else { return Ok(()) };
        if error.kind() != ErrorKind::Refused {
            return Err(error);
        }
        let again = self.store.inspect().await?;
        match again.stamp {
            Some(stamp) if stamp != self.expected => Err(error),
            Some(_) if again.instance == *under => Ok(()),
            _ => {
                let context =
                    format!("slot {}: the store is another one than was to be stamped", self.slot());
                Err(SourceError::new(ErrorKind::Reborn, context))
            }
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
