//! The sources of a configuration.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// The sources of a configuration: flags override the environment, which overrides the file, which overrides the
/// defaults.
///
/// A key in a flag is its dotted path (`ring.shard_bits`); in the environment `SEQUENT_RING_SHARD_BITS`. Shards and
/// sequences are lists, and come from the file alone.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// The data directory: embedded stores, the version file and relative paths are in it.
    pub data: PathBuf,
    /// The configuration file, if there is one.
    pub file: Option<PathBuf>,
    /// Dotted path and value of each flag given.
    pub flags: BTreeMap<String, String>,
    /// The environment. Only names that begin with `SEQUENT_`, and those that the file names as `${NAME}`, are read.
    pub environment: BTreeMap<String, String>,
    /// Names that begin with `SEQUENT_`, name no key, and are read by the program itself.
    pub reserved: &'static [&'static str],
}

impl Sources {
    /// The embedded default over `data`: no file, no environment.
    pub fn embedded(data: impl AsRef<Path>) -> Self {
        Self { data: data.as_ref().to_owned(), ..Self::default() }
    }

    /// The same, with this process's environment (names and values that are UTF-8). The program itself reads `reserved`.
    #[must_use]
    pub fn with_environment(mut self, reserved: &'static [&'static str]) -> Self {
        self.reserved = reserved;
        let readable = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        self.environment = std::env::vars_os().filter_map(readable).collect();
        self
    }

    /// The same, read from `file`.
    #[must_use]
    pub fn file(mut self, file: impl AsRef<Path>) -> Self {
        self.file = Some(file.as_ref().to_owned());
        self
    }

    /// The same, with a flag for one key.
    #[must_use]
    pub fn flag(mut self, key: &str, value: &str) -> Self {
        self.flags.insert(key.to_owned(), value.to_owned());
        self
    }
}
