//! `resize`: another number of slots, or stores in other slots. The configuration names the shards of the next layout.

use std::{collections::BTreeSet, sync::Arc};

use sequent_core::{
    Env, ErrorKind, Key, Layout, MarkPlace, Rules, SlotIndex, Store,
    ledger::{LayoutPage, LayoutRecord, Ledger},
};
use sequent_guard::{KeyPlan, Placed, Plan, Progress, Resize};
use serde::Serialize;

use crate::{
    Body, OpenError, Options,
    config::{Config, Place, ShardPart},
    data::Home,
    ground::FIRST_CALL_FACTOR,
    limit::{patiently, within},
    stores::{self, Files},
};

/// What is wished of the next layout, beyond the configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wish {
    /// n; absent: what the configuration says, or what is in force.
    pub shard_bits: Option<u8>,
    /// m; absent: what is in force.
    pub memory_bits: Option<u8>,
    /// Slots whose stores no server can ever reach again.
    pub gone: BTreeSet<SlotIndex>,
}

/// A layout, for people and scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct LayoutReport {
    /// n.
    pub shard_bits: u8,
    /// m.
    pub memory_bits: u8,
    /// One more with each resize.
    pub epoch: u64,
}

/// What a resize does to one key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ResizedKey {
    /// The sequence.
    pub sequence: String,
    /// The key.
    pub key: String,
    /// The highest number that servers have reported as given; 0: none.
    pub before: u64,
    /// The highest number that can have been given, as far as the ledger has permitted; 0: none.
    pub last: u64,
    /// The lowest number of the next layout, as far as that is known before the cells are closed; absent: none is left.
    pub next: Option<u64>,
    /// What would no longer fit, or be allowed.
    pub fault: Option<String>,
}

/// The plan of a resize, or what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ResizeReport {
    /// The layout before.
    pub from: LayoutReport,
    /// The layout to come.
    pub to_be: LayoutReport,
    /// `new` (nothing is written yet), `planned`, `fenced` (it must be finished), or `current` (it is done).
    pub state: &'static str,
    /// Slots whose stores are new to the ring.
    pub added: Vec<SlotIndex>,
    /// Stores that move, from one slot to another.
    pub moved: Vec<(SlotIndex, SlotIndex)>,
    /// Slots whose stores leave the ring.
    pub leaving: Vec<SlotIndex>,
    /// The keys whose counters are still those of the layout before, ascending.
    pub keys: Vec<ResizedKey>,
}

/// A resize about to be looked at, or done.
pub struct Resizing {
    config: Config,
    ledger: Arc<dyn Ledger>,
    page: LayoutPage,
    next: Layout,
    parts: Vec<(Option<SlotIndex>, ShardPart)>,
    gone: BTreeSet<SlotIndex>,
    env: Env,
    files: Files,
}

impl Resizing {
    /// Reads what is in force; touches nothing. `leaving` is a configuration that names stores which leave the ring, or
    /// which the other one calls by another slot.
    pub async fn open(
        config: Config,
        leaving: Option<&Config>,
        wish: Wish,
        options: &Options,
    ) -> Result<Self, OpenError> {
        if config.ledger.place == Place::Memory {
            return Err(OpenError::NoCluster("a memory ledger lives and dies with its process".to_owned()));
        }
        let mut files = Files::default();
        let ledger = stores::ledger(&config.ledger.place, false, &options.env, &mut files)?;
        let limit = config.ring.health.attempt_timeout * FIRST_CALL_FACTOR;
        let page = within(limit, "read the layout", patiently(|| ledger.page())).await;
        let page = page.map_err(|error| OpenError::of_source(&error))?;
        let page = page.ok_or_else(|| {
            OpenError::NoCluster(
                "the ledger has no layout yet: a first `sequent next NAME` makes it".to_owned(),
            )
        })?;
        if page.cluster != config.cluster {
            let text = format!(
                "cluster is {:?}: the ledger is of {:?}",
                config.cluster.as_str(),
                page.cluster.as_str()
            );
            return Err(OpenError::Refused(text));
        }
        let next = next(&config, &page, &wish)?;
        let parts = parts(&config, leaving, (&page, next));
        Ok(Self { config, ledger, page, next, parts, gone: wish.gone, env: options.env.clone(), files })
    }

