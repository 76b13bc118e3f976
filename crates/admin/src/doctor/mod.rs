//! `sequent doctor`: an examination of the ledger and every store, beside running servers. Nothing is
//! changed.
//!
//! Reading order: `findings` (the table of all findings), `report` (the output), `collect` (how places are
//! examined), `facts`, `cautions`, `clocks`, `ring`, `version`, `ledger_notes`, `resize_in_progress` (what the results
//! mean), `counters`; then [`examine`], which combines them in `examined`.

mod cautions;
mod clocks;
mod collect;
mod counters;
mod examined;
mod facts;
mod findings;
mod ledger_notes;
mod report;
mod resize_in_progress;
mod ring;
mod version;

use std::{sync::Arc, time::Duration};

use sequent_core::{
    Condition, Examination, LedgerExamination, SlotIndex, SourceError, Stamp,
    ledger::{LayoutRecord, Ledger},
};
use sequent_engine::{
    OpenError, Options,
    config::{Config, Place},
    data::{self, Found},
    foreign_stores::{self, ForeignStores},
    stores::{self, Files, Shard},
};

use counters::{
    Ledgered, Verdict,
    history::History,
    keys::{Selected, cells, cells_of, named, select},
    rows::{Rows, rows_of},
    terms::Terms,
    unlisted_cells::Strays,
};
pub(crate) use counters::{
    rows::KeyRows,
    terms::{fences_among, is_over},
};
use examined::Examined;
pub use findings::{Kind, TableRow};
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
    let examination = match doctor.look_into_ledger(&mut files).await {
        Ok((_, None)) if is_nothing => Err(nothing_in(config)),
        Ok(look) => doctor.examine(look, &mut files).await,
        Err(error) => Err(error),
    };
    files.leave().await;
    Ok(examination?.with(cautions::findings(config, options.env.clock.wall_ms()).await))
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
type LedgerLook = (collect::Looked<LedgerExamination>, Option<ForeignStores>);

/// The examinations of the stores.
type Seen = [(SlotIndex, collect::Looked<Examination>)];

/// What was read of the ledger before the stores.
struct LedgerRead {
    rows: Rows,
    by_key: KeyRows,
    terms: Terms,
    strays: Strays,
}

