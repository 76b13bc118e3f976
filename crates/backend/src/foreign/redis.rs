//! Keys of Redis and Valkey: numbers that INCR counts, and hashes.

mod cluster;

use std::collections::{BTreeMap, BTreeSet};

use redis::{FromRedisValue, ToRedisArgs, Value, aio::MultiplexedConnection};
use sequent_core::{BoxFuture, SourceError};

use super::{
    Look, REPLICA, Source, Table, TextRow, Wanted, check_count, counter, counters, refused, refused_counter,
};
use crate::{
    net::{Fault, ServerOptions},
    redis::connect_to_read,
};

/// How many keys one step of SCAN looks at, and how many are read in one pipeline.
const STEP: usize = 1000;

/// How many keys that are no counters are named, beyond which they are only counted.
const REFUSED_NAMED_MAX: usize = 20;

/// How many fields of a hash that is not known are named.
const FIELDS_NAMED_MAX: usize = 6;

/// The prefix of Sequent's own keys.
const OWN: &str = "sequent/";

/// A database with keys of another program.
pub(super) struct RedisKeys(pub(super) ServerOptions);

impl Source for RedisKeys {
    fn read<'a>(&'a self, wanted: &'a Wanted) -> BoxFuture<'a, Result<Vec<Table>, SourceError>> {
        Box::pin(async move {
            if let Some(table) = wanted.tables.first().or(wanted.columns.first().map(|(table, _)| table)) {
                return Err(refused(format!("table is {table:?}: Redis has keys, name them by --pattern")));
            }
            read(&self.0, wanted).await.map_err(|fault| fault.into_error("import from redis"))
        })
    }
}

async fn read(options: &ServerOptions, wanted: &Wanted) -> Result<Vec<Table>, Fault> {
    let mut connection = connect_to_read(options).await?;
    check_primary(&mut connection).await?;
    let primaries = cluster::primaries(&mut connection).await?;
    let mut found = Found::default();
    if primaries.is_empty() {
        found.read(&mut connection, wanted).await?;
    }
    for primary in &primaries {
        let host = if primary.host.is_empty() { options.url.host() } else { &primary.host };
        let options = ServerOptions { url: options.url.at(host, primary.port), ..options.clone() };
        found.read(&mut connect_to_read(&options).await?, wanted).await?;
    }
    if cluster::primaries(&mut connection).await? != primaries {
        return Err(refused("the Redis Cluster changed while it was read: import again".to_owned()).into());
    }
    Ok(found.tables(wanted))
}

/// What was found on one server or several.
#[derive(Default)]
struct Found {
    keys: Vec<TextRow>,
    hashes: Vec<Table>,
    /// Keys that are no counters, each with the reason.
    others: Vec<(String, String)>,
    /// Keys that are no text, each with the reason.
    unreadable: Vec<(String, String)>,
    count: usize,
}

impl Found {
    async fn read(&mut self, connection: &mut MultiplexedConnection, wanted: &Wanted) -> Result<(), Fault> {
        let scanned = scan(connection, wanted.pattern.as_deref().unwrap_or("*")).await?;
        self.count += scanned.names.len();
        check_count(self.count)?;
        self.unreadable.extend(scanned.unreadable.iter().map(|name| unreadable(name)));
        let names: Vec<String> = scanned.names.into_iter().collect();
        for part in names.chunks(STEP) {
            let types: Vec<String> = each(connection, "TYPE", part).await?;
            let of = |kind: &str| -> Vec<&String> {
                part.iter().zip(&types).filter(|(_, found)| *found == kind).map(|(name, _)| name).collect()
            };
            // A key that is gone meanwhile has no type.
            let is_other = |kind: &str| !["string", "hash", "none"].contains(&kind);
            let other = part.iter().zip(&types).filter(|(_, kind)| is_other(kind));
            self.others.extend(
                other.map(|(name, kind)| (name.clone(), format!("it is a {kind}: a number is expected"))),
            );
            self.keys.extend(numbers(connection, &of("string"), wanted.pattern.is_some()).await?);
            let (known, unknown) = hashes_of(connection, &of("hash"), wanted).await?;
            self.hashes.extend(known);
            self.others.extend(unknown);
        }
        Ok(())
    }

    /// What is no counter is told if a pattern asked for it.
    fn tables(mut self, wanted: &Wanted) -> Vec<Table> {
        if wanted.pattern.is_some() {
            self.others.sort();
            self.keys.extend(refusals(&[self.unreadable, self.others].concat()));
        }
        let keys = Some(counters("keys", self.keys)).filter(|table| !table.rows.is_empty());
        keys.into_iter().chain(self.hashes).collect()
    }
}

/// Refuses a replica, whose values may be behind. A user who may not ask is believed.
async fn check_primary(connection: &mut MultiplexedConnection) -> Result<(), Fault> {
    let role: Result<Vec<Value>, _> = redis::cmd("ROLE").query_async(connection).await;
    let is_replica =
        role.is_ok_and(|role| matches!(role.first(), Some(Value::BulkString(word)) if word == b"slave"));
    if is_replica { Err(refused(REPLICA.to_owned()).into()) } else { Ok(()) }
}

