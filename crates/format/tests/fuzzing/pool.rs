//! The inputs to mutate: the initial ones, accepted ones, and those refused with a new message.

use std::{
    collections::HashSet,
    hash::{BuildHasher, BuildHasherDefault, DefaultHasher},
};

/// The most inputs of a kind. Later ones replace the oldest.
const KEPT_MAX: usize = 1024;

/// The most outcomes that are distinguished.
const SEEN_MAX: usize = 1 << 20;

/// How much of a message is compared, in characters.
const WORDS_MAX: usize = 400;

/// The longest input that is kept, in bytes. Longer templates are refused at once.
const INPUT_MAX: usize = 6000;

pub(crate) struct Pool {
    begin: Vec<String>,
    accepted: Kept,
    refused: Kept,
    seen: HashSet<u64>,
}

/// Inputs of a kind.
#[derive(Default)]
struct Kept(Vec<String>, usize);

impl Pool {
    pub(crate) fn of(begin: &[&str]) -> Self {
        let begin = begin.iter().map(|text| (*text).to_owned()).collect();
        Self { begin, accepted: Kept::default(), refused: Kept::default(), seen: HashSet::new() }
    }

    /// How many inputs were found.
    pub(crate) fn found(&self) -> usize {
        self.accepted.0.len() + self.refused.0.len()
    }

    /// One of the inputs, most often an accepted one or one that is nearly so.
    pub(crate) fn pick(&self, kind: usize, at: usize) -> &str {
        let kept = match kind % 8 {
            0..=2 => &self.begin,
            3..=6 => &self.accepted.0,
            _ => &self.refused.0,
        };
        let kept = if kept.is_empty() { &self.begin } else { kept };
        &kept[at % kept.len()]
    }

    /// Keeps an input with a new outcome. Only the words of the message count, since quoted text differs with each input.
    pub(crate) fn meet(&mut self, input: String, became: &Result<String, String>) {
        let (Ok(words) | Err(words)) = became;
        let told = words.split('"').step_by(2).flat_map(str::chars);
        let told: String = told.filter(|c| c.is_ascii_lowercase() || *c == ' ').take(WORDS_MAX).collect();
        // Accepted inputs of different lengths are different outcomes.
        let length = became.as_ref().map_or(0, |_| input.len());
        let hash = BuildHasherDefault::<DefaultHasher>::new().hash_one((became.is_ok(), length, told));
        if input.len() > INPUT_MAX || self.seen.len() >= SEEN_MAX || !self.seen.insert(hash) {
            return;
        }
        if became.is_ok() { self.accepted.keep(input) } else { self.refused.keep(input) }
    }
}

impl Kept {
    fn keep(&mut self, input: String) {
        let Self(kept, next) = self;
        if kept.len() < KEPT_MAX {
            kept.push(input);
        } else {
            kept[*next] = input;
            *next = (*next + 1) % KEPT_MAX;
        }
    }
}
