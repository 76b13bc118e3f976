//! The trait of check algorithms, and what they share.

use std::fmt::Debug;

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
pub(crate) trait Algorithm: Debug + Send + Sync {
    /// The name in `@{check,NAME}`.
    fn name(&self) -> &str;

    /// The characters that are read; all others are skipped.
    fn body(&self) -> &str {
        DIGITS
    }

    /// The possible check characters.
    fn characters(&self) -> &str {
        DIGITS
    }

    /// The number of check characters: 1 or 2.
    fn length(&self) -> usize {
        1
    }

    /// The required length of a body, if there is one.
    fn body_length(&self) -> Option<usize> {
        None
    }

    /// The initial state.
    fn start(&self) -> u32 {
        0
    }

    /// The state after the next piece of the body.
    fn fold(&self, state: u32, piece: &[u8]) -> u32;

    /// The check characters of the body read so far.
    fn finish(&self, state: u32) -> Characters;
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
