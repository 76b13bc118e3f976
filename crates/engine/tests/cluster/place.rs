//! A cluster over real files in a directory of its own, and what tests do with it.

use std::{
    fs,
    hash::{BuildHasher, BuildHasherDefault, DefaultHasher},
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use sequent_engine::{
    Engine, EngineError, NextRequest, OpenError, Options, Pace,
    config::{Config, Sources},
};
use tempfile::TempDir;

/// A data directory, and what is configured about it.
pub(crate) struct Place {
    pub(crate) folder: TempDir,
    pub(crate) text: Option<String>,
}

impl Place {
    /// The embedded default.
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), text: None }
    }

    /// With a configuration file of this text.
    pub(crate) fn with(text: &str) -> Self {
        Self { text: Some(text.to_owned()), ..Self::new() }
    }

    /// The same directory under another configuration.
    pub(crate) fn say(&mut self, text: &str) {
        self.text = Some(text.to_owned());
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.data().join(name)
    }

    pub(crate) fn config(&self) -> Config {
        self.config_in(&self.data())
    }

    pub(crate) fn config_in(&self, data: &Path) -> Config {
        let mut sources = Sources::embedded(data);
        if let Some(text) = &self.text {
            let file = self.folder.path().join("sequent.toml");
            fs::write(&file, text).unwrap();
            sources = sources.file(file);
        }
        Config::load(&sources).unwrap()
    }

    pub(crate) async fn open(&self) -> Result<Engine, OpenError> {
        Engine::open(self.config(), once()).await
    }

    /// One process that takes once and ends.
    pub(crate) async fn take(&self, name: &str, count: u64) -> Vec<u64> {
        let engine = self.open().await.unwrap();
        let numbers = take(&engine, name, count).await.unwrap();
        engine.shutdown().await;
        numbers
    }

    /// The refusal of a start by what the ledger or the directory shows: exit code 3, and nothing touched.
    pub(crate) async fn refused(&self) -> String {
        let before = contents(&self.data());
        let error = self.refused_after_a_look().await;
        assert_eq!(contents(&self.data()), before, "a refused start touches nothing: {error}");
        error
    }

    /// The refusal of a start by what the stores show: whoever looks into a store leaves a trace in it, for a file
    /// that can't be written would not serve. Nothing appears, and the marks stay.
    pub(crate) async fn refused_after_a_look(&self) -> String {
        let listing = || {
            let names: Vec<String> = contents(&self.data()).into_iter().map(|(name, ..)| name).collect();
            (names, fs::read(self.file("home")).ok())
        };
        let before = listing();
        let error = self.open().await.err().expect("this start must be refused");
        assert_eq!(error.exit_code(), 3, "{error}");
        assert_eq!(listing(), before, "{error}");
        error.to_string()
    }
}

pub(crate) fn once() -> Options {
    Options { pace: Pace::Once, ..Options::default() }
}

pub(crate) async fn take(engine: &Engine, name: &str, count: u64) -> Result<Vec<u64>, EngineError> {
    let issued = engine.next(&NextRequest::new(name).unwrap().count(count)).await?;
    Ok(issued.numbers.numbers().collect())
}

/// Every file of a directory that counts, with a digest of its bytes: `-wal` and `-shm` come and go with connections.
pub(crate) fn contents(data: &Path) -> Vec<(String, u64, u64)> {
    let Ok(entries) = fs::read_dir(data) else { return Vec::new() };
    let mut files: Vec<(String, u64, u64)> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(&path).unwrap()))
        .filter(|(name, _)| !name.ends_with("-wal") && !name.ends_with("-shm"))
        .map(|(name, bytes)| {
            (name, bytes.len() as u64, BuildHasherDefault::<DefaultHasher>::new().hash_one(bytes))
        })
        .collect();
    files.sort();
    files
}

/// Options whose sayings are kept.
pub(crate) fn listening() -> (Options, Arc<Mutex<Vec<String>>>) {
    let heard: Arc<Mutex<Vec<String>>> = Arc::default();
    let keep = Arc::clone(&heard);
    let say = Arc::new(move |text: &str| keep.lock().unwrap().push(text.to_owned()));
    (Options { say, ..once() }, heard)
}
