//! Check characters: one file per algorithm family.
//!
//! Characters outside an algorithm's alphabet are skipped.
//!
//! `tests/it/error_detection.rs` measures which share of typing errors each algorithm detects. For new numbers of digits only use
//! `damm`; with two characters `mod97-10`; with letters `mod37-36`. The others are for standards that require them.

mod algorithm;
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

use std::sync::Arc;

pub(crate) use algorithm::{Algorithm, Characters};

/// Makes an algorithm that is called by a name.
type Constructor = fn(&'static str) -> Algorithm;

/// The names of `@{check,…}`.
const NAMES: [(&str, Constructor); 18] = [
    ("damm", damm::damm),
    ("luhn", luhn::luhn),
    ("verhoeff", verhoeff::verhoeff),
    ("gs1", gs1::gs1),
    ("isbn10", isbn::isbn10),
    ("isbn13", isbn::isbn13),
    ("mod11-2", iso7064::mod11_2),
    ("mod37-2", iso7064::mod37_2),
    ("mod97-10", iso7064::mod97_10),
    ("mod11-10", iso7064::mod11_10),
    ("mod37-36", iso7064::mod37_36),
    ("rf", rf::rf),
    ("s10", s10::s10),
    ("uscc", uscc::uscc),
    ("crockford", crockford::crockford),
    ("otrs", otrs::otrs),
    ("plain", plain::plain),
    ("n*9%31%10", |_| plain::plain("plain")),
];

/// All names.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    NAMES.iter().map(|(name, _)| *name)
}

/// The algorithm of a name; `None` for an unknown one.
pub(crate) fn named(word: &str) -> Option<Arc<Algorithm>> {
    NAMES.iter().find(|(name, _)| *name == word).map(|&(name, construct)| Arc::new(construct(name)))
}

/// The algorithm of a name over a given alphabet, which only Luhn takes.
pub(crate) fn over_alphabet(word: &str, alphabet: &str) -> Result<Option<Arc<Algorithm>>, String> {
    match word {
        "luhn" => Ok(Some(Arc::new(luhn::luhn_mod_n("luhn", alphabet)?))),
        other if named(other).is_some() => {
            Err(format!("{other} has an alphabet of its own: only luhn takes one"))
        }
        _ => Ok(None),
    }
}

/// The check characters of a whole body.
#[cfg(test)]
fn checksum(name: &str, body: &str) -> String {
    let algorithm = named(name).unwrap();
    let state = algorithm.fold(algorithm.start, body.as_bytes());
    algorithm.finish(state)[..algorithm.length].iter().map(|byte| char::from(*byte)).collect()
}
