//! Keys of Redis and Valkey: numbers that INCR counts, and hashes.

use std::collections::{BTreeMap, BTreeSet};

use redis::{Value, aio::MultiplexedConnection};
use sequent_core::{BoxFuture, SourceError};

use super::{Look, Source, Table, TextRow, Wanted, check_count, counters, refused};
use crate::{
    net::{Fault, ServerOptions},
    redis::connect_to_read,
};

/// What is said in front of an error.
const CONTEXT: &str = "import from redis";

/// How many keys one step of SCAN looks at, and how many are read in one pipeline.
const STEP: usize = 1000;

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
            let connection = connect_to_read(&self.0).await.map_err(|fault| fault.into_error(CONTEXT))?;
            read(connection, wanted).await.map_err(|fault| fault.into_error(CONTEXT))?
        })
    }
}

async fn read(
    mut connection: MultiplexedConnection,
    wanted: &Wanted,
) -> Result<Result<Vec<Table>, SourceError>, Fault> {
    let names = match scan(&mut connection, wanted.pattern.as_deref().unwrap_or("*")).await? {
        Ok(names) => names,
        Err(error) => return Ok(Err(error)),
    };
    let names: Vec<String> = names.into_iter().collect();
    let (mut keys, mut hashes) = (Vec::new(), Vec::new());
    for part in names.chunks(STEP) {
        let mut types = redis::pipe();
        for name in part {
            types.cmd("TYPE").arg(name);
        }
        let types: Vec<String> = types.query_async(&mut connection).await?;
        let of = |kind: &str| -> Vec<&String> {
            part.iter().zip(&types).filter(|(_, found)| *found == kind).map(|(name, _)| name).collect()
        };
        keys.extend(numbers(&mut connection, &of("string"), wanted.pattern.is_some()).await?);
        hashes.extend(hashes_of(&mut connection, &of("hash"), wanted).await?);
    }
    let keys = Some(counters("keys", keys)).filter(|table| !table.rows.is_empty());
    Ok(Ok(keys.into_iter().chain(hashes).collect()))
}

/// The keys that match, each once: SCAN may name a key twice.
async fn scan(
    connection: &mut MultiplexedConnection,
    pattern: &str,
) -> Result<Result<BTreeSet<String>, SourceError>, Fault> {
    let (mut names, mut cursor) = (BTreeSet::new(), 0u64);
    loop {
        let mut scan = redis::cmd("SCAN");
        scan.arg(cursor).arg("MATCH").arg(pattern).arg("COUNT").arg(STEP);
        let (next, found): (u64, Vec<Vec<u8>>) = scan.query_async(connection).await?;
        let texts = found.into_iter().filter_map(|name| String::from_utf8(name).ok());
        names.extend(texts.filter(|name| !name.starts_with(OWN)));
        if let Err(error) = check_count(names.len()) {
            return Ok(Err(error));
        }
        cursor = next;
        if cursor == 0 {
            return Ok(Ok(names));
        }
    }
}

/// The values of string keys. Without a pattern, those that are no numbers are no counters.
async fn numbers(
    connection: &mut MultiplexedConnection,
    names: &[&String],
    all: bool,
) -> Result<Vec<TextRow>, Fault> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let values: Vec<Option<Vec<u8>>> = redis::cmd("MGET").arg(names).query_async(connection).await?;
    let row = |(name, value): (&&String, Option<Vec<u8>>)| {
        // A key that is gone meanwhile has no value.
        let value = String::from_utf8_lossy(&value?).into_owned();
        let is_counter = all || value.parse::<i64>().is_ok();
        is_counter.then(|| vec![Some((*name).clone()), Some(value), Some("1".to_owned()), None])
    };
    Ok(names.iter().zip(values).filter_map(row).collect())
}

/// The hashes whose fields are known, each as a table of one row, with its key as the first column.
async fn hashes_of(
    connection: &mut MultiplexedConnection,
    names: &[&String],
    wanted: &Wanted,
) -> Result<Vec<Table>, Fault> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let mut fields = redis::pipe();
    for name in names {
        fields.cmd("HGETALL").arg(name);
    }
    let found: Vec<Value> = fields.query_async(connection).await?;
    let mut tables = Vec::new();
    for (name, value) in names.iter().zip(found) {
        let fields: BTreeMap<String, String> =
            redis::from_redis_value(value).map_err(redis::RedisError::from)?;
        let columns: Vec<String> = std::iter::once("key".to_owned())
            .chain(fields.keys().map(|field| field.to_ascii_lowercase()))
            .collect();
        if (wanted.look)(name, &columns) == Look::Rows {
            let row = std::iter::once(Some((*name).clone())).chain(fields.into_values().map(Some)).collect();
            tables.push(Table { name: (*name).clone(), columns, rows: vec![row] });
        }
    }
    Ok(tables)
}
