//! `[[shard]]`: which store is in which slot.

use std::{fmt, path::PathBuf};

use sequent_core::{SHARD_BITS_MAX, SlotIndex};

use super::Section;

/// Where a store or ledger is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// An SQLite file; relative paths have been put under the data directory.
    Sqlite(PathBuf),
    /// This process's memory: test and bench only.
    Memory,
}

impl Place {
    /// The word of the configuration.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "sqlite",
            Self::Memory => "memory",
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => fmt::Display::fmt(&path.display(), f),
            Self::Memory => f.write_str("this process's memory"),
        }
    }
}

/// A store in a slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShardPart {
    /// The place in the ring.
    pub slot: SlotIndex,
    /// Where the store is.
    pub place: Place,
}

/// Stores that this version was built with, and those that have a word but no code in it.
const BUILT_IN: [&str; 2] = ["sqlite", "memory"];
const TO_COME: [&str; 7] =
    ["mysql-auto-increment", "mysql-row", "mysql-segment", "postgres-row", "redis", "memcached", "mongodb"];

impl ShardPart {
    /// The part, and whether it is reached over a network; `None` where a fault left none.
    pub(super) fn read(mut section: Section<'_, '_>) -> (Option<Self>, bool) {
        let slots = (1_u64 << SHARD_BITS_MAX) - 1;
        let has_slot = section.has("slot");
        let slot = section.integer_opt("slot", 0..=slots).and_then(|slot| SlotIndex::try_from(slot).ok());
        if !has_slot {
            section.fault("slot", "missing", format!("0 to {slots} are allowed, below 2^shard_bits"));
        }
        let word = section.demanded("store", "sqlite and memory are built into this version");
        let known = word.as_deref().map(|word| word_known(&mut section, word, &BUILT_IN, &TO_COME));
        let networked = known == Some(Word::ToCome);
        let place = match word.as_deref() {
            Some("sqlite") => {
                let bound = "the path of the shard's file is expected, relative to the data directory";
                section.demanded("path", bound).map(|path| Place::Sqlite(path.into()))
            }
            Some("memory") => Some(Place::Memory),
            _ => {
                // Their own checks come with them; until then these keys are at least known.
                for key in ["path", "url", "password_file"] {
                    section.text(key);
                }
                None
            }
        };
        section.finish();
        (slot.zip(place).map(|(slot, place)| Self { slot, place }), networked)
    }
}

/// What is known of a store's or ledger's word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    BuiltIn,
    ToCome,
    Unknown,
}

/// Tells "unknown" from "not built in", and notes either as a fault.
pub(super) fn word_known(
    section: &mut Section<'_, '_>,
    word: &str,
    built_in: &[&str],
    to_come: &[&str],
) -> Word {
    let here = built_in.join(" and ");
    if built_in.contains(&word) {
        Word::BuiltIn
    } else if to_come.contains(&word) {
        section.fault("store", format!("{word:?}"), format!("not built into this version, {here} are"));
        Word::ToCome
    } else {
        let known = [built_in, to_come].concat().join(", ");
        section.fault("store", format!("{word:?}"), format!("unknown, {known} are known"));
        Word::Unknown
    }
}
