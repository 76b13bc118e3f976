//! What a ledger notes beside definitions and rows, and how its storage names that. No other file knows these texts.

#[cfg(test)]
mod tests;

use super::{PeriodUnit, Periods};
use crate::Key;

/// What stands behind a sequence's name where a text is no counter's key.
const MARK: &str = "|~";

/// A number that the ledger holds about something. It only rises, and every server hears of it with the definitions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerNote {
    /// What the number is about, and so what it means.
    pub about: NoteSubject,
    /// The number.
    pub to: u64,
}

/// What a note is about.
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
    /// The number of a key to which an operator advanced it: none up to there is given any more.
    Advanced(Key),
    /// The period up to which those of a sequence are over for good, as digits: see [`Fence`](super::Fence).
    PeriodsOver(Periods),
    /// The raw id up to which a server gave numbers of a key under an epoch that had ended. They lie above where the next epoch
    /// began, and may have been given twice.
    GivenAbove(Key),
    /// The raw id up to which epochs of a key begin at an operator's word. The note is there before any of them, and tells that no
    /// hand wrote them.
    BegunAt(Key),
    /// The ledger's version when the layout of a generation was fenced: servers of that layout left no higher mark.
    LayoutEnded {
        /// The generation.
        generation: u64,
    },
    /// The raw id of a generation's layout above which counters without a row begin, at least. A resize counts it anew.
    Floor {
        /// The generation.
        generation: u64,
    },
    /// The generation under whose layout a loss was named: marks of layouts before it accuse nobody any more.
    LossNamed,
    /// The ledger's version when a loss was named last, amid a resize or after one.
    LossNamedAt,
    /// The ledger's version at which a resize found that it had written rows without a loss that was named meanwhile.
    LossDropped,
    /// 1 where dense counters were forgotten: where there is none now, there were some.
    DenseForgotten,
    /// What this version knows nothing of, as it is stored. It is kept, and means nothing.
    Unknown(String),
}

impl NoteSubject {
    /// As storage names it: a counter's key for how far that was advanced, and no key for all else.
    pub fn to_stored(&self) -> String {
        match self {
            Self::Advanced(key) => key.to_string(),
            Self::PeriodsOver(Periods { sequence, unit }) => format!("{sequence}{MARK}{}", unit.stored()),
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

    /// What storage names so: `Unknown` where [`to_stored`](Self::to_stored) writes no such text.
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
                let unit = PeriodUnit::ALL.into_iter().find(|unit| unit.stored() == word)?;
                Some(Self::PeriodsOver(Periods { sequence: sequence.to_owned(), unit }))
            }
        }
    }

    /// No sequence is without a name: what has none is about the ledger.
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

/// A key with a word behind its sequence's name: no counter's key has the mark there.
fn marked(key: &Key, word: &str) -> String {
    let (sequence, rest) = key.as_str().split_at(key.sequence().len());
    format!("{sequence}{MARK}{word}{rest}")
}

impl PeriodUnit {
    const ALL: [Self; 7] =
        [Self::Year, Self::FiscalYear, Self::Quarter, Self::Month, Self::IsoWeek, Self::Day, Self::Hour];

    const fn stored(self) -> &'static str {
        match self {
            Self::Year => "year",
            Self::FiscalYear => "fy",
            Self::Quarter => "quarter",
            Self::Month => "month",
            Self::IsoWeek => "isoweek",
            Self::Day => "day",
            Self::Hour => "hour",
        }
    }
}
