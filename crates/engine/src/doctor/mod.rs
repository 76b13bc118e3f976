//! `sequent doctor`: every store and the ledger looked into, beside servers that run, and nothing changed by it.
//!
//! Reading order: `report` (what is told), `look` (how places are looked into), `facts`, `clocks`, `counters` and `ring`
//! (what it means), then [`examine`], which puts it together.

mod advice;
mod changing;
mod clocks;
mod counters;
mod examined;
mod facts;
mod look;
mod report;
mod ring;
#[cfg(test)]
mod tests;
mod words;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use sequent_core::{
    Examination, Incarnation, Key, Layout, LedgerExamination, MarkPlace, SlotIndex, SourceError, Stamp,
    ledger::{Advanced, Counter, LayoutRecord, Ledger, Row},
};
use sequent_guard::Outside;

use crate::{
    OpenError, Options,
    config::{Config, Place},
    data::{self, Found, Home},
    desk::floor,
    ground::{is_gutted, is_unmade},
    limit::within,
    orphans::{self, Orphans},
    stores::{self, Files, Shard},
};

pub(crate) use advice::of_leap;
use counters::{Likely, Reaches, Speaks, Verdict};
use examined::Examined;
pub use report::{Checkup, Finding, PlaceReport, Severity, Site};

/// How many counters that are doubted more is asked of.
const DOUBTED_MAX: usize = 64;

/// Between two looks at what servers at work may just be changing.
const PAUSE: Duration = Duration::from_millis(200);

/// Looks into the ledger and every store of a cluster that exists, each within ten seconds, all at once. It takes no
/// number, and changes nothing: no stamp is written, no table made.
///
/// # Errors
///
/// `NoCluster` where there is none, `Refused` where the configuration can't be used at all. A place that can't be reached is
/// no error, but a finding.
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

/// Whether nothing of a cluster is in the data directory: then stores elsewhere may tell of one.
async fn look_for_one(config: &Config) -> Result<bool, OpenError> {
    if config.ledger.place == Place::Memory {
        return Err(no_cluster(config, "a memory ledger lives and dies with its process"));
    }
    match data::look(config).await? {
        Found::Nothing if orphans::may_be_elsewhere(config) => Ok(true),
        Found::Nothing => Err(nothing_in(config)),
        Found::Cluster | Found::Elsewhere => Ok(false),
    }
}

struct Doctor<'a> {
    config: &'a Config,
    options: &'a Options,
    ledger: Arc<dyn Ledger>,
}

/// The ledger's rows by counter.
type Rows = BTreeMap<Counter, Row>;

/// A look into the ledger, and whoever tells that another one should be there.
type Whose = (look::Looked<LedgerExamination>, Option<Orphans>);