impl Doctor<'_> {
    /// Time limit of one call.
    fn limit(&self) -> Duration {
        self.config.ring.attempt_timeout
    }

    /// Examines the ledger. If it has no layout, examines stores and data directory, and then the ledger
    /// again: a server that creates a cluster meanwhile writes the layout before any stamp.
    async fn look_into_ledger(&self, files: &mut Files) -> Result<LedgerLook, OpenError> {
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
        let foreign = ForeignStores::of_nothing(stamps_of(&seen), at_hand, (&self.config.data, marked));
        let foreign = foreign.filter(|_| holds_nothing(&looked.found));
        Ok((looked, foreign))
    }

    async fn examine(
        &self,
        (mut looked, foreign): LedgerLook,
        files: &mut Files,
    ) -> Result<Checkup, OpenError> {
        let limit = self.limit();
        let change = resize_in_progress::of(&*self.ledger, looked.found.as_ref().ok(), limit).await;
        if let (Some(_), Ok(found)) = (&change, &mut looked.found) {
            resize_in_progress::without_fact(found);
        }
        let held = looked.found.as_ref().ok();
        let laid_out = held.filter(|held| held.layout.is_some());
        let record = held.and_then(|held| held.layout.as_ref());
        let shards = self.shards(record.or(change.as_ref().map(|change| &change.next)), files)?;
        let (own, shards): (Vec<Shard>, Vec<Shard>) =
            shards.into_iter().partition(|shard| shard.part.place == Place::Memory);
        // During a resize some cells are closed and some begun again, so none can be compared with its row.
        let compared = held.filter(|_| change.is_none());
        let read = self.read(compared, laid_out.filter(|_| foreign.is_none()), &shards).await;
        let (selected, seen) = self.look(&read, &shards).await;
        let foreign =
            foreign.or_else(|| ForeignStores::of_another(stamps_of(&seen), laid_out?.inspection.id));
        let (verdicts, history) = match held {
            Some(held) => self.judge(held, &read, (&shards, &selected, &seen)).await,
            None => Default::default(),
        };
        let mut examined = Examined::new(self.config);
        let stamps =
            stamps_of(&seen).filter(|stamp| held.is_some_and(|held| held.inspection.id == stamp.ledger));
        examined.stamped(stamps.map(|stamp| stamp.generation));
        examined.shared_stores(&seen);
        examined.moved(self.has_moved(held, &shards, &seen).await);
        let mark = self.mark(&mut examined, (held, &seen)).await;
        let version = self.version_beside(mark, held).await;
        let version = version.map(|version| version.map(|version| (version, mark)));
        examined.ledger(&looked, version, change.as_ref(), foreign.as_ref());
        for (shard, (slot, looked)) in shards.iter().zip(&seen) {
            let counters = counters::keys::with_row(*slot, &read.rows).len();
            let stamp = |found: &Examination| {
                // The finding about the ledger covers each store that belongs to another one.
                let (held, site) = (held.filter(|_| foreign.is_none())?, Site::Slot(*slot));
                if let Some(change) = &change {
                    return Some(resize_in_progress::stamp(site, found, held, (change, *slot)));
                }
                let expected = held.layout.as_ref()?.stamp(held.inspection.id, *slot);
                Some(ring::stamp(site, found, &expected, counters > 0))
            };
            examined.shard(shard, looked, stamp, &verdicts, counters);
            if looked.found.is_ok() {
                examined.found(read.strays.findings(*slot));
            }
        }
        for shard in &own {
            examined.memory(shard);
        }
        examined.rows(read.rows.len());
        examined.found(history.findings());
        if let Some(held) = laid_out {
            examined.found(ledger_notes::findings(&*self.ledger, held.inspection.clock_ms, limit).await);
        }
        Ok(examined.checkup(held, &seen))
    }

    /// Reads of the ledger what bounds the counters, and lists the cells without a row if it is `known` that
    /// the stores belong to this ledger.
    async fn read(
        &self,
        compared: Option<&LedgerExamination>,
        known: Option<&LedgerExamination>,
        shards: &[Shard],
    ) -> LedgerRead {
        let terms = self.terms(compared).await;
        let strays = match known {
            Some(held) => self.strays(held, &terms, shards).await,
            None => Strays::default(),
        };
        let by_key = compared.map(|held| KeyRows::of(&held.rows)).unwrap_or_default();
        LedgerRead { rows: compared.map(rows_of).unwrap_or_default(), by_key, terms, strays }
    }

    /// Examines the stores, with the cells of the selected counters.
    async fn look(
        &self,
        read: &LedgerRead,
        shards: &[Shard],
    ) -> (Selected, Vec<(SlotIndex, collect::Looked<Examination>)>) {
        let LedgerRead { rows, by_key, terms, strays } = read;
        let named = named(by_key, terms);
        let slots = shards.iter().map(|shard| shard.part.slot);
        let selected: Selected =
            slots.map(|slot| (slot, select(slot, (rows, by_key), (strays, &named)))).collect();
        let asks = shards.iter().map(|shard| {
            let counters = selected.get(&shard.part.slot).map(Vec::as_slice).unwrap_or_default();
            (shard.clone(), cells_of(counters, terms.generation))
        });
        let seen = collect::into_shards(asks.collect(), &self.options.env).await;
        (selected, seen)
    }

    /// Judges the counters.
    async fn judge(
        &self,
        held: &LedgerExamination,
        LedgerRead { rows, by_key, terms, .. }: &LedgerRead,
        (shards, selected, seen): (&[Shard], &Selected, &Seen),
    ) -> (Vec<Verdict>, History) {
        let pairs = cells(selected, seen).map(|(_, counter, sight)| (counter, sight));
        let history = self.history(held, pairs, (rows, by_key)).await;
        let known = Ledgered { before: rows, after: rows, by_key, history: &history, terms };
        let first = known.judge(cells(selected, seen), &held.inspection.instance);
        (self.confirm(shards, first, known).await, history)
    }

    /// The stores that the configuration names, under the layout in force or the one that a first start would
    /// write.
    fn shards(&self, record: Option<&LayoutRecord>, files: &mut Files) -> Result<Vec<Shard>, OpenError> {
        let layout = record.map_or_else(|| self.config.first_layout(), |record| record.layout);
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

fn stamps_of(seen: &Seen) -> impl Iterator<Item = Stamp> {
    seen.iter().filter_map(|(_, looked)| looked.found.as_ref().ok()?.inspection.stamp.clone())
}
