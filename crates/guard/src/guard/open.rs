//! Opening of the guard: layout, stamps, instances on record and marks are checked before anything is written.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use sequent_core::{
    Env, Era, ErrorKind, Event, Inspection, InstanceId, Merge, Rules, SlotIndex, SourceError, Stamp, Store,
    ledger::{Known, LayoutRecord, Ledger, LedgerInspection, ServerId},
};
use tokio::sync::watch;

use super::{
    ASKS_QUEUED_MAX, Guard, Latest, Registry,
    batching::{Ask, Shared, answer},
    dense::Dense,
};
use crate::{
    GuardConfig, LedgerFault, Opening,
    admission::{self, Move},
    counter::DirtySets,
    ledger_client::{LedgerClient, LedgerClientParts, other_master},
    marks::Marks,
    shard::Shard,
    stamps::another,
    timeouts::patiently,
};

/// Slots that cannot take part now, each with the reason.
type NotAdmitted = Vec<(SlotIndex, SourceError)>;

/// Shards that may take part, with their inspections.
type Admissible = Vec<(Arc<Shard>, Inspection)>;

/// State of the ledger before anything is written.
struct LedgerFacts {
    inspection: LedgerInspection,
    held: Option<LayoutRecord>,
    generation: u64,
}

impl Guard {
    /// Opens the guard: checks the layout, the stamps and the marks, and registers this server in the ledger.
    ///
    /// Returns the slots that could not be admitted, with the reason. `Unavailable` ones may come back; `Refused` ones need an
    /// operator. If a slot is refused at the first look, nothing is written, and the guard gives nothing.
    ///
    /// # Errors
    ///
    /// `Refused` for another layout, or two slots on one store; nothing was touched. `LedgerBehind` if everything moved at
    /// once. `NoWitness` if the ledger is away. `Unavailable` if it has no layout yet and a store cannot be reached.
    pub async fn open(opening: Opening) -> Result<(Arc<Self>, NotAdmitted), SourceError> {
        let Opening { ledger, shards, first, home, embedded, config, env, rules } = opening;
        let facts = LedgerFacts::read(&*ledger, &first, &config).await?;
        let shards = facts.shards(&ledger, shards, &first, (config.attempt_timeout, &env));
        let (admissible, mut outside, known) = facts.admissible(&*ledger, &shards, embedded, &config).await?;
        let LedgerFacts { inspection, held, generation } = facts;
        let home = (home, Era { generation, layout: first.layout });
        let marks = Marks::new(shards.clone(), home, config.attempt_timeout, env.events.clone());
        let parts = LedgerClientParts {
            ledger: Arc::clone(&ledger),
            server: ServerId::random(&*env.entropy),
            nonce: env.entropy.bits(),
            inspection: inspection.clone(),
            record: known,
            layout: LayoutRecord { generation, ..first.clone() },
            embedded,
            config,
            rules,
            env: env.clone(),
            marks,
            shards: shards.clone(),
        };
        let (server, nonce) = (parts.server, parts.nonce);
        let client = Arc::new(LedgerClient::new(parts));
        if outside.iter().any(|(_, error)| error.kind() == ErrorKind::Refused) {
            client.set_trouble(client.compare_with_marks(&inspection).await?);
            return Ok((Self::assemble(client, shards, first, config, rules, env).shut(), outside));
        }
        let (limit, under) = (config.attempt_timeout, &inspection.instance);
        let held = match held {
            None if !outside.is_empty() => Some(founded_meanwhile(&*ledger, &first, limit, &outside).await?),
            held => held,
        };
        let layout = if let Some(held) = held {
            held
        } else {
            let (layout, is_first) = patiently(limit, "founding", || ledger.found_anew(&first)).await?;
            if is_first {
                env.events.emit(Event::ClusterCreated);
            }
            layout
        };
        // Another process may have written the layout meanwhile, and a different one.
        admission::agree(&layout, &first)?;
        patiently(limit, "enlist", || ledger.enlist(under, server, nonce)).await?;
        let found = patiently(limit, "inspect", || ledger.inspect()).await?;
        let trouble = client.judge(under, &found).await?;
        client.set_trouble(trouble.clone());
        let is_on_record = trouble.is_none();
        if is_on_record {
            patiently(limit, "record", || ledger.record(under, None, under)).await?;
        }
        for (shard, found) in admissible {
            if let Err(error) = shard.accept(&found, under).await {
                outside.push((shard.slot(), error));
            }
        }
        if is_on_record {
            client.recorded(under).await?;
        }
        Ok((Self::assemble(client, shards, layout, config, rules, env), outside))
    }

    /// Stops the guard. The server is not registered, so that its first call would look like that of one whose ledger went
    /// back. It makes none.
    fn shut(self: Arc<Self>) -> Arc<Self> {
        self.shared.closed.store(true, Ordering::Relaxed);
        self.driver.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.dense_driver.lock().unwrap_or_else(PoisonError::into_inner).take();
        self
    }

