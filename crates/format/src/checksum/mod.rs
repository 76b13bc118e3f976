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

type Constructor = fn() -> Arc<dyn Algorithm>;

/// The names of `@{check,…}`.
const NAMES: [(&str, Constructor); 18] = [
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

/// The algorithm of a name; `None` for an unknown one.
pub(crate) fn named(word: &str) -> Option<Arc<dyn Algorithm>> {
    NAMES.iter().find(|(name, _)| *name == word).map(|(_, construct)| construct())
}

/// The algorithm of a name over a given alphabet, which only Luhn takes.
pub(crate) fn over_alphabet(word: &str, alphabet: &str) -> Result<Option<Arc<dyn Algorithm>>, String> {
    match word {
        "luhn" => Ok(Some(Arc::new(luhn::LuhnModN::new(alphabet)?))),
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
    let state = algorithm.fold(algorithm.start(), body.as_bytes());
    algorithm.finish(state)[..algorithm.length()].iter().map(|byte| char::from(*byte)).collect()
}
