//! Opening a cluster: all parts are built here, from the ledger up, and the background jobs begin.

mod background;
pub mod bootstrap;
mod durability_check;
pub mod foreign_stores;
pub(crate) mod ledger_watch;
mod memory_limit;
pub(crate) mod options;
pub(crate) mod tasks;
mod unopened;

use std::{
    sync::{Arc, Mutex, atomic::AtomicBool},
    time::Duration,
};

use arc_swap::ArcSwap;
use sequent_buffer::{ReservoirConfig, ReservoirContext};
use sequent_core::{Env, Event, Events, MarkPlace, Rules, SlotIndex, SourceError, Store};
use sequent_guard::{Guard, GuardConfig, Opening};
use sequent_ha::Ring;

use crate::{
    catalog::{self, Catalog},
    config::{Config, Place, SharedLimits},
    data::{self, Found, Quarantine},
    definition::capacity::AtRisk,
    engine::{Engine, Inner},
    error::OpenError,
    issue::{
        behind_reports::BehindReports,
        burn::{BurnRules, SharedRules, dense::DenseBurn, spread::SpreadBurn},
        minimum::Minimums,
        registry::Registry,
        request_clock::RequestClock,
    },
    open::{
        background::begin,
        bootstrap::{ClusterHandle, FIRST_CALL_FACTOR},
        ledger_watch::Alarm,
        memory_limit::live_keys_max,
        options::{CreatePolicy, Options, Pace},
        tasks::Tasks,
    },
    stores,
    telemetry::{Gauges, Memory, MeteredStore, Refills, Throttle, Waits, keys_made, watched},
};

/// Interval of a server's heartbeats: slot commands and definitions of others are known within two seconds.
const HEARTBEAT_EVERY: Duration = Duration::from_millis(1750);

pub(crate) async fn open(config: Config, options: Options) -> Result<Engine, OpenError> {
    let mut found = data::look(&config).await?;
    if found == Found::Nothing && config.embedded && options.create == CreatePolicy::Never {
        return Err(OpenError::Refused(format!(
            "no cluster in {}, and SEQUENT_EMBEDDED=never allows no new one: name a configuration, or the right \
             data directory",
            config.data.display(),
        )));
    }
    data::prepare(&config).await?;
    let turn = match (found, &config.ledger.place) {
        (Found::Nothing, Place::Sqlite(_)) => {
            let patience = config.ring.attempt_timeout * FIRST_CALL_FACTOR;
            data::turn_to_make(&config.data, patience, &options.env).await
        }
        _ => None,
    };
    if turn.is_some() {
        // Another process may have created the cluster meanwhile; then that process announces it.
        found = data::look(&config).await?;
    }
    let memory = Memory::default();
    let notes = (config.ledger.place != Place::Memory).then(|| Quarantine::new(&config.data));
    if found == Found::Nothing {
        forget(notes.as_ref());
    }
    let alarm = Alarm::default();
    let env = if found == Found::Elsewhere { announcing(&config, &options) } else { options.env.clone() };
    let env = watched(env, &memory, notes.clone(), &alarm);
    if found == Found::Nothing {
        // Announced before the cluster is created: a process that crashes in between must not have created one
        // silently.
        (options.say)(&announcement(&config));
    }
    let cluster = ClusterHandle::any(&config, env, found != Found::Cluster).await?;
    if found == Found::Elsewhere && cluster.is_new {
        // The ledger's tables exist, and no layout is written: the process that writes the first layout announces it.
        forget(notes.as_ref());
    }
    drop(turn);
    let files = cluster.files.clone();
    if let Err(error) = durability_check::check(&config, &cluster).await {
        files.leave().await;
        return Err(error);
    }
    let opened = assemble(&config, options.pace, cluster, (memory, notes, alarm)).await;
    if opened.is_err() {
        files.leave().await;
    }
    opened
}

/// Removes quarantine notes of an earlier cluster. A note that can't be removed is only shown once too often.
fn forget(notes: Option<&Quarantine>) {
    if let Some(notes) = notes {
        drop(notes.forget(None));
    }
}