    /// The plan and its proof. Changes nothing, and makes nothing: stores that are new are looked at when it is done.
    pub async fn plan(&self) -> Result<ResizeReport, OpenError> {
        let mut files = Files::default();
        let planned = self.guarded(false, &mut files).await;
        let report = match planned {
            Ok(resize) => self.report(&resize).await,
            Err(error) => Err(error),
        };
        files.leave().await;
        report
    }

    /// Does it, or finishes it; `tell` hears of each step. Returns the plan that it followed.
    pub async fn run(&self, tell: &(dyn Fn(Progress) + Sync)) -> Result<ResizeReport, OpenError> {
        let mut files = Files::default();
        let outcome = self.done(&mut files, tell).await;
        files.leave().await;
        outcome
    }

    /// Takes a plan back that nothing has come of; whether there was one.
    pub async fn cancel(&self) -> Result<bool, OpenError> {
        let limit = self.config.ring.health.attempt_timeout;
        Resize::cancel(&*self.ledger, limit).await.map_err(|error| OpenError::of_source(&error))
    }

    /// Leaves the ledger's file, if it is one.
    pub async fn close(&self) {
        self.files.leave().await;
    }

    async fn done(
        &self,
        files: &mut Files,
        tell: &(dyn Fn(Progress) + Sync),
    ) -> Result<ResizeReport, OpenError> {
        let resize = self.guarded(true, files).await?;
        let report = self.report(&resize).await?;
        let faults: Vec<String> = report.keys.iter().filter_map(|key| key.fault.clone()).collect();
        if !faults.is_empty() && report.state != "fenced" {
            return Err(OpenError::Refused(faults.join("\n")));
        }
        resize.run(tell).await.map_err(|error| OpenError::of_source(&error))?;
        Ok(ResizeReport { state: "current", ..report })
    }

    async fn guarded(&self, create: bool, files: &mut Files) -> Result<Resize, OpenError> {
        let limit = self.config.ring.health.attempt_timeout;
        let mut placed = Vec::with_capacity(self.parts.len());
        for (slot, part) in &self.parts {
            let opened = stores::shards(vec![part.clone()], &self.page.cluster, create, &self.env, files)?;
            for stores::Shard { store, .. } in opened {
                if create || slot.is_none() || !self.is_missing(part, &store).await {
                    placed.push(Placed { slot: *slot, store });
                }
            }
        }
        let home = Home::new(&self.config.data, limit, Arc::clone(&self.env.entropy));
        Ok(Resize {
            ledger: Arc::clone(&self.ledger),
            stores: placed,
            next: self.next,
            gone: self.gone.clone(),
            home: Some(Arc::new(home) as Arc<dyn MarkPlace>),
            limit,
            env: self.env.clone(),
            rules: Rules::ALL,
        })
    }

    /// Whether a store is still to be made: a look makes nothing.
    async fn is_missing(&self, part: &ShardPart, store: &Arc<dyn Store>) -> bool {
        if let Place::Sqlite(path) = &part.place {
            return !path.exists();
        }
        let is_new = part.slot >= self.page.layout.slots();
        is_new && store.inspect().await.is_err_and(|error| error.kind() == ErrorKind::Refused)
    }

