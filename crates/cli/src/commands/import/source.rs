//! The other system: where it is, how to log in, and what to read of it.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::Args;
use sequent_admin::import::{FileSource, Format, look};
use sequent_core::{ErrorKind, SourceError};
use sequent_engine::{
    ServerOptions,
    config::without_secret,
    foreign::{self, Source, Table, TableFormat, Wanted},
};

use crate::failure::Failure;

/// How long a connect may take. Nobody waits for a number meanwhile.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The source of an import.
#[derive(Debug, Args)]
pub(crate) struct SourceArgs {
    /// The other system: mysql://user@host/database, postgres://user@host/database, redis://host/0, a SQLite
    /// file, or a file *.csv or *.json. Several are read one after the other
    #[arg(value_name = "SOURCE", required_unless_present = "source_file", conflicts_with = "source_file")]
    source: Vec<String>,
    /// A file with a source a line. It may hold passwords, which arguments must not
    #[arg(long, value_name = "FILE")]
    source_file: Option<PathBuf>,
    /// A file whose first line is the password
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
    /// The TLS mode, as in the configuration of a store of this kind
    #[arg(long, value_name = "MODE")]
    tls: Option<String>,
    /// The authority's certificates, PEM [default: those that the system trusts]
    #[arg(long, value_name = "FILE")]
    tls_ca_file: Option<PathBuf>,
    /// A table or a sequence to read; may be repeated [default: all that are known]
    #[arg(long, value_name = "TABLE")]
    table: Vec<String>,
    /// A column whose maximum counts; may be repeated
    #[arg(long, value_name = "TABLE.COLUMN")]
    column: Vec<String>,
    /// Keys of Redis, as SCAN matches them [default: all that are numbers or rules]
    #[arg(long, value_name = "PATTERN")]
    pattern: Option<String>,
}

impl SourceArgs {
    /// Reads the other system once. Slot tables have these names there.
    pub(crate) async fn read(&self, table_names: &TableFormat) -> Result<Vec<Table>, Failure> {
        let (wanted, sources) = (self.wanted(table_names)?, self.sources()?);
        let mut read = Vec::new();
        for source in &sources {
            read.extend(self.open(source)?.read(&wanted).await.map_err(|error| failed(&error))?);
        }
        check_found(&wanted, &read, &sources)?;
        if read.iter().all(|table| table.rows.is_empty()) {
            let bound = "no counter is found: name what to read by --table, --column or --pattern";
            return Err(Failure::failed(bound));
        }
        Ok(read)
    }

    fn wanted(&self, table_names: &TableFormat) -> Result<Wanted, Failure> {
        let column = |text: &String| {
            let parts =
                text.rsplit_once('.').filter(|(table, column)| !table.is_empty() && !column.is_empty());
            let expected = || Failure::argument("--column", text, "TABLE.COLUMN is expected");
            parts.map(|(table, column)| (table.to_owned(), column.to_owned())).ok_or_else(expected)
        };
        Ok(Wanted {
            tables: self.table.clone(),
            columns: self.column.iter().map(column).collect::<Result<_, _>>()?,
            pattern: self.pattern.clone(),
            table_names: table_names.clone(),
            look,
        })
    }

    fn open(&self, text: &str) -> Result<Box<dyn Source>, Failure> {
        if text.contains("://") {
            return self.on_server(text);
        }
        let path = Path::new(text);
        if !path.is_file() {
            return Err(Failure::argument("source", text, "a URL or a file that is there is expected"));
        }
        let extension = path.extension().map(OsStr::to_ascii_lowercase);
        let format = match extension.as_ref().and_then(|extension| extension.to_str()) {
            Some("csv") => Format::Csv,
            Some("json" | "jsonl" | "ndjson") => Format::Json,
            _ => return Ok(foreign::in_file(path)),
        };
        Ok(Box::new(FileSource { path: path.to_owned(), format }))
    }

    fn sources(&self) -> Result<Vec<String>, Failure> {
        let Some(file) = &self.source_file else { return Ok(self.source.clone()) };
        let text = fs::read_to_string(file).map_err(|error| Failure::file("read", file, &error))?;
        let sources: Vec<String> =
            text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect();
        if sources.is_empty() {
            return Err(Failure::argument("--source-file", file.display(), "a source a line is expected"));
        }
        Ok(sources)
    }

    fn on_server(&self, text: &str) -> Result<Box<dyn Source>, Failure> {
        // The text of an error never has the URL, which may have a password.
        let options = ServerOptions::from_url(text);
        let options = options.map_err(|error| Failure::argument("source", "a url", error.context()))?;
        if self.source_file.is_none() && options.url.has_password() {
            let bound = "a password in an argument is seen by everybody on this machine: put it into a file, and name \
                that by --password-file, or put the url into a file for --source-file";
            return Err(Failure::argument("source", &options.url, bound));
        }
        let tls = match &self.tls {
            None => options.tls,
            Some(word) => {
                let known = options.url.driver().tls;
                let found = known.iter().find(|(name, _)| name == word).map(|(_, tls)| *tls);
                let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
                let expected =
                    || Failure::argument("--tls", word, format!("{} is expected", names.join(", ")));
                found.ok_or_else(expected)?
            }
        };
        let options = ServerOptions {
            tls,
            password_file: self.password_file.clone(),
            tls_ca_file: self.tls_ca_file.clone(),
            connect_timeout: CONNECT_TIMEOUT,
            ..options
        };
        foreign::on_server(options).map_err(|error| failed(&error))
    }
}

/// Refuses a table that no source has. Several databases may have some each.
fn check_found(wanted: &Wanted, read: &[Table], sources: &[String]) -> Result<(), Failure> {
    // Ids, maxima and sequences have a row each in tables of these names.
    let has_row = |table: &Table, name: &String| {
        let is_list = foreign::COUNTER_LISTS.contains(&&*table.name);
        is_list && table.rows.iter().any(|row| row.first().is_some_and(|first| first.as_ref() == Some(name)))
    };
    let is_read = |name: &String| read.iter().any(|table| table.name == *name || has_row(table, name));
    let mut named = wanted.tables.iter().chain(wanted.columns.iter().map(|(table, _)| table));
    let Some(missing) = named.find(|name| !is_read(name)) else { return Ok(()) };
    let asked: Vec<String> = sources.iter().map(|source| without_secret(source.clone())).collect();
    let bound = format!("no table or sequence of that name is in {}", asked.join(", "));
    Err(Failure::failed(format!("table is {missing:?}: {bound}")))
}

/// A system that can't be read. The operator may see its address.
fn failed(error: &SourceError) -> Failure {
    let is_told = error.kind() == ErrorKind::Refused && std::error::Error::source(error).is_none();
    Failure::failed(if is_told { error.context().to_owned() } else { error.to_string() })
}