    fn assemble(
        client: Arc<LedgerClient>,
        shards: Vec<Arc<Shard>>,
        layout: LayoutRecord,
        config: GuardConfig,
        rules: Rules,
        env: Env,
    ) -> Arc<Self> {
        let lists: Arc<DirtySets> = Arc::default();
        let answering = Arc::clone(&client);
        let (asks, driver) = Merge::new(ASKS_QUEUED_MAX, client.batch_max(), move |asks: Vec<Ask>| {
            let answering = Arc::clone(&answering);
            Box::pin(async move { answer(&answering, rules, asks).await })
        });
        let (dense, dense_driver) = Dense::new(Arc::clone(&client));
        let latest = Arc::new(Latest::of(layout.layout.slots()));
        let closed = AtomicBool::new(false);
        let reported_under = Mutex::new(client.instance());
        let shared = Arc::new(Shared { client, config, rules, env, latest, lists, asks, closed });
        Arc::new(Self {
            shared,
            shards,
            layout,
            counters: Registry::default(),
            words: watch::Sender::new(Vec::new()),
            catalog_version: watch::Sender::new(0),
            driver: Mutex::new(Some(Box::pin(driver))),
            dense,
            dense_driver: Mutex::new(Some(dense_driver)),
            reported_under,
        })
    }
}

impl LedgerFacts {
    async fn read(
        ledger: &dyn Ledger,
        first: &LayoutRecord,
        config: &GuardConfig,
    ) -> Result<Self, SourceError> {
        let limit = config.attempt_timeout;
        let inspection = patiently(limit, "inspect", || ledger.inspect()).await?;
        if let Some(found) = &inspection.other_master {
            return Err(SourceError::new(ErrorKind::Refused, other_master(found)));
        }
        let held = patiently(limit, "read of the layout", || admission::layout(ledger, first)).await?;
        let generation = held.as_ref().map_or(first.generation, |held| held.generation);
        Ok(Self { inspection, held, generation })
    }

    /// Each store with the stamp that it should have.
    fn shards(
        &self,
        ledger: &Arc<dyn Ledger>,
        stores: Vec<(SlotIndex, Arc<dyn Store>)>,
        first: &LayoutRecord,
        (limit, env): (Duration, &Env),
    ) -> Vec<Arc<Shard>> {
        let stamp = |slot| Stamp {
            ledger: self.inspection.id,
            cluster: first.cluster.clone(),
            layout: first.layout,
            slot,
            generation: self.generation,
        };
        let shard =
            |(slot, store)| Shard::new(store, stamp(slot), Arc::clone(ledger), limit, env.events.clone());
        stores.into_iter().map(shard).map(Arc::new).collect()
    }

    /// Inspects every shard: returns those that may take part, those that cannot now, and the ledger's instance on record.
    /// Refuses a copied directory.
    async fn admissible(
        &self,
        ledger: &dyn Ledger,
        shards: &[Arc<Shard>],
        embedded: bool,
        config: &GuardConfig,
    ) -> Result<(Admissible, NotAdmitted, Option<InstanceId>), SourceError> {
        // The records first: what other servers record meanwhile must not make a new store look like a known one.
        let known =
            patiently(config.attempt_timeout, "read of the instances on record", || ledger.known()).await?;
        let looks = admission::look(shards).await;
        let at_hand = looks.iter().filter_map(|(_, look)| look.as_ref().ok());
        if let Some(another) = another(at_hand, self.inspection.id) {
            return Err(another.error());
        }
        admission::no_two_on_one(&looks)?;
        if embedded && Move::of(&known, &self.inspection.instance, &looks).told()? == Move::All {
            return Err(LedgerFault::Moved.error());
        }
        let run = known.ledger.clone();
        recall(shards, known);
        let (mut admissible, mut outside) = (Admissible::new(), NotAdmitted::new());
        for (shard, look) in looks {
            let fits = match look.and_then(|found| shard.check(&found).map(|()| found)) {
                Ok(found) => shard.check_beside(&found).await.map(|()| found),
                misfit => misfit,
            };
            match fits {
                Ok(found) => admissible.push((shard, found)),
                Err(error) => outside.push((shard.slot(), error)),
            }
        }
        Ok((admissible, outside, run))
    }
}

/// Reads the layout again, because a new cluster needs every store: an unreachable one may have another ledger's stamp, and its
/// numbers would repeat. The layout must therefore come from another process by now.
async fn founded_meanwhile(
    ledger: &dyn Ledger,
    first: &LayoutRecord,
    limit: Duration,
    outside: &[(SlotIndex, SourceError)],
) -> Result<LayoutRecord, SourceError> {
    let held = patiently(limit, "read of the layout", || admission::layout(ledger, first)).await?;
    held.ok_or_else(|| {
        let unseen: Vec<String> = outside.iter().map(|(slot, error)| format!("slot {slot}: {error}")).collect();
        let context = format!(
            "a new ledger needs every store to be reachable, since an unreachable one may belong to another ledger: {}; \
             bring them back, or leave these slots empty in the configuration",
            unseen.join("; ")
        );
        SourceError::new(ErrorKind::Unavailable, context)
    })
}

/// Sets on each shard the instance that the ledger has on record.
fn recall(shards: &[Arc<Shard>], known: Known) {
    for (slot, instance) in known.stores {
        shards.iter().filter(|shard| shard.slot() == slot).for_each(|shard| shard.recall(instance.clone()));
    }
}
