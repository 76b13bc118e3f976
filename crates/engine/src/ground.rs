//! What stands before anything runs: the ledger with its layout, and the stores.

use std::{sync::Arc, time::Duration};

use sequent_core::{
    Env, LedgerId, MarkPlace,
    ledger::{LayoutRecord, Ledger},
};

use crate::{
    OpenError,
    config::{Config, Place},
    data::Home,
    limit::within,
    stores::{self, Files, Shard},
};

/// How much longer than one attempt a start waits for the ledger, whose first call may have to make it.
const FIRST_CALL_FACTOR: u32 = 10;

/// A ledger, its layout, and the stores of its slots, none of them used yet.
pub(crate) struct Ground {
    pub(crate) ledger: Arc<dyn Ledger>,
    pub(crate) id: LedgerId,
    /// The layout in force; for a new cluster, the one that it will get.
    pub(crate) record: LayoutRecord,
    pub(crate) shards: Vec<Shard>,
    /// Where versions of the ledger are left in the data directory; not for a ledger that forgets.
    pub(crate) home: Option<Arc<dyn MarkPlace>>,
    pub(crate) files: Files,
    pub(crate) env: Env,
    pub(crate) limit: Duration,
}

impl Ground {
    /// A cluster that exists; `None` where its ledger has no layout yet. Makes nothing.
    pub(crate) async fn existing(config: &Config, env: Env) -> Result<Option<Self>, OpenError> {
        let mut files = Files::default();
        let ledger = stores::ledger(&config.ledger.place, false, &env, &mut files);
        let (id, held) = read(&*ledger, config).await?;
        let Some(record) = held else { return Ok(None) };
        Self::new(config, env, (ledger, id, record), false, files).map(Some)
    }

    /// A cluster that exists, or one to be.
    pub(crate) async fn any(config: &Config, env: Env, create_ledger: bool) -> Result<Self, OpenError> {
        let mut files = Files::default();
        let ledger = stores::ledger(&config.ledger.place, create_ledger, &env, &mut files);
        let (id, held) = read(&*ledger, config).await?;
        let record = match held {
            Some(held) => {
                check_layout(config, &held)?;
                held
            }
            None => first(config)?,
        };
        Self::new(config, env, (ledger, id, record), true, files)
    }

    fn new(
        config: &Config,
        env: Env,
        (ledger, id, record): (Arc<dyn Ledger>, LedgerId, LayoutRecord),
        create: bool,
        mut files: Files,
    ) -> Result<Self, OpenError> {
        let slots = record.layout.slots();
        let parts = config.shards_of(record.layout);
        if let Some(part) = parts.iter().find(|part| part.slot >= slots) {
            let bits = record.layout.shard_bits();
            return Err(OpenError::Refused(format!(
                "slot {} is configured, and the ring has slots 0 to {} (shard_bits = {bits})",
                part.slot,
                slots - 1,
            )));
        }
        let shards = stores::shards(parts, create, &env, &mut files);
        let home = (config.ledger.place != Place::Memory)
            .then(|| Arc::new(Home::new(&config.data)) as Arc<dyn MarkPlace>);
        let limit = config.ring.health.attempt_timeout;
        Ok(Self { ledger, id, record, shards, home, files, env, limit })
    }

    /// Whether everything that counts lies in files: a copied directory then looks consistent.
    pub(crate) fn is_embedded(&self, config: &Config) -> bool {
        let file = |place: &Place| matches!(place, Place::Sqlite(_));
        file(&config.ledger.place) && self.shards.iter().all(|shard| file(&shard.part.place))
    }
}

/// The layout that a new cluster gets.
fn first(config: &Config) -> Result<LayoutRecord, OpenError> {
    let layout = config.first_layout().map_err(|error| OpenError::Refused(error.to_string()))?;
    Ok(LayoutRecord { cluster: config.cluster.clone(), layout, epoch: 1 })
}

async fn read(ledger: &dyn Ledger, config: &Config) -> Result<(LedgerId, Option<LayoutRecord>), OpenError> {
    let limit = config.ring.health.attempt_timeout * FIRST_CALL_FACTOR;
    let read = async { Ok((ledger.inspect().await?.id, ledger.layout().await?)) };
    within(limit, "open the ledger", read).await.map_err(|error| OpenError::of_source(&error))
}

/// What the configuration says about the layout must be what the ledger holds.
fn check_layout(config: &Config, held: &LayoutRecord) -> Result<(), OpenError> {
    let (n, m) = (held.layout.shard_bits(), held.layout.memory_bits());
    let mut found = Vec::new();
    if config.cluster != held.cluster {
        found.push((
            "cluster",
            format!("{:?}", config.cluster.as_str()),
            format!("{:?}", held.cluster.as_str()),
        ));
    }
    if let Some(bits) = config.ring.shard_bits.filter(|bits| *bits != n) {
        found.push(("ring.shard_bits", bits.to_string(), n.to_string()));
    }
    if let Some(bits) = config.ring.memory_bits.filter(|bits| *bits != m) {
        found.push(("ring.memory_bits", bits.to_string(), m.to_string()));
    }
    if found.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> = found
        .into_iter()
        .map(|(key, configured, expected)| {
            format!(
                "{key} is {configured}: the ledger's layout has {expected}, and another would repeat numbers"
            )
        })
        .collect();
    Err(OpenError::Refused(lines.join("\n")))
}
