//! Ledger notes: numbers kept beside definitions and rows, and the texts by which storage names them. No other file knows these
//! texts.

#[cfg(test)]
mod tests;

use super::{PeriodUnit, Periods};
use crate::Key;

/// Separator after a sequence's name in a text that is not a counter's key.
const MARK: &str = "|~";

/// Number that the ledger holds about a subject. It only rises, and every server reads it with the definitions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerNote {
    /// The subject, which gives the number its meaning.
    pub about: NoteSubject,
    /// The number.
    pub to: u64,
}

/// Subject of a note.
///
/// ```
/// use sequent_core::{Key, ledger::NoteSubject};
/// let key = Key::from_stored("order|8:20170304");
/// let stored = [NoteSubject::Advanced(key.clone()), NoteSubject::GivenAbove(key)].map(|about| about.to_stored());
/// assert_ne!(stored[0], stored[1]);
/// assert!(matches!(NoteSubject::from_stored(&stored[1]), NoteSubject::GivenAbove(key) if key.period() == "20170304"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoteSubject {
    /// The number to which an operator advanced a key. The key gives none up to it any more.
    Advanced(Key),
    /// The last period of a sequence that is over for good, as digits: see [`Fence`](super::Fence).
    PeriodsOver(Periods),
    /// The highest raw id that a server gave of a key under an ended epoch. It is above the next epoch's base, so ids up to it
    /// may have been given twice.
    GivenAbove(Key),
    /// Epochs of a key with a base up to this raw id were requested by an operator, and are not treated as corruption. The note
    /// is written before any of them.
    BegunAt(Key),
    /// The ledger's version when the layout of a generation was fenced. Servers of that layout left no higher mark.
    LayoutEnded {
        /// The generation.
        generation: u64,
    },
    /// The raw id, in a generation's layout, above which counters without a row begin. A resize recomputes it.
    Floor {
        /// The generation.
        generation: u64,
    },
    /// The generation in which a loss was named. Marks of earlier layouts are no longer evidence of a ledger that went back.
    LossNamed,
    /// The ledger's version when a loss was last named, during a resize or after one.
    LossNamedAt,
    /// The ledger's version when a resize found that it had written rows without a loss named meanwhile.
    LossDropped,
    /// 1 if dense counters were forgotten. A ledger without dense counters may then have had some.
    DenseForgotten,
    /// A subject unknown to this version, as stored. It is kept and ignored.
    Unknown(String),
}

impl NoteSubject {
    /// The text in storage. Only [`Advanced`](Self::Advanced) is stored as a counter's key.
    pub fn to_stored(&self) -> String {
        match self {
            Self::Advanced(key) => key.to_string(),
            Self::PeriodsOver(Periods { sequence, unit }) => format!("{sequence}{MARK}{unit}"),
            Self::GivenAbove(key) => marked(key, "above"),
            Self::BegunAt(key) => marked(key, "raw"),
            Self::LayoutEnded { generation } => format!("{MARK}generation{generation}"),
            Self::Floor { generation } => format!("{MARK}floor{generation}"),
            Self::LossNamed => format!("{MARK}named"),
            Self::LossNamedAt => format!("{MARK}namedat"),
            Self::LossDropped => format!("{MARK}dropped"),
            Self::DenseForgotten => format!("{MARK}dense"),
            Self::Unknown(text) => text.clone(),
        }
    }

    /// The subject of a text in storage; `Unknown` if [`to_stored`](Self::to_stored) never writes that text.
    pub fn from_stored(text: &str) -> Self {
        let read = Self::read(text).filter(|subject| subject.to_stored() == text);
        read.unwrap_or_else(|| Self::Unknown(text.to_owned()))
    }

    fn read(text: &str) -> Option<Self> {
        let (sequence, rest) = text.split_at(text.find('|').unwrap_or(text.len()));
        let marked = rest.strip_prefix(MARK);
        if sequence.is_empty() {
            return Self::of_ledger(marked?);
        }
        let Some(marked) = marked else { return Some(Self::Advanced(Key::from_stored(text))) };
        let key = |rest: &str| Key::from_stored(&format!("{sequence}{rest}"));
        let (word, rest) = marked.split_at(marked.find('|').unwrap_or(marked.len()));
        match word {
            "above" => Some(Self::GivenAbove(key(rest))),
            "raw" => Some(Self::BegunAt(key(rest))),
            _ => {
                let unit = PeriodUnit::from_word(word)?;
                Some(Self::PeriodsOver(Periods { sequence: sequence.to_owned(), unit }))
            }
        }
    }

    /// Every sequence has a name, so a text without one is about the ledger.
    fn of_ledger(marked: &str) -> Option<Self> {
        match marked {
            "named" => Some(Self::LossNamed),
            "namedat" => Some(Self::LossNamedAt),
            "dropped" => Some(Self::LossDropped),
            "dense" => Some(Self::DenseForgotten),
            _ => match (marked.strip_prefix("generation"), marked.strip_prefix("floor")) {
                (Some(generation), _) => Some(Self::LayoutEnded { generation: generation.parse().ok()? }),
                (_, Some(generation)) => Some(Self::Floor { generation: generation.parse().ok()? }),
                _ => None,
            },
        }
    }
}

/// A key with `word` after its sequence's name. No counter's key has the separator there.
fn marked(key: &Key, word: &str) -> String {
    let (sequence, rest) = key.as_str().split_at(key.sequence().len());
    format!("{sequence}{MARK}{word}{rest}")
}
