//! Marks that a recovery can't read, reported before anything is done.

use std::{collections::BTreeSet, path::PathBuf};

use sequent_core::{SlotIndex, SourceError, ledger::Loss};
use sequent_engine::{
    OpenError,
    config::{Config, Place},
};
use sequent_guard::MarksRead;
use serde::Serialize;

use super::adopt::Look;
use crate::{
    admin::Admin,
    cell_scan::{CANT_LIST, Pages, extent_of, untold_line},
};

/// The marks that a recovery reads, and those that it can't. Each mark shows how far the ledger has been.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MarksReport {
    /// The data directory whose mark is read. Marks of servers on other hosts can't be read.
    pub data_directory: PathBuf,
    /// Whether there may be data directories of other hosts: the ledger is on a server.
    pub others: bool,
    /// Slots whose stores can't be read.
    pub unread: Vec<UnreadMark>,
    /// Slots of the ring without a store in the configuration.
    pub absent: Vec<SlotIndex>,
    /// Slots whose kind of store lists no cells, so that it is unknown how far their counters are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unlisted: Vec<SlotIndex>,
}

/// A store whose mark can't be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnreadMark {
    /// The slot.
    pub slot: SlotIndex,
    /// The cause.
    pub cause: String,
}

impl Admin {
    /// The marks that a recovery reads now, and those that it can't. Changes nothing.
    pub async fn marks(&self) -> MarksReport {
        let cluster = &self.0;
        let read = sequent_guard::read_marks(&self.0.stores(), cluster.limit).await;
        let is_absent = |slot: &SlotIndex| !cluster.shards.iter().any(|shard| shard.part.slot == *slot);
        MarksReport {
            data_directory: cluster.data.clone(),
            others: cluster.is_shared,
            unread: unread(read),
            absent: (0..cluster.record.layout.slots()).filter(is_absent).collect(),
            unlisted: self.unlisted().await,
        }
    }

    /// The slots with stores that list no cells.
    async fn unlisted(&self) -> Vec<SlotIndex> {
        let one = Pages { most: 1, limit: self.limit() };
        extent_of(self.0.stores().into_iter(), None, one).await.untold
    }
}

fn unread(read: MarksRead) -> Vec<UnreadMark> {
    let unread = |(slot, error): (SlotIndex, SourceError)| UnreadMark { slot, cause: error.to_string() };
    read.unread.into_iter().map(unread).collect()
}

impl MarksReport {
    /// The report for a ledger whose layout is not in force. `looks` are the examinations of the stores;
    /// failed ones count as unread.
    pub(crate) fn of(config: &Config, read: MarksRead, looks: &[Look], slots: SlotIndex) -> Self {
        let failed = looks.iter().filter(|(shard, _)| shard.part.slot < slots);
        let failed = failed.filter_map(|(shard, found)| {
            Some(UnreadMark { slot: shard.part.slot, cause: found.as_ref().err()?.to_string() })
        });
        let is_absent = |slot: &SlotIndex| !looks.iter().any(|(shard, _)| shard.part.slot == *slot);
        Self {
            data_directory: config.data.clone(),
            others: matches!(config.ledger.place, Place::Server(_)),
            unread: unread(read).into_iter().chain(failed).collect(),
            absent: (0..slots).filter(is_absent).collect(),
            // Cells are not listed here: a resize closes each cell that the ledger has a row of, and learns
            // its value.
            unlisted: Vec::new(),
        }
    }

    /// For people: what can't be read, and the consequence if this loss is named.
    pub fn lines(&self, loss: Loss) -> Vec<String> {
        let mut lines: Vec<String> = self
            .unread
            .iter()
            .map(|mark| format!("slot {}: its mark can't be read: {}", mark.slot, mark.cause))
            .collect();
        if !self.absent.is_empty() {
            let slots = listed(self.absent.iter().copied());
            lines.push(format!(
                "the configuration names no store for these slots, so their marks are not read: slots {slots}"
            ));
        }
        if self.others {
            let read = self.data_directory.display();
            lines.push(format!(
                "of data directories only “{read}” is read: those of servers on other hosts hold marks, too"
            ));
        }
        if !lines.is_empty() {
            lines.push(meaning(loss).to_owned());
        }
        if matches!(loss, Loss::Bump(_)) && !self.unlisted.is_empty() {
            lines.push(untold_line(&self.unlisted, CANT_LIST));
        }
        lines
    }

    /// Refuses if a mark can't be read and the operator has not named its slot.
    pub(crate) fn check(&self, loss: Loss, without: &BTreeSet<SlotIndex>) -> Result<(), OpenError> {
        let unnamed: Vec<&UnreadMark> =
            self.unread.iter().filter(|mark| !without.contains(&mark.slot)).collect();
        if unnamed.is_empty() {
            return Ok(());
        }
        let causes: Vec<String> =
            unnamed.iter().map(|mark| format!("slot {}: {}", mark.slot, mark.cause)).collect();
        let words = without_words(unnamed.iter().map(|mark| mark.slot));
        Err(OpenError::Refused(format!(
            "the marks of these stores can't be read, and may show how far the ledger has been: {}; nothing was done. Bring the \
             stores back, and repeat the command; or, if they are lost, add `{words}`: {}",
            causes.join("; "),
            meaning(loss)
        )))
    }
}

/// The consequence of an unread mark.
fn meaning(loss: Loss) -> &'static str {
    match loss {
        Loss::Bump(_) => {
            "a mark that is not read stops nothing later, however high it is, so N must cover what was given under it, too"
        }
        Loss::Moved => {
            "if such a mark is higher, this is not the newest state: once it is read, everything stops again, with \
             RECOVERY_REQUIRED, until `sequent recover --bump N`"
        }
    }
}

/// The options that name these slots.
pub(crate) fn without_words(slots: impl Iterator<Item = SlotIndex>) -> String {
    slots.map(|slot| format!("--without {slot}")).collect::<Vec<_>>().join(" ")
}

pub(crate) fn listed(slots: impl Iterator<Item = SlotIndex>) -> String {
    slots.map(|slot| slot.to_string()).collect::<Vec<_>>().join(", ")
}

/// Refuses a slot that is not in the ring.
pub(crate) fn check_named(without: &BTreeSet<SlotIndex>, slots: SlotIndex) -> Result<(), OpenError> {
    match without.last() {
        Some(slot) if *slot >= slots => {
            Err(OpenError::Refused(format!("--without is {slot}: 0 to {} are the ring's slots", slots - 1)))
        }
        _ => Ok(()),
    }
}
