//! Shard: one store in its slot, with its stamp check and the instance that may be used.

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

/// A slot's store and what the guard knows of it.
pub(crate) struct Shard {
    store: Arc<dyn Store>,
    expected: Stamp,
    ledger: Arc<dyn Ledger>,
    /// The time limit of one ledger call.
    limit: Duration,
    events: Events,
    known: Mutex<Known>,
    /// Whether the ledger has yet to record the instance in use.
    untold: AtomicBool,
    admission: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Known {
    /// The admitted instance; `None` once it is found to have ended.
    admitted: Option<InstanceId>,
    /// The instance on record, or last admitted.
    last: Option<InstanceId>,
    /// The last known durability class.
    class: Option<DurabilityClass>,
    /// Whether it had another ledger's stamp at the last look. Its marks then belong to that ledger.
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

    /// Whether the store had another ledger's stamp at the last look.
    pub(crate) fn is_foreign(&self) -> bool {
        self.known().foreign
    }

    /// The admitted instance, unless it is known to have ended.
    pub(crate) fn instance(&self) -> Option<InstanceId> {
        self.known().admitted.clone()
    }

    /// The last known durability class; volatile if none is known.
    pub(crate) fn class(&self) -> DurabilityClass {
        self.known().class.unwrap_or(DurabilityClass::Volatile)
    }

    /// Re-reads the settings of the admitted store, since nothing reports a change under a running store.
    ///
    /// Another store in its place, or one that does not answer, is left to the takes to detect.
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

    /// Whether the store was volatile at the last look.
    pub(crate) fn forgets(&self) -> bool {
        self.known().class == Some(DurabilityClass::Volatile)
    }

    /// Sets the instance that the ledger has on record, before the first admission.
    pub(crate) fn recall(&self, instance: InstanceId) {
        self.known().last = Some(instance);
    }

    /// Drops the instance `gone`. The next use inspects the store again.
    pub(crate) fn forget(&self, gone: &InstanceId) {
        let mut known = self.known();
        if known.admitted.as_ref() == Some(gone) {
            known.admitted = None;
        }
    }

    /// Returns the instance that may be used. If none is known, inspects the store, checks or writes its stamp, and also
    /// returns its mark.
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

    /// Marks the ledger's version on the admitted store. If its instance changed, the store's stamp is checked first: it may
    /// have been restarted, or be a foreign store.
    pub(crate) async fn bear(&self, version: u64) -> Result<u64, SourceError> {
        let Some(under) = self.instance() else {
            let context = format!("slot {}: the store is not admitted", self.slot());
            return Err(SourceError::new(ErrorKind::InstanceChanged, context));
        };
        match self.store.mark(&under, version).await {
            Err(error) if error.kind() == ErrorKind::InstanceChanged => self.forget(&under),
            held => return held,
        }
        let found = self.store.inspect().await?;
        self.check(&found)?;
        self.store.mark(&found.instance, version).await
    }

    /// As [`bear`](Self::bear), on a store that is not admitted but has its stamp.
    pub(crate) async fn bear_stamped(&self, version: u64) -> Result<u64, SourceError> {
        let found = self.store.inspect().await?;
        self.check(&found)?;
        if found.stamp.is_none() {
            let context = format!("slot {}: the store bears no stamp", self.slot());
            return Err(SourceError::new(ErrorKind::Refused, context));
        }
        self.store.mark(&found.instance, version).await
    }

    /// Reads the store's mark. If the admitted instance has ended, the present one is read, unless it has another ledger's
    /// stamp.
    pub(crate) async fn borne(&self) -> Result<u64, SourceError> {
        if let Some(under) = self.instance() {
            match self.store.mark(&under, 0).await {
                Err(error) if error.kind() == ErrorKind::InstanceChanged => {}
                held => return held,
            }
        }
        let found = self.store.inspect().await?;
        match &found.stamp {
            Some(stamp) if stamp.ledger != self.expected.ledger => Ok(0),
            _ => self.store.mark(&found.instance, 0).await,
        }
    }

    /// Refuses a store with another stamp, or with cells and no stamp.
    pub(crate) fn check(&self, found: &Inspection) -> Result<(), SourceError> {
        let expected = &self.expected;
        self.known().foreign = found.stamp.as_ref().is_some_and(|stamp| stamp.ledger != expected.ledger);
        let Some(context) = misfit(found, expected) else { return Ok(()) };
        Err(SourceError::new(ErrorKind::Refused, context))
    }

    /// Refuses an unstamped store whose database holds another slot's store: that store was moved to this slot's place.
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

    /// Stamps the store if it has no stamp, and records its instance.
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
                self.events.emit(Event::StoreInstanceChanged { slot, was, is: is.clone() });
            }
            // The record serves only to detect a copied directory. Without it the guard is just as safe, so an unavailable
            // ledger does not exclude a store.
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

    /// Records the instance in the ledger. A failure is repeated at a heartbeat.
    async fn record(&self, under: &InstanceId, is: &InstanceId) {
        let told =
            limited(self.limit, "record", self.ledger.record(under, Some(self.slot()), is)).await.is_ok();
        self.untold.store(!told, Ordering::Relaxed);
    }

    /// Repeats a record that failed.
    pub(crate) async fn record_again(&self, under: &InstanceId) {
        if !self.untold.load(Ordering::Relaxed) {
            return;
        }
        if let Some(is) = self.instance() {
            self.record(under, &is).await;
        }
    }

    /// Refuses to stamp for an old layout, or for a ledger that is no longer in use.
    ///
    /// A server that was paused during a resize, or a recovery onto another ledger, would stamp an emptied store for the old
    /// state. Present servers would then refuse the store until an operator acts.
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
            "slot {}: an empty store is stamped for generation {} only if the ledger has that generation: {why}",
            expected.slot, expected.generation
        );
        Err(SourceError::new(ErrorKind::NoWitness, context))
    }

    /// The id of the ledger in use, and the layout in force.
    async fn held(&self) -> Result<(LedgerId, Option<LayoutRecord>), SourceError> {
        let layout = limited(self.limit, "read of the layout", self.ledger.layout()).await?;
        let found = limited(self.limit, "inspect", self.ledger.inspect()).await?;
        Ok((found.id, layout))
    }

    /// Writes the stamp. Another server may have done so in the meantime.
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
                    format!("slot {}: the store's instance changed before it was stamped", self.slot());
                Err(SourceError::new(ErrorKind::InstanceChanged, context))
            }
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
