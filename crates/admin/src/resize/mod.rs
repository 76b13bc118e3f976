//! `resize`: a change of the number of slots, or of the slots of stores. The configuration names the shards
//! of the next layout.

mod parts;
mod report;

use std::{collections::BTreeSet, sync::Arc};

use sequent_core::{
    Env, ErrorKind, Layout, MarkPlace, Rules, SlotIndex, Store,
    ledger::{LayoutPage, Ledger, ResizeStep},
};
use sequent_engine::{
    OpenError, Options,
    bootstrap::FIRST_CALL_FACTOR,
    config::{Config, Place, ShardPart},
    data::{self, VersionFile},
    ledger_timeout::{patiently, within},
    stores::{self, Files},
};
use sequent_guard::{Placed, Progress, Resize};

pub use report::{LayoutReport, ResizeReport, ResizedKey};

/// The requested next layout, beyond the configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wish {
    /// n. If absent: the configuration's value, or the one in force.
    pub shard_bits: Option<u8>,
    /// m. If absent: the value in force.
    pub memory_bits: Option<u8>,
    /// Slots whose stores no server can ever reach again.
    pub gone: BTreeSet<SlotIndex>,
}

/// A resize to be planned or done.
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
    /// Reads the state in force, and changes nothing. `leaving` is a configuration that names stores which
    /// leave the ring, or which `config` assigns to another slot.
    pub async fn open(
        config: Config,
        leaving: Option<&Config>,
        wish: Wish,
        options: &Options,
    ) -> Result<Self, OpenError> {
        if config.ledger.place == Place::Memory {
            return Err(OpenError::NoCluster("a memory ledger lasts as long as its process".to_owned()));
        }
        let mut files = Files::default();
        let ledger = stores::ledger(&config.ledger.place, false, &options.env, &mut files)?;
        let limit = config.ring.attempt_timeout * FIRST_CALL_FACTOR;
        let page = within(limit, "read the layout", patiently(|| ledger.page())).await?;
        let page = page.ok_or_else(|| {
            OpenError::NoCluster(
                "the ledger has no layout yet: a first `sequent next NAME` makes it".to_owned(),
            )
        })?;
        if page.cluster != config.cluster {
            let text = format!(
                "cluster is {:?}: the ledger belongs to {:?}",
                config.cluster.as_str(),
                page.cluster.as_str()
            );
            return Err(OpenError::Refused(text));
        }
        let next = parts::next(&config, &page, &wish)?;
        let parts = parts::parts(&config, leaving, (&page, next));
        Ok(Self { config, ledger, page, next, parts, gone: wish.gone, env: options.env.clone(), files })
    }

    /// The plan and its checks. Nothing is changed or made: new stores are only opened when the resize is
    /// done.
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

    /// Does or finishes the resize, and returns the plan that it followed. Each step is passed to `tell`. If
    /// the layout is in force already, nothing is done and nothing made.
    pub async fn run(&self, tell: &(dyn Fn(Progress) + Sync)) -> Result<ResizeReport, OpenError> {
        if self.page.step == ResizeStep::InForce && self.next == self.page.layout {
            let planned = self.plan().await?;
            if planned.state == report::IN_FORCE {
                return Ok(planned);
            }
        }
        // The marks of the steps are left in the data directory. If that can't be written, nothing is begun.
        data::prepare(&self.config).await?;
        let mut files = Files::default();
        let outcome = self.done(&mut files, tell).await;
        files.leave().await;
        outcome
    }

    /// Withdraws a plan that was not begun; returns whether there was one.
    pub async fn cancel(&self) -> Result<bool, OpenError> {
        let limit = self.config.ring.attempt_timeout;
        Ok(Resize::cancel(&*self.ledger, limit).await?)
    }

    /// Closes the ledger's file, if it is one.
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
        resize.run(tell).await?;
        Ok(ResizeReport { state: "current", ..report })
    }

    async fn guarded(&self, create: bool, files: &mut Files) -> Result<Resize, OpenError> {
        let limit = self.config.ring.attempt_timeout;
        let mut placed = Vec::with_capacity(self.parts.len());
        for (slot, part) in &self.parts {
            let opened = stores::shards(vec![part.clone()], &self.page.cluster, create, &self.env, files)?;
            for stores::Shard { store, .. } in opened {
                if create || slot.is_none() || !self.is_missing(part, &store).await {
                    placed.push(Placed { slot: *slot, store });
                }
            }
        }
        let home = VersionFile::new(&self.config.data, limit, Arc::clone(&self.env.entropy));
        Ok(Resize {
            ledger: Arc::clone(&self.ledger),
            stores: placed,
            next: self.next,
            gone: self.gone.clone(),
            embedded: self.is_embedded(),
            home: Some(Arc::new(home) as Arc<dyn MarkPlace>),
            limit,
            env: self.env.clone(),
            rules: Rules::ALL,
        })
    }

    /// Whether everything in use so far is in files. A store that is new to the ring does not count.
    fn is_embedded(&self) -> bool {
        let is_new = |slot: &Option<SlotIndex>| slot.is_some_and(|slot| slot >= self.page.layout.slots());
        let mut before = self.parts.iter().filter(|(slot, _)| !is_new(slot));
        self.config.ledger.place.is_file() && before.all(|(_, part)| part.place.is_file())
    }

    /// Whether a store does not exist yet. A plan does not make it.
    async fn is_missing(&self, part: &ShardPart, store: &Arc<dyn Store>) -> bool {
        if let Place::Sqlite(path) = &part.place {
            return !path.exists();
        }
        let is_new = part.slot >= self.page.layout.slots();
        is_new && store.inspect().await.is_err_and(|error| error.kind() == ErrorKind::Refused)
    }
}
