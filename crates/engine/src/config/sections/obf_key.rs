//! `[[obf_key]]`: keys that hide numbers in texts, each in a file of its own.

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

use sequent_core::SequenceName;
use sequent_format::ObfuscationKey;

use crate::{
    config::{TableReader, collector::Collector},
    texts::obf_keys,
};

/// Upper limit of the keys.
const KEYS_MAX: usize = 64;

/// Upper limit of a file, in bytes: a key and what editors add to it.
const FILE_BYTES_MAX: u64 = 256;

/// The expected content of a file.
const DIGITS: &str = "32, 48 or 64 hexadecimal digits are expected in it";

/// Reads every key, and keeps it for the process. Faults contain the path of a file, and nothing of its content.
pub(crate) fn read(checker: &mut Collector<'_>, data: &Path) {
    let tables = checker.list("obf_key").unwrap_or_default();
    if tables.len() > KEYS_MAX {
        let fault =
            crate::config::Fault::new("obf_key", tables.len(), format!("at most {KEYS_MAX} are allowed"));
        return checker.fault(fault);
    }
    for (at, table) in tables.into_iter().enumerate() {
        one(checker.item("obf_key", at, table), data);
    }
}

fn one(mut section: TableReader<'_, '_>, data: &Path) {
    let name = section.demanded("name", "the name behind obf=ff1: is expected");
    let file = section.demanded("file", "the path of a file with the key is expected");
    let named = name.filter(|name| {
        let fits = name.parse::<SequenceName>().is_ok();
        if !fits {
            section.fault("name", format!("{name:?}"), "1 to 128 of A-Z a-z 0-9 _ . : - are allowed");
        }
        fits
    });
    if let Some(file) = file {
        match key(&data.join(&file)) {
            Err(bound) => section.fault("file", format!("{file:?}"), bound),
            Ok(key) if named.as_ref().is_some_and(|name| !obf_keys::hold(name, &key)) => {
                let bound = "this process holds another key of that name: give the new one another name";
                section.fault("file", format!("{file:?}"), bound);
            }
            Ok(_) => {}
        }
    }
    section.finish();
}

/// The key in a file, or the fault.
fn key(file: &PathBuf) -> Result<ObfuscationKey, String> {
    let text = text(file).map_err(|error| format!("it can't be read: {error}"))?;
    let digits = text.trim().as_bytes();
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let are_digits = digits.iter().all(u8::is_ascii_hexdigit) && digits.len() % 2 == 0;
    let bytes: Option<Vec<u8>> = digits.chunks(2).map(pair).collect();
    let bytes = bytes.filter(|_| are_digits).ok_or(DIGITS)?;
    ObfuscationKey::new(&bytes).map_err(|_| DIGITS.to_owned())
}

fn text(file: &PathBuf) -> io::Result<String> {
    let mut text = String::new();
    File::open(file)?.take(FILE_BYTES_MAX).read_to_string(&mut text)?;
    Ok(text)
}
