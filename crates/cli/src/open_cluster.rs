//! The cluster of a command, and how it is opened.

use std::{
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::{Arc, Once},
};

use rustix::process::geteuid;
use sequent_admin::Admin;
use sequent_client::{Client, ClientBuilder, TlsOptions};
use sequent_core::{NameError, SequenceName};
use sequent_engine::{
    CreatePolicy, Engine, Options, Pace,
    config::{Config, Sources, without_secret},
};
use serde::Serialize;

use crate::{args::Globals, failure::Failure, logging, output};

/// The default directory of the embedded cluster.
pub(crate) const DATA_DEFAULT: &str = "./sequent-data";

/// The variable that decides whether a command may make an embedded cluster: `never` refuses it.
const EMBEDDED: &str = "SEQUENT_EMBEDDED";

/// The variable with the servers that commands ask if they can.
const SERVER: &str = "SEQUENT_SERVER";

/// The variable with the file of the token that is sent to servers.
const TOKEN_FILE: &str = "SEQUENT_TOKEN_FILE";

/// Variables that commands read themselves, none of them a key of the configuration.
const RESERVED: &[&str] = &[
    "SEQUENT_CONFIG",
    "SEQUENT_DATA",
    EMBEDDED,
    "SEQUENT_LOG",
    "SEQUENT_LOG_FORMAT",
    SERVER,
    TOKEN_FILE,
    "SEQUENT_TLS_CA",
    "SEQUENT_TLS_CERT",
    "SEQUENT_TLS_KEY",
    "SEQUENT_TLS_NAME",
];

/// The global flags, before anything is read or opened.
pub(crate) struct Cluster {
    globals: Globals,
}

impl Cluster {
    pub(crate) fn new(globals: Globals) -> Self {
        Self { globals }
    }

    /// The flags that name this cluster, as typed. Values of `--set` are left out, and the operator repeats
    /// them.
    pub(crate) fn flags(&self) -> String {
        let named = [("--data", &self.globals.data), ("--config", &self.globals.config)];
        let named = named.into_iter().filter_map(|(flag, path)| Some((flag, path.as_ref()?)));
        let named: Vec<String> = named.map(|(flag, path)| format!(" {flag} '{}'", path.display())).collect();
        let mut flags = named.concat();
        flags.extend(
            self.globals.set.iter().filter_map(|set| Some(format!(" --set {}=…", set.split_once('=')?.0))),
        );
        flags
    }

    /// Whether results are wanted as JSON.
    pub(crate) fn json(&self) -> bool {
        self.globals.json
    }

    /// Prints a result: as JSON if that is wanted, or else as lines.
    pub(crate) fn show<L: IntoIterator<Item = String>>(
        &self,
        report: &impl Serialize,
        lines: impl FnOnce() -> L,
    ) -> Result<(), Failure> {
        if self.json() { output::report(report) } else { output::lines(lines()) }
    }

    /// The options of TLS to servers.
    pub(crate) fn tls(&self) -> TlsOptions {
        self.globals.tls.options()
    }

    /// The configuration file, if one was named.
    pub(crate) fn file(&self) -> Option<&PathBuf> {
        self.globals.config.as_ref()
    }

    /// The file with the token that is sent to servers, if one was named.
    pub(crate) fn token_file(&self) -> Option<&Path> {
        self.globals.token_file.as_deref().filter(|path| !path.as_os_str().is_empty())
    }

    /// A client of servers, with this cluster's token and its options of TLS.
    pub(crate) fn client(&self) -> ClientBuilder {
        let client = Client::builder().tls_options(self.tls());
        match self.token_file() {
            Some(path) => client.token_file(path),
            None => client,
        }
    }

    /// Whether the caller configured anything: a file, or keys.
    pub(crate) fn is_configured(&self) -> bool {
        self.globals.config.is_some() || !self.globals.set.is_empty()
    }

    /// Refuses if servers are named and no stores are. A command that no server answers must not open other
    /// stores instead.
    pub(crate) fn means_stores(&self, command: &str) -> Result<(), Failure> {
        let servers = std::env::var(SERVER).unwrap_or_default();
        if servers.is_empty() || self.globals.data.is_some() || self.is_configured() {
            return Ok(());
        }
        let bound = format!(
            "no server answers `{command}`, which opens ledger and stores itself: name them with --data or --config, or \
             leave {SERVER} out"
        );
        Err(Failure::argument(SERVER, servers, bound))
    }