    async fn report(&self, resize: &Resize) -> Result<ResizeReport, OpenError> {
        let plan = resize.plan().await.map_err(|error| OpenError::of_source(&error))?;
        let limit = self.config.ring.health.attempt_timeout;
        let read = within(limit, "read the definitions", patiently(|| self.ledger.definitions())).await;
        let (_, definitions) = read.map_err(|error| OpenError::of_source(&error))?;
        let body = |name: &str| definitions.iter().find(|held| held.name.as_str() == name);
        let keys = plan.keys.iter().map(|key| {
            let body = body(key.key.sequence()).and_then(|held| Body::from_text(&held.body).ok());
            self.key(&plan, key, &body.unwrap_or_default(), &resize.stores)
        });
        let report = |LayoutRecord { layout, epoch, .. }: &LayoutRecord| LayoutReport {
            shard_bits: layout.shard_bits(),
            memory_bits: layout.memory_bits(),
            epoch: *epoch,
        };
        let at_hand: BTreeSet<SlotIndex> = resize.stores.iter().filter_map(|placed| placed.slot).collect();
        let named = self.parts.iter().filter_map(|(slot, _)| *slot);
        let mut added: Vec<SlotIndex> =
            named.filter(|slot| !at_hand.contains(slot)).chain(plan.new.clone()).collect();
        added.sort_unstable();
        let keys = keys.collect();
        let state = match (plan.is_fenced, self.page.next) {
            (true, _) => "fenced",
            (false, Some(_)) => "planned",
            (false, None) => "new",
        };
        Ok(ResizeReport {
            from: report(&plan.change.from),
            to_be: report(&plan.change.next),
            state,
            added,
            moved: plan.moved,
            leaving: plan.leaving,
            keys,
        })
    }

    fn key(&self, plan: &Plan, key: &KeyPlan, body: &Body, stores: &[Placed]) -> ResizedKey {
        let span = body.span();
        let number = |place: u64| place.saturating_mul(span.step()).saturating_add(span.start());
        let before = |place: Option<u64>| place.map_or(0, number).min(span.limit());
        let next = Some(number(plan.first(key))).filter(|next| *next <= span.limit());
        let (sequence, last) = (key.key.sequence().to_owned(), before(key.last));
        let spent =
            || (next.is_none() && last < span.limit()).then(|| format!("{}: no number is left", key.key));
        let refused = || {
            let fault = body.check_layout(self.next, self.config.reservoir.at_risk_max).err()?;
            Some(format!("{sequence}: {} is {}: {}", fault.field, fault.value, fault.bound))
        };
        let held = || unheld(&key.key, plan.change.next.epoch, stores);
        ResizedKey {
            fault: spent().or_else(refused).or_else(held),
            key: key.key.to_string(),
            before: before(key.taken),
            last,
            next,
            sequence,
        }
    }
}

/// Why a store of the next layout can't hold the key's cells.
fn unheld(key: &Key, epoch: u64, stores: &[Placed]) -> Option<String> {
    let cells = key.in_epoch(epoch);
    let unheld = |placed: &Placed| Some((placed.slot?, placed.store.holds(&cells).err()?));
    let (slot, error) = stores.iter().find_map(unheld)?;
    Some(format!("slot {slot}: {}", error.context()))
}

/// n and m of the next layout.
fn next(config: &Config, page: &LayoutPage, wish: &Wish) -> Result<Layout, OpenError> {
    let held = page.next.filter(|_| page.is_fenced).unwrap_or(page.layout);
    let n = wish.shard_bits.or(config.ring.shard_bits).unwrap_or_else(|| held.shard_bits());
    let m = wish.memory_bits.or(config.ring.memory_bits).unwrap_or_else(|| held.memory_bits());
    Layout::new(n, m).map_err(|error| OpenError::Refused(error.to_string()))
}

/// Every store of the next layout with its slot in it, and those of the layout before that are not among them.
fn parts(
    config: &Config,
    leaving: Option<&Config>,
    (page, next): (&LayoutPage, Layout),
) -> Vec<(Option<SlotIndex>, ShardPart)> {
    let named = config.shards_of(next);
    let before = match leaving {
        Some(leaving) => leaving.shards_of(page.layout),
        // The files of a ring that shrinks.
        None if config.shards.is_none() => config.shards_of(page.layout),
        None => Vec::new(),
    };
    let leaves = before.into_iter().filter(|part| !named.contains(part)).map(|part| (None, part));
    let leaves: Vec<_> = leaves.collect();
    named.into_iter().map(|part| (Some(part.slot), part)).chain(leaves).collect()
}
