//! `sequent doctor`: an examination of the ledger and every store, beside running servers. Nothing is
//! changed.
//!
//! Reading order: `report` (the output), `collect` (how places are examined), `facts`, `clocks`, `ring`,
//! `version` (what the results mean); `counters` with a file for each question; then [`examine`], which
//! combines them.

mod clocks;
mod collect;
mod commands;
mod counters;
mod examined;
mod facts;
mod given_above;
mod report;
mod resize_in_progress;
mod ring;
#[cfg(test)]
mod tests;
mod version;

use std::{collections::BTreeSet, sync::Arc};

use sequent_core::{
    Condition, Examination, Key, Layout, LedgerExamination, SlotIndex, SourceError, Stamp,
    ledger::{LayoutRecord, Ledger},
};
use sequent_engine::{
    OpenError, Options,
    config::{Config, Place},
    data::{self, Found},
    foreign_stores::{self, ForeignStores},
    stores::{self, Files, Shard},
};

use counters::high_water::Reaches;
pub(crate) use counters::jumps::PER_SECOND_MAX;
use counters::keys::{Rows, asked_of, cells_of, keys_of, rows_of};
pub(crate) use counters::keys::{fences_among, is_over};
use counters::recheck::judged;
use counters::unlisted_cells::Strays;
use examined::Examined;
pub use report::{Checkup, Finding, PlaceReport, Severity, Site};

/// Examines the ledger and every store of an existing cluster, all at once, each within ten seconds. It takes
/// no number and changes nothing: no stamp is written, no table made.
///
/// # Errors
///
/// `NoCluster` if there is none; `Refused` if the configuration can't be used at all. A place that can't be
/// reached is a finding, not an error.
pub async fn examine(config: &Config, options: &Options) -> Result<Checkup, OpenError> {
    let is_nothing = look_for_one(config).await?;
    let mut files = Files::default();
    let ledger = stores::ledger(&config.ledger.place, false, &options.env, &mut files)?;
    let doctor = Doctor { config, options, ledger };
    let examination = match doctor.whose(&mut files).await {
        Ok((_, None)) if is_nothing => Err(nothing_in(config)),
        Ok(whose) => doctor.examine(whose, &mut files).await,
        Err(error) => Err(error),
    };
    files.leave().await;
    examination
}

fn nothing_in(config: &Config) -> OpenError {
    no_cluster(config, "a first `sequent next NAME` makes one")
}

fn no_cluster(config: &Config, what: &str) -> OpenError {
    OpenError::NoCluster(format!("no cluster in {}: {what}", config.data.display()))
}

/// Whether the data directory holds nothing of a cluster. Then stores elsewhere may have stamps of one.
async fn look_for_one(config: &Config) -> Result<bool, OpenError> {
    if config.ledger.place == Place::Memory {
        return Err(no_cluster(config, "a memory ledger lasts as long as its process"));
    }
    match data::look(config).await? {
        Found::Nothing if foreign_stores::may_be_elsewhere(config) => Ok(true),
        Found::Nothing => Err(nothing_in(config)),
        Found::Cluster | Found::Elsewhere => Ok(false),
    }
}

struct Doctor<'a> {
    config: &'a Config,
    options: &'a Options,
    ledger: Arc<dyn Ledger>,
}

/// An examination of the ledger, and the stores that name another ledger.
type Whose = (collect::Looked<LedgerExamination>, Option<ForeignStores>);