impl Doctor<'_> {
    /// Looks into the ledger; where it has no layout, at stores and data directory besides, and then into it once more: whoever
    /// founds a cluster just then writes the layout before any stamp.
    async fn whose(&self, files: &mut Files) -> Result<Whose, OpenError> {
        let env = &self.options.env;
        let looked = look::into_ledger(&*self.ledger, env).await;
        if !holds_nothing(&looked.found) {
            return Ok((looked, None));
        }
        let shards = self.shards(None, files)?;
        let asks = shards.into_iter().map(|shard| (shard, Vec::new())).collect();
        let seen = look::into_shards(asks, env).await;
        let marked = orphans::marked(self.config, self.options).await;
        let looked = look::into_ledger(&*self.ledger, env).await;
        let at_hand = looked.found.as_ref().ok().map(|found| found.inspection.id);
        let orphans = Orphans::of_nothing(stamps_of(&seen), at_hand, (&self.config.data, marked));
        let orphans = orphans.filter(|_| holds_nothing(&looked.found));
        Ok((looked, orphans))
    }

    async fn examine(&self, (mut looked, orphans): Whose, files: &mut Files) -> Result<Checkup, OpenError> {
        let env = &self.options.env;
        let limit = self.config.ring.health.attempt_timeout;
        let change = changing::of(&*self.ledger, looked.found.as_ref().ok(), limit).await;
        if let (Some(_), Ok(found)) = (&change, &mut looked.found) {
            changing::without_fact(found);
        }
        let held = looked.found.as_ref().ok();
        let record = held.and_then(|held| held.layout.clone());
        // Of a ring that is being changed some cells are closed, some begun anew: none can be held against its row.
        let rows = if change.is_some() { Rows::new() } else { rows_of(held) };
        let laid_out = record.as_ref().or(change.as_ref().map(|change| &change.next));
        let reaches = held.map(|held| Reaches::of(&held.rows)).unwrap_or_default();
        let reaches = match &record {
            Some(record) => reaches.above(floor(&*self.ledger, record.epoch, limit).await),
            None => reaches,
        };
        let named = match held.filter(|held| held.layout.is_some() && change.is_none() && orphans.is_none()) {
            Some(_) => self.named(&reaches).await,
            None => BTreeSet::new(),
        };
        let asked = |slot| asked_of(slot, (&rows, &reaches), &named);
        let shards = self.shards(laid_out, files)?;
        let (own, shards): (Vec<Shard>, Vec<Shard>) =
            shards.into_iter().partition(|shard| shard.part.place == Place::Memory);
        let epoch = record.as_ref().map_or(1, |record| record.epoch);
        let asks = shards.iter().map(|shard| (shard.clone(), cells_of(&asked(shard.part.slot), epoch)));
        let asks = asks.collect();
        let seen = look::into_shards(asks, env).await;
        let laid_out = held.filter(|held| held.layout.is_some());
        let orphans = orphans.or_else(|| Orphans::of_another(stamps_of(&seen), laid_out?.inspection.id));
        let verdicts = match held {
            Some(held) => {
                let speaks = &held.inspection.incarnation;
                let likely = self.likely(held, (&seen, &asked), (&rows, &reaches)).await;
                let first = judged(&seen, asked, ((&rows, &rows), (&reaches, &likely)), speaks);
                self.judge((&shards, epoch), first, &likely).await
            }
            None => Vec::new(),
        };
        let mut examined = Examined::new(self.config);
        let stamps =
            stamps_of(&seen).filter(|stamp| held.is_some_and(|held| held.inspection.id == stamp.ledger));
        examined.stamped(stamps.map(|stamp| stamp.epoch));
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
                    return Some(changing::stamp(site, found, held, (change, *slot)));
                }
                Some(ring::stamp(site, found, &stamp_of(record.clone()?, held, *slot), counters > 0))
            };
            examined.shard(shard, looked, stamp, &verdicts, counters);
        }
        for shard in &own {
            examined.memory(shard);
        }
        examined.rows(rows.len());
        if let Some(held) = laid_out {
            examined.words(words::findings(&*self.ledger, held.inspection.clock_ms, limit).await);
        }
        Ok(examined.checkup(held, &seen))
    }

    /// The stores that the configuration names, by the layout in force, or what it will be.
    fn shards(&self, record: Option<&LayoutRecord>, files: &mut Files) -> Result<Vec<Shard>, OpenError> {
        let first = || self.config.first_layout().map_err(|error| OpenError::Refused(error.to_string()));
        let layout: Layout = record.map_or_else(first, |record| Ok(record.layout))?;
        let cluster = record.map_or(&self.config.cluster, |record| &record.cluster);
        stores::shards(self.config.shards_of(layout), cluster, false, &self.options.env, files)
    }

    /// How far the lives of counters can have come that row or cell have far on: what the ledger says elsewhere.
    async fn likely(
        &self,
        held: &LedgerExamination,
        (seen, asked): (&[(SlotIndex, look::Looked<Examination>)], &impl Fn(SlotIndex) -> Vec<Key>),
        (rows, reaches): (&Rows, &Reaches),
    ) -> Likely {
        let mut likely = Likely::new();
        let Some(record) = &held.layout else { return likely };
        let mut doubted: Vec<Counter> = Vec::new();
        for (slot, looked) in seen {
            let Ok(found) = &looked.found else { continue };
            let counters = counters_of(*slot, asked(*slot));
            let room = DOUBTED_MAX - doubted.len();
            doubted.extend(counters::doubted(counters.iter().zip(&found.cells), rows, reaches, room));
        }
        let (limit, inspection) = (self.config.ring.health.attempt_timeout, &held.inspection);
        for counter in doubted {
            let Some(row) = rows.get(&counter) else { continue };
            let beside = |other: &Counter| other.key == counter.key && other.slot != counter.slot;
            let others = held.rows.iter().filter(|(other, _)| beside(other)).map(|(_, row)| row);
            let read = Outside::read(&*self.ledger, &counter, record.layout, (inspection.version, others));
            // Of one that can't be asked less is told.
            if let Ok(outside) = within(limit, "read a counter's history", read).await {
                likely.insert(counter.clone(), counters::likely(row, &outside, inspection.clock_ms));
            }
        }
        likely
    }

    /// What is to be said of counters: those that servers may just be changing are looked at again before, and those that stay
    /// above their ceilings once more, when whoever raises one has had the time.
    async fn judge(
        &self,
        (shards, epoch): (&[Shard], u64),
        first: Vec<Verdict>,
        likely: &Likely,
    ) -> Vec<Verdict> {
        let (passing, mut verdicts): (Vec<Verdict>, Vec<Verdict>) =
            first.into_iter().partition(|verdict| verdict.kind.passes());
        let again = self.look_again((shards, epoch), passing, likely, PAUSE).await;
        let (above, passed): (Vec<Verdict>, Vec<Verdict>) =
            again.into_iter().partition(Verdict::is_far_above);
        verdicts.extend(passed);
        let patience = self.config.ring.health.attempt_timeout;
        let stay = self.look_again((shards, epoch), above.clone(), likely, patience).await;
        verdicts.extend(stay.into_iter().map(|verdict| verdict.staying(&above)));
        verdicts
    }

    /// The counters of these verdicts, looked at again after a pause.
    async fn look_again(
        &self,
        (shards, epoch): (&[Shard], u64),
        passing: Vec<Verdict>,
        likely: &Likely,
        pause: Duration,
    ) -> Vec<Verdict> {
        if passing.is_empty() {
            return passing;
        }
        tokio::time::sleep(pause).await;
        let keys = |slot| {
            let of_slot = passing.iter().filter(move |verdict| verdict.counter.slot == slot);
            of_slot.map(|verdict| verdict.counter.key.clone()).collect::<Vec<Key>>()
        };
        let again = shards.iter().filter(|shard| !keys(shard.part.slot).is_empty());
        let asks = again.map(|shard| (shard.clone(), cells_of(&keys(shard.part.slot), epoch))).collect();
        let env = &self.options.env;
        let before = look::into_ledger(&*self.ledger, env).await;
        let seen = look::into_shards(asks, env).await;
        let after = look::into_ledger(&*self.ledger, env).await;
        match (before.found, after.found) {
            (Ok(before), Ok(after)) => {
                let speaks = &after.inspection.incarnation;
                // Of a ring that was changed meanwhile these are the cells of the layout before.
                let is_same = after.layout.as_ref().is_some_and(|record| record.epoch == epoch);
                let limit = self.config.ring.health.attempt_timeout;
                let reaches = if is_same {
                    Reaches::of(&after.rows).above(floor(&*self.ledger, epoch, limit).await)
                } else {
                    Reaches::default()
                };
                let (before, after) = (rows_of(Some(&before)), rows_of(Some(&after)));
                judged(&seen, keys, ((&before, &after), (&reaches, likely)), speaks)
            }
            // Then the look before has to do.
            _ => passing,
        }
    }

    /// The keys that rows or definitions name: a cell of theirs without a row is what a row that is gone has left. Not those
    /// of periods that are over: their rows are forgotten, and nothing begins there again.
    async fn named(&self, reaches: &Reaches) -> BTreeSet<Key> {
        let limit = self.config.ring.health.attempt_timeout;
        let Ok(fences) = within(limit, "read fences", self.ledger.advanced()).await else {
            return BTreeSet::new();
        };
        let fences: BTreeMap<Key, u64> = fences.into_iter().map(|fence| (fence.key, fence.to)).collect();
        let mut named: BTreeSet<Key> = reaches.keys().filter(|key| !is_over(key, &fences)).cloned().collect();
        // Without them fewer cells are looked at, and all else is as it was.
        if let Ok((_, defined)) = within(limit, "read definitions", self.ledger.definitions()).await {
            named.extend(defined.iter().take(look::COUNTERS_MAX).map(|definition| Key::of(&definition.name)));
        }
        named
    }

    /// The highest version that was left anywhere.
    async fn mark(
        &self,
        examined: &mut Examined<'_>,
        (held, seen): (Option<&LedgerExamination>, &[(SlotIndex, look::Looked<Examination>)]),
    ) -> u64 {
        let limit = self.config.ring.health.attempt_timeout;
        let home = Home::new(&self.config.data, limit, Arc::clone(&self.options.env.entropy));
        let left = match within(limit, "read the mark", home.bear(0, None)).await {
            Ok(mark) => {
                // By the layout that it was left under, where that is not the ledger's.
                if let Ok(Some(trouble)) = sequent_guard::other_era(&*self.ledger, mark, limit).await {
                    examined.marker(&trouble.error());
                }
                mark.version
            }
            Err(error) => {
                examined.marker(&error);
                0
            }
        };
        seen.iter()
            .filter_map(|(_, looked)| looked.found.as_ref().ok())
            .filter(|found| ring::speaks_of(found, held))
            .map(|found| found.mark)
            .fold(left, u64::max)
    }

    /// Whether ledger and stores, all of them files, are other ones than those on record.
    async fn has_moved(
        &self,
        held: Option<&LedgerExamination>,
        shards: &[Shard],
        seen: &[(SlotIndex, look::Looked<Examination>)],
    ) -> bool {
        let is_file = |place: &Place| matches!(place, Place::Sqlite(_));
        let is_embedded =
            is_file(&self.config.ledger.place) && shards.iter().all(|shard| is_file(&shard.part.place));
        let Some(held) = held.filter(|_| is_embedded) else { return false };
        let limit = self.config.ring.health.attempt_timeout;
        let Ok(known) = within(limit, "read the incarnations on record", self.ledger.known()).await else {
            return false;
        };
        let found: Vec<(SlotIndex, &Incarnation)> = seen
            .iter()
            .filter_map(|(slot, looked)| Some((*slot, &looked.found.as_ref().ok()?.inspection.incarnation)))
            .collect();
        sequent_guard::all_moved(&known, &held.inspection.incarnation, &found)
    }

    /// The ledger's version, read again where a mark is above the one that was read before it.
    /// Whoever can't be asked again has not gone back: marks are younger than what it said before.
    async fn version_beside(
        &self,
        mark: u64,
        held: Option<&LedgerExamination>,
    ) -> Option<Result<u64, SourceError>> {
        let version = held?.inspection.version;
        if version >= mark {
            return Some(Ok(version));
        }
        let again = look::into_ledger(&*self.ledger, &self.options.env).await;
        Some(again.found.map(|held| held.inspection.version))
    }
}