    /// The configuration, read from `file` or from the place that the flags name. Touches nothing.
    pub(crate) fn config_of(&self, file: Option<&PathBuf>) -> Result<Config, Failure> {
        let data = self.globals.data.clone().unwrap_or_else(|| DATA_DEFAULT.into());
        let mut sources = Sources::embedded(data).with_environment(RESERVED);
        if let Some(file) = file {
            sources = sources.file(file);
        }
        for setting in &self.globals.set {
            let Some((key, value)) = setting.split_once('=') else {
                return Err(Failure::argument("--set", setting, "KEY=VALUE is expected"));
            };
            warn_of_password(key, value);
            sources = sources.flag(key, value);
        }
        let config = Config::load(&sources)?;
        warn_of_unread(&config);
        Ok(config)
    }

    /// The configuration that the flags name. Touches nothing.
    pub(crate) fn config(&self) -> Result<Config, Failure> {
        self.config_of(self.file())
    }

    /// Reads the configuration if a template needs its keys: it is then proven as servers prove it.
    pub(crate) fn keys_for(&self, template: &str) -> Result<(), Failure> {
        if template.contains("obf") { self.config().map(drop) } else { Ok(()) }
    }

    /// A running cluster, made if it does not exist.
    pub(crate) async fn engine(&self, config: Config, pace: Pace) -> Result<Engine, Failure> {
        check_owner(&config.data)?;
        Ok(Engine::open(config, Options { pace, ..options()? }).await?)
    }

    /// Does something with a running cluster, made if it does not exist, and ends it.
    pub(crate) async fn with_engine<T, E: Into<Failure>>(
        &self,
        config: Config,
        pace: Pace,
        work: impl AsyncFnOnce(&Engine) -> Result<T, E>,
    ) -> Result<T, Failure> {
        let engine = self.engine(config, pace).await?;
        let done = work(&engine).await;
        engine.shutdown().await;
        done.map_err(Into::into)
    }

    /// The configuration of a cluster that is opened, and the options beyond it. Refuses a data directory that another user
    /// may have planted.
    pub(crate) fn opening(&self) -> Result<(Config, Options), Failure> {
        let config = self.config()?;
        check_owner(&config.data)?;
        Ok((config, options()?))
    }

    /// The handle for operators' commands on an existing cluster; never makes one.
    pub(crate) async fn admin(&self) -> Result<Admin, Failure> {
        let (config, options) = self.opening()?;
        Ok(Admin::open(&config, &options).await?)
    }
}

/// Refuses the default data directory if another user made it: in a shared working directory anybody may have. One that
/// was named is what the caller wants: root looks after clusters of other users.
fn check_owner(data: &Path) -> Result<(), Failure> {
    let trusted = [geteuid().as_raw(), 0];
    let found = [fs::symlink_metadata(data), fs::metadata(data)];
    let owners = found.into_iter().flatten().map(|found| found.uid());
    match owners.filter(|_| data == Path::new(DATA_DEFAULT)).find(|owner| !trusted.contains(owner)) {
        None => Ok(()),
        Some(owner) => {
            let bound =
                format!("user {owner} made it: if it is the one that is meant, name it by its full path");
            Err(Failure::argument("--data", data.display(), bound))
        }
    }
}

/// Warns of variables that nothing reads, once a process.
fn warn_of_unread(config: &Config) {
    static WARNED: Once = Once::new();
    WARNED.call_once(|| {
        for variable in config.unread() {
            logging::say(&format!("sequent: {variable}"));
        }
    });
}

/// Warns of a password in a flag, once a process: every user of the machine can list command lines.
fn warn_of_password(key: &str, value: &str) {
    static WARNED: Once = Once::new();
    if !value.contains("${") && without_secret(value.to_owned()) != value {
        WARNED.call_once(|| {
            let text = "holds a password, which other users can read in the list of processes: name a file \
                        (password_file), or a variable ('${NAME}')";
            logging::say(&format!("sequent: flag {key} {text}"));
        });
    }
}

/// Fails with exit code 1 if a server ended and could not close its files cleanly.
pub(crate) fn left(unleft: &[String]) -> Result<(), Failure> {
    if unleft.is_empty() {
        return Ok(());
    }
    Err(Failure::failed(format!(
        "drained, but could not leave {} cleanly: the disk does not answer; nothing is lost, whoever opens it next reads \
         its log",
        unleft.join(", ")
    )))
}

/// The name of a sequence, as it was typed.
pub(crate) fn sequence_name(text: &str) -> Result<SequenceName, Failure> {
    text.parse().map_err(|error: NameError| Failure::argument("name", text, error.to_string()))
}

/// The options for opening a cluster, beyond its configuration.
fn options() -> Result<Options, Failure> {
    let create = match std::env::var(EMBEDDED).as_deref() {
        Ok("never") => CreatePolicy::Never,
        Ok("") | Err(_) => CreatePolicy::Embedded,
        Ok(other) => return Err(Failure::argument(EMBEDDED, other, "never is allowed, or nothing")),
    };
    Ok(Options { create, say: Arc::new(logging::say), ..Options::default() })
}