impl Doctor<'_> {
    /// Examines the ledger. If it has no layout, examines stores and data directory, and then the ledger
    /// again: a server that creates a cluster meanwhile writes the layout before any stamp.
    async fn whose(&self, files: &mut Files) -> Result<Whose, OpenError> {
        let env = &self.options.env;
        let looked = collect::into_ledger(&*self.ledger, env).await;
        if !holds_nothing(&looked.found) {
            return Ok((looked, None));
        }
        let shards = self.shards(None, files)?;
        let asks = shards.into_iter().map(|shard| (shard, Vec::new())).collect();
        let seen = collect::into_shards(asks, env).await;
        let marked = foreign_stores::marked(self.config, self.options).await;
        let looked = collect::into_ledger(&*self.ledger, env).await;
        let at_hand = looked.found.as_ref().ok().map(|found| found.inspection.id);
        let orphans = ForeignStores::of_nothing(stamps_of(&seen), at_hand, (&self.config.data, marked));
        let orphans = orphans.filter(|_| holds_nothing(&looked.found));
        Ok((looked, orphans))
    }

    async fn examine(&self, (mut looked, orphans): Whose, files: &mut Files) -> Result<Checkup, OpenError> {
        let env = &self.options.env;
        let limit = self.config.ring.attempt_timeout;
        let change = resize_in_progress::of(&*self.ledger, looked.found.as_ref().ok(), limit).await;
        if let (Some(_), Ok(found)) = (&change, &mut looked.found) {
            resize_in_progress::without_fact(found);
        }
        let held = looked.found.as_ref().ok();
        let record = held.and_then(|held| held.layout.clone());
        // During a resize some cells are closed and some begun again, so none can be compared with its row.
        let rows = if change.is_some() { Rows::new() } else { rows_of(held) };
        let laid_out = record.as_ref().or(change.as_ref().map(|change| &change.next));
        let reaches = match held {
            Some(held) => self.reaches(held).await,
            None => Reaches::default(),
        };
        let shards = self.shards(laid_out, files)?;
        let (own, shards): (Vec<Shard>, Vec<Shard>) =
            shards.into_iter().partition(|shard| shard.part.place == Place::Memory);
        let generation = record.as_ref().map_or(1, |record| record.generation);
        let known = held.filter(|held| held.layout.is_some() && change.is_none() && orphans.is_none());
        let (named, strays) = self.unheld(known, (&reaches, generation), &shards).await;
        let asked = |slot| asked_of(slot, (&rows, &reaches), (&strays, &named));
        let asks = shards.iter().map(|shard| (shard.clone(), cells_of(&asked(shard.part.slot), generation)));
        let asks = asks.collect();
        let seen = collect::into_shards(asks, env).await;
        let laid_out = held.filter(|held| held.layout.is_some());
        let orphans =
            orphans.or_else(|| ForeignStores::of_another(stamps_of(&seen), laid_out?.inspection.id));
        let mut unread = None;
        let verdicts = match held {
            Some(held) => {
                let speaks = &held.inspection.instance;
                let likely = self.likely(held, (&seen, &asked), (&rows, &reaches)).await;
                let elsewhere = self.ended(held, &rows, likely).await;
                unread = elsewhere.findings();
                let first = judged(&seen, asked, ((&rows, &rows), (&reaches, &elsewhere)), speaks);
                let verdicts = self.judge((&shards, generation), first, &elsewhere).await;
                match &held.layout {
                    Some(record) => self.aimed(verdicts, record.layout).await,
                    None => verdicts,
                }
            }
            None => Vec::new(),
        };
        let mut examined = Examined::new(self.config);
        let stamps =
            stamps_of(&seen).filter(|stamp| held.is_some_and(|held| held.inspection.id == stamp.ledger));
        examined.stamped(stamps.map(|stamp| stamp.generation));
        examined.on_one(&seen);
        examined.moved(self.has_moved(held, &shards, &seen).await);
        let mark = self.mark(&mut examined, (held, &seen)).await;
        let version = self.version_beside(mark, held).await;
        let version = version.map(|version| version.map(|version| (version, mark)));
        examined.ledger(&looked, version, change.as_ref(), orphans.as_ref());
        for (shard, (slot, looked)) in shards.iter().zip(&seen) {
            let counters = keys_of(*slot, &rows).len();
            let stamp = |found: &Examination| {
                let (held, site) = (held?, Site::Slot(*slot));
                if orphans.is_some() {
                    return Some(Err(ring::orphan(site, found.inspection.stamp.as_ref()?)));
                }
                if let Some(change) = &change {
                    return Some(resize_in_progress::stamp(site, found, held, (change, *slot)));
                }
                Some(ring::stamp(site, found, &stamp_of(record.clone()?, held, *slot), counters > 0))
            };
            examined.shard(shard, looked, stamp, &verdicts, counters);
            if looked.found.is_ok() {
                examined.found(strays.findings(*slot));
            }
        }
        for shard in &own {
            examined.memory(shard);
        }
        examined.rows(rows.len());
        examined.found(unread);
        if let Some(held) = laid_out {
            examined.found(commands::findings(&*self.ledger, held.inspection.clock_ms, limit).await);
            examined.found(given_above::findings(&*self.ledger, limit).await);
        }
        Ok(examined.checkup(held, &seen))
    }

    /// The keys that may have cells without a row: those named by rows and definitions, and those that their
    /// stores list.
    async fn unheld(
        &self,
        held: Option<&LedgerExamination>,
        (reaches, generation): (&Reaches, u64),
        shards: &[Shard],
    ) -> (BTreeSet<Key>, Strays) {
        let Some(held) = held else { return Default::default() };
        // Without fences, a period that is over looks like a lost row.
        let Some(fences) = self.fences().await else { return Default::default() };
        let named = self.named(reaches, &fences).await;
        let strays = self.strays(held, (generation, reaches.floor), (shards, fences)).await;
        (named, strays)
    }

    /// The stores that the configuration names, under the layout in force or the one that a first start would
    /// write.
    fn shards(&self, record: Option<&LayoutRecord>, files: &mut Files) -> Result<Vec<Shard>, OpenError> {
        let first = || self.config.first_layout().map_err(|error| OpenError::Refused(error.to_string()));
        let layout: Layout = record.map_or_else(first, |record| Ok(record.layout))?;
        let cluster = record.map_or(&self.config.cluster, |record| &record.cluster);
        stores::shards(self.config.shards_of(layout), cluster, false, &self.options.env, files)
    }
}

/// Whether a ledger answers and has no layout, or answers that it was never made.
fn holds_nothing(found: &Result<LedgerExamination, SourceError>) -> bool {
    let is_gone =
        |error: &SourceError| matches!(error.condition(), Some(Condition::NeverMade | Condition::Emptied));
    found.as_ref().map_or_else(is_gone, has_no_layout)
}

/// Whether it has no layout. If the layout can't be read, or a resize is in progress, a fact says so.
fn has_no_layout(found: &LedgerExamination) -> bool {
    found.layout.is_none() && !found.facts.iter().any(|fact| fact.name == resize_in_progress::FACT)
}

fn stamps_of(seen: &[(SlotIndex, collect::Looked<Examination>)]) -> impl Iterator<Item = Stamp> {
    seen.iter().filter_map(|(_, looked)| looked.found.as_ref().ok()?.inspection.stamp.clone())
}

/// The stamp that belongs in a slot.
fn stamp_of(record: LayoutRecord, held: &LedgerExamination, slot: SlotIndex) -> Stamp {
    let LayoutRecord { cluster, layout, generation } = record;
    Stamp { ledger: held.inspection.id, cluster, layout, slot, generation }
}
