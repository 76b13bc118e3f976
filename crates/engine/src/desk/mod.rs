//! What an operator does with a cluster, from its ledger: lists, words, histories, a look at each store.

mod alone;
mod answers;
mod doubted;
mod explain;
mod extent;
mod floor;
mod look;
mod permitted;
mod plan;
mod recover;
mod relaid;
mod resting;
mod since;
mod taking_up;
mod trouble;
mod unread;

use std::{sync::Arc, time::Duration};

use sequent_core::{
    Condition, ErrorKind, Key, Layout, SequenceName, SlotIndex, Span,
    ledger::{Counter, Definition, DenseRow, Ledger, Row, Word, WordVerb},
};
use sequent_format::Timestamp;

use crate::{
    Body, EngineError, OpenError, Options,
    config::{Config, Place},
    data::{self, Found},
    dense::number_of,
    ground::{Ground, NOT_STARTED},
    limit::{not_found, of_ledger, within},
    orphans,
    report::{
        COUNTERS_SHOWN_MAX, CounterReport, DenseReport, QuarantineReport, SequenceReport, SequenceSummary,
        WaitingReport, WordReport,
    },
    unopened::Unopened,
};

pub use answers::{Answer, Answers};
pub(crate) use doubted::Doubted;
pub(crate) use extent::{Extent, Pages, extent_of};
pub(crate) use floor::floor;
pub(crate) use look::OBEYED_WITHIN;
pub(crate) use permitted::{Permitted, without_generation};
pub use plan::{PlannedKey, RecoveryPlan};
pub(crate) use resting::{APART_MAX, resting_by_slot};
pub use since::{BUMP_MAX, CopyMade, LossEstimate};
pub use taking_up::NamedLoss;
pub(crate) use taking_up::widest;
pub use unread::{MarksReport, UnreadMark};

/// An operator's word about a slot, before the ledger has dated it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saying {
    /// The slot.
    pub slot: SlotIndex,
    /// What shall be done.
    pub verb: WordVerb,
    /// Who says it.
    pub who: String,
    /// Why.
    pub why: String,
    /// Until when it counts, in milliseconds since 1970; `None`: until another word.
    pub until_ms: Option<u64>,
}

/// The desk of a cluster that exists. It takes no number, stamps nothing, and needs no shard that answers. Cheap to clone.
#[derive(Clone)]
pub struct Desk(pub(crate) Arc<Ground>);

impl Desk {
    /// Opens the ledger of a cluster that exists; never makes one.
    pub async fn open(config: &Config, options: &Options) -> Result<Self, OpenError> {
        let none =
            |what: String| OpenError::NoCluster(format!("no cluster in {}: {what}", config.data.display()));
        if config.ledger.place == Place::Memory {
            return Err(none("a memory ledger lasts as long as its process".to_owned()));
        }
        let is_nothing = data::look(config).await? == Found::Nothing;
        let unmade = || none("a first `sequent next NAME` makes one".to_owned());
        if is_nothing && !orphans::may_be_elsewhere(config) {
            return Err(unmade());
        }
        let existing = async || match Ground::existing(config, options.env.clone()).await {
            Ok(Some(ground)) => Ok(Ok(Self(Arc::new(ground)))),
            Ok(None) => Ok(Err(none(format!(
                "{NOT_STARTED}: its ledger has no layout, which a first `sequent serve` or `next NAME` writes"
            )))),
            Err(Unopened { error, condition }) => match (error, condition) {
                (OpenError::Unavailable(_), Some(Condition::NeverMade)) if is_nothing => Ok(Err(unmade())),
                (OpenError::Refused(text), Some(Condition::NeverMade)) => {
                    Ok(Err(OpenError::Refused(format!("{NOT_STARTED}: {text}"))))
                }
                (error @ OpenError::Refused(_), Some(Condition::Emptied)) => Ok(Err(error)),
                (other, _) => Err(other),
            },
        };
        let not_started = match existing().await? {
            Ok(desk) => return Ok(desk),
            Err(not_started) => not_started,
        };
        let Some(orphans) = orphans::look(config, options).await? else { return Err(not_started) };
        // Once more: whoever founds a cluster writes the layout before any stamp.
        existing().await?.map_err(|_| orphans.error())
    }

