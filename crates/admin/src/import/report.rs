//! What an import does, and what its verification finds, a line a counter.

use serde::Serialize;

/// What is done with a counter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// The sequence is defined.
    Define,
    /// The sequence is there, and its counter goes forward.
    Advance,
    /// The counter is far enough already.
    #[default]
    Nothing,
    /// Refused: see the note.
    Refused,
}

/// A counter of another system, and the sequence that it becomes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ImportedCounter {
    /// The table of the other system, or what stands for one.
    pub source: String,
    /// The counter of the other system.
    pub counter: String,
    /// The sequence.
    pub sequence: String,
    /// What is done.
    pub action: Action,
    /// The first number of the sequence, if it is defined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<u64>,
    /// No number up to this one is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<u64>,
    /// The distance of two numbers.
    pub step: u64,
    /// The last number of the sequence, if it is defined with that of the other system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<u64>,
    /// Where the numbers are counted, if the sequence is defined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placement: Option<&'static str>,
    /// `encoded`, if the sequence is defined with numbers as the other system computed them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub numbering: Option<&'static str>,
    /// The template of the texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template: Option<String>,
    /// The period of the counter, if there is one counter for each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period: Option<String>,
    /// Why it is refused, or what to know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The plan of an import, or what was done of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ImportReport {
    /// Whether it was done.
    pub is_done: bool,
    /// Each counter.
    pub counters: Vec<ImportedCounter>,
}

impl ImportReport {
    /// How many counters have this action.
    pub fn count(&self, action: Action) -> usize {
        self.counters.iter().filter(|counter| counter.action == action).count()
    }
}

/// How a counter of the other system stands to its sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// It is at or below what was imported.
    Kept,
    /// It moved past what was imported: both systems may have given a number.
    Passed,
    /// The sequence is not there.
    Missing,
    /// It can't be read: see the note.
    Unread,
}

/// A counter of the other system after the import.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VerifiedCounter {
    /// The table of the other system, or what stands for one.
    pub source: String,
    /// The counter of the other system.
    pub counter: String,
    /// The sequence.
    pub sequence: String,
    /// How it stands.
    pub standing: Standing,
    /// Whether it moved while it was watched: a program still takes numbers from it.
    pub moves: bool,
    /// The highest number that the other system may have given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<u64>,
    /// The sequence gives no number up to this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<u64>,
    /// How many numbers lie between: unused if it is kept, given by both perhaps if it is passed.
    pub gap: u64,
    /// Why it can't be read, or what to know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// What a verification found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VerifyReport {
    /// Each counter.
    pub counters: Vec<VerifiedCounter>,
}

impl VerifyReport {
    /// How many counters stand so.
    pub fn count(&self, standing: Standing) -> usize {
        self.counters.iter().filter(|counter| counter.standing == standing).count()
    }

    /// How many counters moved while they were watched.
    pub fn moving(&self) -> usize {
        self.counters.iter().filter(|counter| counter.moves).count()
    }
}
