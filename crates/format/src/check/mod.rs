//! Check characters: one algorithm family a file.
//!
//! Every algorithm reads its body once from the left and keeps its state in 32 bits, so that what stands before a number
//! is read once a request and the digits of the number once a text. Characters outside an algorithm's alphabet are skipped.
//!
//! What share of slips each catches is measured in `tests/it/catches.rs`. For new numbers of digits only take
//! `damm`; with two characters `mod97-10`; with letters `mod37-36`. The others are for where they are asked for.

mod crockford;
mod damm;
mod gs1;
mod isbn;
mod iso7064;
mod luhn;
mod otrs;
mod plain;
mod rf;
mod s10;
mod uscc;
mod verhoeff;

use std::{fmt::Debug, sync::Arc};

/// The digits, which most algorithms take.
pub(crate) const DIGITS: &str = "0123456789";

/// The digits and capital letters.
pub(crate) const ALPHANUMERIC: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// The most check characters that an algorithm gives.
pub(crate) const CHARACTERS_MAX: usize = 2;

/// Check characters; those beyond [`Algorithm::length`] mean nothing.
pub(crate) type Characters = [u8; CHARACTERS_MAX];

/// A way to make check characters from a body.
pub(crate) trait Algorithm: Debug + Send + Sync {
    /// The word that a template uses.
    fn name(&self) -> &str;

    /// What a body may hold; all else is skipped.
    fn body(&self) -> &str {
        DIGITS
    }

    /// What the check characters may be.
    fn characters(&self) -> &str {
        DIGITS
    }

    /// How many check characters there are: 1 or 2.
    fn length(&self) -> usize {
        1
    }

    /// The only length that a body may have, where there is one.
    fn body_length(&self) -> Option<usize> {
        None
    }

    /// The state before anything is read.
    fn start(&self) -> u32 {
        0
    }

    /// The state after some more of the body.
    fn fold(&self, state: u32, piece: &[u8]) -> u32;

    /// The check characters of what was read.
    fn finish(&self, state: u32) -> Characters;
}

/// An algorithm, for the table of names.
type Made = fn() -> Arc<dyn Algorithm>;

/// The words of `@{check,…}`; the first of each kind is the one that messages list.
const NAMES: [(&str, Made); 18] = [
    ("damm", || Arc::new(damm::Damm)),
    ("luhn", || Arc::new(luhn::Luhn)),
    ("verhoeff", || Arc::new(verhoeff::Verhoeff)),
    ("gs1", || Arc::new(gs1::Gs1)),
    ("isbn10", || Arc::new(isbn::Isbn10)),
    ("isbn13", || Arc::new(isbn::Isbn13)),
    ("mod11-2", || Arc::new(iso7064::Pure::mod11_2())),
    ("mod37-2", || Arc::new(iso7064::Pure::mod37_2())),
    ("mod97-10", || Arc::new(iso7064::Mod97)),
    ("mod11-10", || Arc::new(iso7064::Hybrid::mod11_10())),
    ("mod37-36", || Arc::new(iso7064::Hybrid::mod37_36())),
    ("rf", || Arc::new(rf::Rf)),
    ("s10", || Arc::new(s10::S10)),
    ("uscc", || Arc::new(uscc::Uscc)),
    ("crockford", || Arc::new(crockford::Crockford)),
    ("otrs", || Arc::new(otrs::Otrs)),
    ("plain", || Arc::new(plain::Plain)),
    ("n*9%31%10", || Arc::new(plain::Plain)),
];

/// All names.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    NAMES.iter().map(|(name, _)| *name)
}

/// The algorithm of a name.
pub(crate) fn named(word: &str) -> Option<Arc<dyn Algorithm>> {
    NAMES.iter().find(|(name, _)| *name == word).map(|(_, made)| made())
}

/// The algorithm of a name over an alphabet of one's own, which only Luhn takes.
pub(crate) fn over_alphabet(word: &str, alphabet: &str) -> Result<Option<Arc<dyn Algorithm>>, String> {
    match word {
        "luhn" => Ok(Some(Arc::new(luhn::LuhnModN::new(alphabet)?))),
        other if named(other).is_some() => {
            Err(format!("{other} has an alphabet of its own: only luhn takes one"))
        }
        _ => Ok(None),
    }
}

/// The value of a digit, or of a letter as ten and more.
fn value(byte: u8) -> Option<u32> {
    match byte {
        b'0'..=b'9' => Some(u32::from(byte - b'0')),
        b'A'..=b'Z' => Some(u32::from(byte - b'A') + 10),
        _ => None,
    }
}

/// The digits of a piece as values.
fn digits(piece: &[u8]) -> impl Iterator<Item = u32> {
    piece.iter().filter(|byte| byte.is_ascii_digit()).map(|byte| u32::from(byte - b'0'))
}

/// One check character: that of a value in an alphabet.
fn one(alphabet: &str, value: u32) -> Characters {
    let byte = usize::try_from(value).ok().and_then(|at| alphabet.as_bytes().get(at));
    [byte.copied().unwrap_or(b'?'), 0]
}

/// Two digits.
fn two(value: u32) -> Characters {
    [one(DIGITS, value / 10)[0], one(DIGITS, value % 10)[0]]
}

/// Check characters of a whole body.
#[cfg(test)]
fn of(name: &str, body: &str) -> String {
    let algorithm = named(name).unwrap();
    let state = algorithm.fold(algorithm.start(), body.as_bytes());
    algorithm.finish(state)[..algorithm.length()].iter().map(|byte| char::from(*byte)).collect()
}
