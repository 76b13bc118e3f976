//! What a check algorithm is, and what algorithms share.

use std::borrow::Cow;

/// The digits, which most algorithms read.
pub(super) const DIGITS: &str = "0123456789";

/// Digits and capital letters.
pub(super) const ALPHANUMERIC: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// The most check characters of an algorithm.
const CHARACTERS_MAX: usize = 2;

/// Check characters. Those beyond [`Algorithm::length`] are unused.
pub(crate) type Characters = [u8; CHARACTERS_MAX];

/// An algorithm that computes check characters of a body.
///
/// It reads the body once from the left, and its state has 32 bits. So the text before the number is read once per request, and
/// the digits of the number once per text.
#[derive(Debug)]
pub(crate) struct Algorithm {
    /// The name in `@{check,NAME}`.
    pub(crate) name: &'static str,
    /// The characters that are read; all others are skipped.
    pub(crate) body: Cow<'static, str>,
    /// The possible check characters.
    pub(crate) characters: Cow<'static, str>,
    /// The number of check characters: 1 or 2.
    pub(crate) length: usize,
    /// The required length of a body, if there is one.
    pub(crate) body_length: Option<usize>,
    /// The initial state.
    pub(crate) start: u32,
    /// The state after the next piece of the body.
    pub(super) fold: fn(&Self, u32, &[u8]) -> u32,
    /// The check characters of the body read so far.
    pub(super) finish: fn(&Self, u32) -> Characters,
}

/// What most algorithms have in common: one check digit of digits, a state that begins at 0.
pub(super) fn decimal(name: &'static str) -> Algorithm {
    Algorithm {
        name,
        body: DIGITS.into(),
        characters: DIGITS.into(),
        length: 1,
        body_length: None,
        start: 0,
        fold: |_, state, _| state,
        finish: |_, state| one(DIGITS, state),
    }
}

impl Algorithm {
    /// The state after the next piece of the body.
    pub(crate) fn fold(&self, state: u32, piece: &[u8]) -> u32 {
        (self.fold)(self, state, piece)
    }

    /// The check characters of the body read so far.
    pub(crate) fn finish(&self, state: u32) -> Characters {
        (self.finish)(self, state)
    }

    /// The values of the characters that are read: their places in the body's alphabet.
    pub(super) fn values(&self, piece: &[u8]) -> impl Iterator<Item = u32> {
        let place = |byte: &u8| self.body.bytes().position(|known| known == *byte);
        piece.iter().filter_map(place).filter_map(|at| u32::try_from(at).ok())
    }
}

/// The value of a digit, or of a letter: A is 10.
pub(super) fn value(byte: u8) -> Option<u32> {
    match byte {
        b'0'..=b'9' => Some(u32::from(byte - b'0')),
        b'A'..=b'Z' => Some(u32::from(byte - b'A') + 10),
        _ => None,
    }
}

/// The values of the digits in a piece.
pub(super) fn digits(piece: &[u8]) -> impl Iterator<Item = u32> {
    piece.iter().filter(|byte| byte.is_ascii_digit()).map(|byte| u32::from(byte - b'0'))
}

/// One check character: the one of a value in an alphabet.
pub(super) fn one(alphabet: &str, value: u32) -> Characters {
    let byte = usize::try_from(value).ok().and_then(|at| alphabet.as_bytes().get(at));
    [byte.copied().unwrap_or(b'?'), 0]
}

/// Two check digits.
pub(super) fn two(value: u32) -> Characters {
    [one(DIGITS, value / 10)[0], one(DIGITS, value % 10)[0]]
}