/// Builds all layers on the cluster's handle, the lowest first.
async fn assemble(
    config: &Config,
    pace: Pace,
    cluster: ClusterHandle,
    (memory, notes, alarm): (Memory, Option<Quarantine>, Alarm),
) -> Result<Engine, OpenError> {
    let env = cluster.env.clone();
    check_home(&cluster).await?;
    let layout = cluster.record.layout;
    let ring = Ring::new(layout, metered(&cluster, layout.slots()), config.ring.health(), env.clone());
    let (guard, excluded) = Guard::open(opening(config, &cluster, &ring)).await?;
    admit(&ring, &excluded)?;
    let words = cluster.slot_commands().await?;
    ring.apply_commands(&words);
    memory.quarantined.recall(notes.map_or_else(Vec::new, |notes| notes.read(&words)));
    let limits: SharedLimits = Arc::new(ArcSwap::from_pointee(config.limits.clone()));
    let catalog = Catalog::open(
        catalog::CatalogContext {
            ledger: Arc::clone(&cluster.ledger),
            limit: cluster.limit,
            clock: Arc::clone(&env.clock),
            layout,
            at_risk: AtRisk::of(config),
            auto_create: config.auto_create.clone(),
            limits: Arc::clone(&limits),
            shards: cluster.shards.clone(),
        },
        &config.sequences,
        guard.trouble().is_none(),
    )
    .await?;
    let minimums = Minimums::read(&*cluster.ledger, cluster.limit).await?;
    let tasks = Tasks::new();
    let burn_rules: SharedRules = Arc::new(ArcSwap::from_pointee(BurnRules::of(config)));
    let (refills, waits) = (Refills::new(&env.clock), Waits::new(&env.clock));
    let inner = Arc::new(Inner {
        limits: Arc::clone(&limits),
        outage: config.ledger.outage,
        reservoir_context: Arc::new(reservoir_context(config, pace, env.clone(), &tasks)),
        env,
        request_clock: RequestClock::default(),
        dated: AtomicBool::new(false),
        ring,
        guard,
        cluster: Arc::new(cluster),
        catalog,
        minimums,
        keys: Registry::new(live_keys_max()),
        keys_made: keys_made(),
        dense: crate::issue::dense::Known::default(),
        dense_keys: crate::issue::dense::DenseKeys::default(),
        dense_burn: DenseBurn::new(Arc::clone(&burn_rules)),
        spread_burn: SpreadBurn::new(Arc::clone(&burn_rules)),
        burn_rules,
        tasks,
        memory,
        behind_reports: BehindReports::default(),
        behind_turn: tokio::sync::Mutex::default(),
        gauges: Gauges::new(config.sequences.iter().map(|part| part.name.clone())),
        refills,
        waits,
        failures: Throttle::default(),
        stopping: AtomicBool::new(false),
        unleft: Mutex::default(),
    });
    begin(&inner, pace, alarm);
    Ok(Engine(inner))
}

/// Checks the version file. A copied file shows that the directory was copied. An unreadable file can't show that a
/// ledger went back. In both cases the start is refused.
async fn check_home(cluster: &ClusterHandle) -> Result<(), OpenError> {
    if let Some(home) = &cluster.home {
        cluster.within("read the mark", home.bear(0, None)).await?;
    }
    Ok(())
}

/// The store of each slot, with metrics of its takes.
fn metered(cluster: &ClusterHandle, slots: SlotIndex) -> Vec<Option<Arc<dyn Store>>> {
    let metered = |(store, slot): (Option<Arc<dyn Store>>, SlotIndex)| {
        store.map(|store| Arc::new(MeteredStore::new(slot, store, &cluster.env.clock)) as Arc<dyn Store>)
    };
    stores::by_slot(&cluster.shards, slots).into_iter().zip(0..).map(metered).collect()
}

fn opening(config: &Config, cluster: &ClusterHandle, ring: &Ring) -> Opening {
    let timed = |shard: &stores::Shard| Some((shard.part.slot, ring.store(shard.part.slot)?));
    let shards: Vec<(SlotIndex, Arc<dyn Store>)> = cluster.shards.iter().filter_map(timed).collect();
    Opening {
        ledger: Arc::clone(&cluster.ledger),
        shards,
        first: cluster.record.clone(),
        home: cluster.home.clone().map(|home| home as Arc<dyn MarkPlace>),
        embedded: cluster.is_embedded(config),
        config: GuardConfig {
            outage: config.ledger.outage,
            attempt_timeout: cluster.limit,
            heartbeat_every: HEARTBEAT_EVERY,
            lossy_dense: config.ledger.allow_lossy,
            volatile_alone: config.ring.allow_volatile,
        },
        env: cluster.env.clone(),
        rules: Rules::ALL,
    }
}

/// Refuses a start if a store was refused, since an operator must correct it. An unavailable store returns by timed
/// rescue.
fn admit(ring: &Ring, excluded: &[(SlotIndex, SourceError)]) -> Result<(), OpenError> {
    let refused = |error: &SourceError| matches!(OpenError::from(error.clone()), OpenError::Refused(_));
    let lines: Vec<String> = excluded
        .iter()
        .filter(|(_, error)| refused(error))
        .map(|(slot, error)| format!("slot {slot}: {error}"))
        .collect();
    if !lines.is_empty() {
        return Err(OpenError::Refused(lines.join("\n")));
    }
    for (slot, error) in excluded {
        ring.exclude(*slot, error);
    }
    Ok(())
}

fn reservoir_context(config: &Config, pace: Pace, env: Env, tasks: &Tasks) -> ReservoirContext {
    let standing = ReservoirConfig {
        reserve: config.reservoir.reserve,
        at_risk_max: config.reservoir.at_risk_max,
        ..ReservoirConfig::default()
    };
    let config = match pace {
        Pace::Standing => standing,
        Pace::Once => ReservoirConfig { reserve: Duration::ZERO, floor: 0, ..standing },
    };
    ReservoirContext { config, drain_mode: Arc::default(), env, spawn: tasks.spawner() }
}

/// Announces a new cluster once this process has created it: of several that start on one new ledger, only one has.
fn announcing(config: &Config, options: &Options) -> Env {
    let (say, text, onward) = (Arc::clone(&options.say), announcement(config), options.env.events.clone());
    let events = Events::to(move |event| {
        if matches!(event, Event::ClusterCreated) {
            say(&text);
        }
        onward.emit(event);
    });
    Env { events, ..options.env.clone() }
}

fn announcement(config: &Config) -> String {
    if config.embedded {
        format!("new embedded cluster in {}: its numbers start at 1", config.data.display())
    } else {
        format!("new cluster {}, its ledger in {}", config.cluster, config.ledger.place)
    }
}