    /// The layout in force.
    pub fn layout(&self) -> Layout {
        self.0.record.layout
    }

    /// Now, as this process's clock shows it.
    fn now(&self) -> Timestamp {
        let now = i64::try_from(self.0.env.clock.wall_ms()).ok();
        now.and_then(|now| Timestamp::from_millisecond(now).ok()).unwrap_or_default()
    }

    /// The sequences, ascending by name.
    pub async fn list(&self) -> Result<Vec<SequenceSummary>, EngineError> {
        Ok(self.definitions().await?.iter().map(|held| summary(held, self.now())).collect())
    }

    /// One sequence with its counters.
    pub async fn show(&self, name: &SequenceName) -> Result<SequenceReport, EngineError> {
        let definition = self.definition(name).await?;
        let rows = self.rows(name).await?;
        let body = Body::from_text(&definition.body).ok();
        let span = body.map(|body| body.in_effect(definition.version, self.now()).1.span());
        let counters = rows.iter().map(|(counter, row)| self.counter(span, counter, row)).collect();
        let dense = self.ledger().dense(Some(name.as_str()), COUNTERS_SHOWN_MAX);
        let dense = within(self.limit(), "read the dense counters", dense)
            .await
            .map_err(|error| of_ledger(&error))?;
        let words = within(self.limit(), "read the words", self.ledger().words()).await;
        let mut quarantined = self.quarantined(&words.map_err(|error| of_ledger(&error))?);
        quarantined.retain(|counter| Key::from_stored(&counter.key).sequence() == name.as_str());
        Ok(SequenceReport {
            summary: summary(&definition, self.now()),
            definition: definition.body,
            counters,
            dense: dense.iter().map(|row| report_dense(span, row)).collect(),
            quarantined,
        })
    }

    /// Says a word about a slot; every server obeys within two seconds.
    pub async fn say(&self, saying: &Saying) -> Result<WordReport, EngineError> {
        let slots = self.layout().slots();
        if saying.slot >= slots {
            let bound = format!("0 to {} are allowed", slots - 1);
            return Err(EngineError::invalid("slot", saying.slot, bound));
        }
        let Saying { slot, verb, who, why, until_ms } = saying.clone();
        let word = Word { slot, verb, who, why, at_ms: 0, until_ms };
        let said = within(self.limit(), "say a word", self.ledger().say(&word)).await;
        let said = said.map_err(|error| of_ledger(&error))?;
        if verb == WordVerb::Rescue
            && let Some(notes) = &self.0.quarantine
        {
            // Where they stay, the word that was just said hides them, until another word takes its place.
            drop(notes.forget(Some(slot)));
        }
        Ok(report_word(&said))
    }

    /// The counters of a slot from which nothing is taken, as processes of this data directory noted them; those that wait for
    /// nothing but a [rescue](WordVerb::Rescue). None where the words can't be read.
    pub async fn put_aside(&self, slot: SlotIndex) -> Vec<QuarantineReport> {
        let words = within(self.limit(), "read the words", self.ledger().words()).await;
        let mut aside = words.map(|words| self.quarantined(&words)).unwrap_or_default();
        aside.retain(|counter| counter.slot == slot);
        aside
    }

    /// The counters from which nothing is taken, as processes of this data directory noted them.
    fn quarantined(&self, words: &[Word]) -> Vec<QuarantineReport> {
        self.0.quarantine.as_ref().map_or_else(Vec::new, |notes| notes.read(words))
    }

    /// Leaves the files that this desk has opened; names those that could not be left in time. A running engine's desk
    /// leaves with the engine.
    pub async fn close(&self) -> Vec<String> {
        self.0.files.leave().await
    }

    fn ledger(&self) -> &dyn Ledger {
        &*self.0.ledger
    }

