//! The shape of a part: how long its text can be and what it can hold; all that proofs of unique decoding know.

use crate::{
    date::Token,
    letters::Letters,
    template::{Kind, Part},
};

/// How long, and of which characters.
#[derive(Debug, Clone)]
pub(crate) struct Shape {
    pub(crate) min: usize,
    pub(crate) max: usize,
    pub(crate) letters: Letters,
}

impl Shape {
    pub(crate) fn new(min: usize, max: usize, letters: Letters) -> Self {
        Self { min, max, letters }
    }

    /// What cannot be seen.
    pub(crate) fn hidden() -> Self {
        Self::new(0, 0, Letters::none())
    }

    /// Whether its length varies.
    pub(crate) fn varies(&self) -> bool {
        self.min < self.max
    }

    /// Which characters can stand at each of its places; only meaningful where its length does not vary.
    pub(crate) fn places(&self, part: &Part) -> Vec<Letters> {
        match &part.kind {
            Kind::Text(text) => text.chars().map(one).collect(),
            Kind::Date(date) => date.pattern.tokens.iter().flat_map(token_places).collect(),
            _ => vec![self.letters.clone(); self.max],
        }
    }
}

fn one(c: char) -> Letters {
    let mut buffer = [0; 4];
    Letters::of(c.encode_utf8(&mut buffer))
}

fn token_places(token: &Token) -> Vec<Letters> {
    match token {
        Token::Literal(text) => text.chars().map(one).collect(),
        token => vec![Letters::digits(); token.width()],
    }
}
