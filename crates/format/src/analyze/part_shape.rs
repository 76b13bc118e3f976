//! The shape of a part: the lengths and characters of its text. The rules S1, S5 and S9 work with shapes alone.

use crate::{
    charset::Charset,
    date::Token,
    template::{Kind, Part},
};

/// The least and greatest length of a part's text, and its characters.
#[derive(Debug, Clone)]
pub(crate) struct PartShape {
    pub(crate) min: usize,
    pub(crate) max: usize,
    pub(crate) charset: Charset,
}

impl PartShape {
    pub(crate) fn new(min: usize, max: usize, charset: Charset) -> Self {
        Self { min, max, charset }
    }

    /// The shape of a hidden part.
    pub(crate) fn hidden() -> Self {
        Self::new(0, 0, Charset::none())
    }

    /// Whether its length varies.
    pub(crate) fn varies(&self) -> bool {
        self.min < self.max
    }

    /// The charset of each position. Only parts of one length have positions.
    pub(crate) fn positions(&self, part: &Part) -> Vec<Charset> {
        match &part.kind {
            Kind::Text(text) => text.chars().map(one).collect(),
            Kind::Date(date) => date.pattern.tokens.iter().flat_map(token_positions).collect(),
            _ => vec![self.charset.clone(); self.max],
        }
    }
}

fn one(c: char) -> Charset {
    let mut buffer = [0; 4];
    Charset::of(c.encode_utf8(&mut buffer))
}

fn token_positions(token: &Token) -> Vec<Charset> {
    match token {
        Token::Literal(text) => text.chars().map(one).collect(),
        token => vec![Charset::digits(); token.width()],
    }
}