/// Whether a ledger answers that has no layout, or that says that it was never made.
fn holds_nothing(found: &Result<LedgerExamination, SourceError>) -> bool {
    let is_gone = |error: &SourceError| is_unmade(&error.to_string()) || is_gutted(&error.to_string());
    found.as_ref().map_or_else(is_gone, has_no_layout)
}

/// Whether it has none: of one that can't be read, or is being changed, a fact says so.
fn has_no_layout(found: &LedgerExamination) -> bool {
    found.layout.is_none() && !found.facts.iter().any(|fact| fact.name == changing::FACT)
}

fn stamps_of(seen: &[(SlotIndex, look::Looked<Examination>)]) -> impl Iterator<Item = Stamp> {
    seen.iter().filter_map(|(_, looked)| looked.found.as_ref().ok()?.inspection.stamp.clone())
}

fn rows_of(held: Option<&LedgerExamination>) -> Rows {
    // A life that an operator began no store has heard of yet.
    let begun = |row: &&(Counter, Row)| !row.1.store.is_nobody();
    held.map(|held| held.rows.iter().filter(begun).cloned().collect()).unwrap_or_default()
}

/// The keys whose cells of this slot are compared.
fn keys_of(slot: SlotIndex, rows: &Rows) -> Vec<Key> {
    let of_slot = rows.keys().filter(|counter| counter.slot == slot);
    of_slot.take(look::COUNTERS_MAX).map(|counter| counter.key.clone()).collect()
}

