//! What an operator does with a cluster, from its ledger: lists, words, histories, a look at each store.

use std::sync::Arc;

use sequent_core::{
    Layout, SequenceName, SlotIndex,
    ledger::{Loss, WordVerb},
};

use crate::{
    EngineError, OpenError, Options,
    config::Config,
    report::{Explained, SequenceReport, SequenceSummary, ShardReport, WordReport},
};

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
pub struct Desk(Arc<Inner>);

struct Inner {
    layout: Layout,
}

impl Desk {
    /// Opens the ledger of a cluster that exists; never makes one.
    pub async fn open(config: &Config, options: &Options) -> Result<Self, OpenError> {
        todo!()
    }

    /// The layout in force.
    pub fn layout(&self) -> Layout {
        self.0.layout
    }

    /// The sequences, ascending by name.
    pub async fn list(&self) -> Result<Vec<SequenceSummary>, EngineError> {
        todo!()
    }

    /// One sequence with its counters.
    pub async fn show(&self, name: &SequenceName) -> Result<SequenceReport, EngineError> {
        todo!()
    }

    /// Says a word about a slot; every server obeys within two seconds.
    pub async fn say(&self, saying: &Saying) -> Result<WordReport, EngineError> {
        todo!()
    }

    /// Which slot, raw id and life gave a number.
    pub async fn explain(&self, name: &SequenceName, number: u64) -> Result<Explained, EngineError> {
        todo!()
    }

    /// Opens each slot's store by itself, all in parallel, each within the attempt's time limit.
    pub async fn shards(&self) -> Vec<ShardReport> {
        todo!()
    }

    /// Names the loss after which a cluster may go on; returns what was done, for people.
    pub async fn recover(&self, loss: Loss) -> Result<String, OpenError> {
        todo!()
    }
}
