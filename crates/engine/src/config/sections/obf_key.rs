//! `[[obf_key]]`: keys that hide numbers in texts, each in a file of its own.

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

use sequent_core::SequenceName;
use sequent_format::ObfuscationKey;

use crate::{
    config::{
        Fault,
        reading::{Reader, Section, section, setting::text},
    },
    texts::obf_keys,
};

/// Upper limit of the keys.
const KEYS_MAX: usize = 64;

/// Upper limit of a file, in bytes: a key and what editors add to it.
const FILE_BYTES_MAX: u64 = 256;

/// The expected content of a file.
const DIGITS: &str = "32, 48 or 64 hexadecimal digits are expected in it";

section! {
    /// A key of [`obf`](../concepts/templates.md#hiding-how-many-there-are), one table each; at most 64.
    pub(crate) struct ObfKeySection(section) {
        /// The name behind `obf=ff1:` in templates.
        name: Option<String> = text("name")
            .expecting("1 to 128 of A-Z a-z 0-9 _ . : - are allowed")
            .then(|name| if name.parse::<SequenceName>().is_ok() { Ok(name) } else { Err(None) })
            .required(),

        /// The file with the key: 32, 48 or 64 hexadecimal digits. Relative to the data directory.
        file: Option<String> = text("file").expecting("the path of a file with the key is expected").required(),
    }
}

/// Reads every key, and keeps it for the process. Returns the files. Faults contain the path of a file, and nothing
/// of its content.
pub(crate) fn hold_all(reader: &mut Reader<'_>, data: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let tables = reader.list("obf_key").unwrap_or_default();
    if tables.len() > KEYS_MAX {
        reader.fault(Fault::new("obf_key", tables.len(), format!("at most {KEYS_MAX} are allowed")));
        return files;
    }
    for (at, table) in tables.into_iter().enumerate() {
        let mut section = reader.item("obf_key", at, table);
        let ObfKeySection { name, file } = ObfKeySection::read(&mut section);
        if let Some(file) = file {
            let path = data.join(&file);
            hold(&mut section, name.as_deref(), (file.as_str(), &path));
            files.push(path);
        }
        section.finish();
    }
    files
}

fn hold(section: &mut Section<'_, '_>, name: Option<&str>, (file, path): (&str, &PathBuf)) {
    match key(path) {
        Err(bound) => section.fault("file", format!("{file:?}"), bound),
        Ok(key) if name.is_some_and(|name| !obf_keys::hold(name, &key)) => {
            let bound = "this process holds another key of that name: give the new one another name";
            section.fault("file", format!("{file:?}"), bound);
        }
        Ok(_) => {}
    }
}

/// The key in a file, or the fault.
fn key(file: &PathBuf) -> Result<ObfuscationKey, String> {
    let text = text_of(file).map_err(|error| format!("it can't be read: {error}"))?;
    let digits = text.trim().as_bytes();
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let are_digits = digits.iter().all(u8::is_ascii_hexdigit) && digits.len() % 2 == 0;
    let bytes: Option<Vec<u8>> = digits.chunks(2).map(pair).collect();
    let bytes = bytes.filter(|_| are_digits).ok_or(DIGITS)?;
    ObfuscationKey::new(&bytes).map_err(|_| DIGITS.to_owned())
}

fn text_of(file: &PathBuf) -> io::Result<String> {
    let mut text = String::new();
    File::open(file)?.take(FILE_BYTES_MAX).read_to_string(&mut text)?;
    Ok(text)
}