    fn limit(&self) -> Duration {
        self.0.limit
    }

    async fn definitions(&self) -> Result<Vec<Definition>, EngineError> {
        let read = within(self.limit(), "read the definitions", self.ledger().definitions()).await;
        read.map(|(_, definitions)| definitions).map_err(|error| of_ledger(&error))
    }

    async fn definition(&self, name: &SequenceName) -> Result<Definition, EngineError> {
        let definitions = self.definitions().await?;
        match definitions.into_iter().find(|held| held.name == *name) {
            Some(held) => Ok(held),
            None => Err(self.another().await.unwrap_or_else(|| not_found(name))),
        }
    }

    /// Why what the ledger does not know says nothing: the stores are of another one.
    async fn another(&self) -> Option<EngineError> {
        let stores: Vec<_> = self.stores().into_iter().map(|(_, store)| store).collect();
        let error = sequent_guard::belongs(self.ledger(), &stores, self.limit()).await.err()?;
        (error.kind() == ErrorKind::LedgerBehind).then(|| of_ledger(&error))
    }

    async fn rows(&self, name: &SequenceName) -> Result<Vec<(Counter, Row)>, EngineError> {
        let list = self.ledger().list(Some(name.as_str()), COUNTERS_SHOWN_MAX);
        within(self.limit(), "read the rows", list).await.map_err(|error| of_ledger(&error))
    }

    fn counter(&self, span: Option<Span>, counter: &Counter, row: &Row) -> CounterReport {
        let layout = self.layout();
        let number_max = span.and_then(|span| {
            let highest = layout.encode(row.ceiling, counter.slot)? << layout.memory_bits();
            let encoded = sequent_core::Block::new(highest | (layout.numbers_per_id() - 1), 1, 1).ok()?;
            span.numbers(layout, encoded).map(|block| block.last())
        });
        CounterReport {
            key: counter.key.to_string(),
            slot: counter.slot,
            epoch: row.epoch.to_string(),
            base: row.base,
            ceiling: row.ceiling,
            seen: row.seen,
            number_max,
            opened_at_ms: row.opened_at_ms,
        }
    }
}

/// A definition as a list shows it: the version in effect, and those that wait.
fn summary(definition: &Definition, now: Timestamp) -> SequenceSummary {
    let (top, fault) = match Body::from_text(&definition.body) {
        Ok(top) => (Some(top), None),
        // What is not proven here, for want of a key, still says what it is.
        Err(fault) => (Body::unproven(&definition.body).ok(), Some(fault)),
    };
    let waiting = top.as_ref().map_or_else(Vec::new, |top| top.waiting(definition.version, now));
    let template = |body: &Body| Some(body.texts()?.template().to_owned());
    let waiting = waiting.into_iter().filter_map(|(version, body)| {
        let effective = body.shown(body.begins()?);
        Some(WaitingReport { version, effective, template: template(body) })
    });
    let waiting = waiting.collect();
    let in_effect = top.as_ref().map(|top| top.in_effect(definition.version, now));
    let (version, body) =
        in_effect.map_or((definition.version, None), |(version, body)| (version, Some(body)));
    let span = body.map(Body::span).unwrap_or_default();
    SequenceSummary {
        sequence: definition.name.to_string(),
        version,
        placement: body.map_or("unknown", |body| body.placement().as_str()),
        start: span.start(),
        step: span.step(),
        end: span.limit(),
        template: body.and_then(template),
        fault,
        waiting,
    }
}

fn report_dense(span: Option<Span>, row: &DenseRow) -> DenseReport {
    DenseReport {
        key: row.key.to_string(),
        given: row.value,
        number: span.map_or(0, |span| number_of(span, row.value)),
        begun_at_ms: row.begun_at_ms,
    }
}

pub(crate) fn report_word(word: &Word) -> WordReport {
    let Word { verb, who, why, at_ms, until_ms, .. } = word;
    WordReport { verb: verb.as_str(), who: who.clone(), why: why.clone(), at_ms: *at_ms, until_ms: *until_ms }
}