/// Rows of keys that match the pattern and are no counters: the first of them, and how many more there are.
fn refusals(others: &[(String, String)]) -> Vec<TextRow> {
    let named = others.iter().take(REFUSED_NAMED_MAX);
    let mut rows: Vec<TextRow> = named.map(|(name, why)| refused_counter(name, why.clone())).collect();
    let more = others.len().saturating_sub(REFUSED_NAMED_MAX);
    if more > 0 {
        rows.push(refused_counter("…", format!("{more} more keys are no counters")));
    }
    rows
}

fn unreadable(name: &[u8]) -> (String, String) {
    let why = "its key is not UTF-8: write its number into a file, and import that".to_owned();
    (String::from_utf8_lossy(name).into_owned(), why)
}

/// The keys that match, each once: SCAN may name a key twice.
#[derive(Default)]
struct Scanned {
    names: BTreeSet<String>,
    /// Keys that are no text.
    unreadable: BTreeSet<Vec<u8>>,
}

async fn scan(connection: &mut MultiplexedConnection, pattern: &str) -> Result<Scanned, Fault> {
    let (mut scanned, mut cursor) = (Scanned::default(), 0u64);
    loop {
        let mut scan = redis::cmd("SCAN");
        scan.arg(cursor).arg("MATCH").arg(pattern).arg("COUNT").arg(STEP);
        let (next, found): (u64, Vec<Vec<u8>>) = scan.query_async(connection).await?;
        for name in found.into_iter().filter(|name| !name.starts_with(OWN.as_bytes())) {
            match String::from_utf8(name) {
                Ok(name) => drop(scanned.names.insert(name)),
                Err(error) => drop(scanned.unreadable.insert(error.into_bytes())),
            }
        }
        check_count(scanned.names.len() + scanned.unreadable.len())?;
        cursor = next;
        if cursor == 0 {
            return Ok(scanned);
        }
    }
}

/// The answers to a command on each key, in one round trip. A node of a cluster refuses one command on several slots.
async fn each<T: FromRedisValue>(
    connection: &mut MultiplexedConnection,
    command: &str,
    names: &[impl ToRedisArgs],
) -> Result<Vec<T>, Fault> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let mut reads = redis::pipe();
    for name in names {
        reads.cmd(command).arg(name);
    }
    Ok(reads.query_async(connection).await?)
}

/// The values of string keys. Without a pattern, those that are no numbers are no counters.
async fn numbers(
    connection: &mut MultiplexedConnection,
    names: &[&String],
    all: bool,
) -> Result<Vec<TextRow>, Fault> {
    let values: Vec<Option<Vec<u8>>> = each(connection, "GET", names).await?;
    let row = |(name, value): (&&String, Option<Vec<u8>>)| {
        // A key that is gone meanwhile has no value.
        let value = String::from_utf8_lossy(&value?).into_owned();
        let is_counter = all || value.parse::<i64>().is_ok();
        is_counter.then(|| counter(name, Some(value)))
    };
    Ok(names.iter().zip(values).filter_map(row).collect())
}

/// Tables, and keys that are none, each with the reason.
type Hashes = (Vec<Table>, Vec<(String, String)>);

/// The hashes whose fields are known, each as a table of one row, with its key as the first column; and the others.
async fn hashes_of(
    connection: &mut MultiplexedConnection,
    names: &[&String],
    wanted: &Wanted,
) -> Result<Hashes, Fault> {
    let found: Vec<BTreeMap<Vec<u8>, Vec<u8>>> = each(connection, "HGETALL", names).await?;
    let (mut tables, mut others) = Hashes::default();
    for (name, fields) in names.iter().zip(found) {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let fields: BTreeMap<String, String> =
            fields.into_iter().map(|(field, value)| (text(field), text(value))).collect();
        let columns: Vec<String> = std::iter::once("key".to_owned())
            .chain(fields.keys().map(|field| field.to_ascii_lowercase()))
            .collect();
        let twice = columns.iter().enumerate().find(|(at, field)| columns[..*at].contains(field));
        if let Some((_, field)) = twice {
            others.push(((*name).clone(), format!("its field {field} is there twice, in capitals too")));
        } else if (wanted.look)(name, &columns, &wanted.table_names) == Look::Rows {
            let row = std::iter::once(Some((*name).clone())).chain(fields.into_values().map(Some)).collect();
            tables.push(Table { name: (*name).clone(), columns, rows: vec![row] });
        } else {
            let fields = columns.get(1..).unwrap_or_default().iter().take(FIELDS_NAMED_MAX);
            let fields = fields.map(String::as_str).collect::<Vec<_>>().join(", ");
            let why = format!("it is a hash with {fields}: base, cur, pre, needTime are expected");
            others.push(((*name).clone(), why));
        }
    }
    Ok((tables, others))
}