/// Whether a key is of a period behind a fence.
pub(crate) fn is_over(key: &Key, fences: &BTreeMap<Key, u64>) -> bool {
    Advanced::fence(key).is_some_and(|own| fences.get(&own.key).is_some_and(|to| *to >= own.to))
}

/// The keys whose cells of this slot are asked for: those with a row there, and then those named elsewhere alone.
fn asked_of(slot: SlotIndex, (rows, reaches): (&Rows, &Reaches), named: &BTreeSet<Key>) -> Vec<Key> {
    let mut keys = keys_of(slot, rows);
    let room = look::COUNTERS_MAX - keys.len();
    let rowless = named.iter().filter(|key| reaches.lacks(&Counter { slot, key: (*key).clone() }));
    keys.extend(rowless.take(room).cloned());
    keys
}

fn counters_of(slot: SlotIndex, keys: Vec<Key>) -> Vec<Counter> {
    keys.into_iter().map(|key| Counter { slot, key }).collect()
}

/// What their cells are called under the layout in force.
fn cells_of(keys: &[Key], epoch: u64) -> Vec<Key> {
    keys.iter().map(|key| key.in_epoch(epoch)).collect()
}

/// The stamp that belongs into a slot.
fn stamp_of(record: LayoutRecord, held: &LedgerExamination, slot: SlotIndex) -> Stamp {
    let LayoutRecord { cluster, layout, epoch } = record;
    Stamp { ledger: held.inspection.id, cluster, layout, slot, epoch }
}

fn judged(
    seen: &[(SlotIndex, look::Looked<Examination>)],
    keys: impl Fn(SlotIndex) -> Vec<Key>,
    (rows, reaches): ((&Rows, &Rows), (&Reaches, &Likely)),
    ledger: &Incarnation,
) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for (slot, looked) in seen {
        let Ok(found) = &looked.found else { continue };
        let counters = counters_of(*slot, keys(*slot));
        let cells = counters.iter().zip(&found.cells);
        let speaks = Speaks { store: &found.inspection.incarnation, ledger };
        verdicts.extend(counters::judge_all(cells, rows, reaches, speaks));
    }
    verdicts
}
