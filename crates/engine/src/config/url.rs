//! What the drivers make of a URL; without its driver a word was refused before.

use super::{ServerKind, kind::Family};

/// What a URL says, without its secret.
pub(super) struct Parts {
    /// What may be printed.
    pub(super) address: String,
    /// The same for every URL of the same tables, as far as one can tell from the text.
    pub(super) identity: String,
    pub(super) has_password: bool,
}

/// The key at fault, and what is wrong with it: never its value.
type Wrong = (&'static str, String);

pub(super) fn parts(kind: ServerKind, url: &str, schema: Option<&str>) -> Result<Parts, Wrong> {
    match kind.family() {
        Family::Etcd => etcd(url),
        Family::Mongodb => mongodb(url),
        Family::Mysql => mysql(url),
        Family::Postgres => postgres(kind, url, schema),
        Family::Redis => redis(url),
        Family::Memcached => memcached(url),
    }
}

#[cfg(feature = "etcd")]
fn etcd(url: &str) -> Result<Parts, Wrong> {
    use sequent_backend::etcd::{EtcdOptions, Password};

    let options = EtcdOptions::from_url(url).map_err(|error| ("url", error.context().to_owned()))?;
    let first = options.endpoints.first().map(|member| (member.host.clone(), member.port));
    let (host, port) = first.unwrap_or_default();
    Ok(Parts {
        address: options.address(),
        identity: identity("etcd", &host, port, &options.prefix),
        has_password: options.password != Password::None,
    })
}

#[cfg(feature = "mongodb")]
fn mongodb(url: &str) -> Result<Parts, Wrong> {
    use sequent_backend::mongodb::{MongodbUrl, UrlError};

    let url: MongodbUrl = url.parse().map_err(|error: UrlError| ("url", error.to_string()))?;
    Ok(Parts {
        address: url.to_string(),
        identity: identity("mongodb", url.host(), url.port(), url.database()),
        has_password: url.has_password(),
    })
}

#[cfg(feature = "mysql")]
fn mysql(url: &str) -> Result<Parts, Wrong> {
    use sequent_backend::mysql::{MysqlOptions, MysqlPassword};

    let options = MysqlOptions::from_url(url).map_err(|error| ("url", error.context().to_owned()))?;
    Ok(Parts {
        address: options.address(),
        identity: identity("mysql", &options.host, options.port, &options.database),
        has_password: !matches!(options.password, MysqlPassword::None),
    })
}

#[cfg(feature = "postgres")]
fn postgres(kind: ServerKind, url: &str, schema: Option<&str>) -> Result<Parts, Wrong> {
    use sequent_backend::postgres::{PostgresUrl, SchemaName, SchemaNameError, UrlError};

    let url: PostgresUrl = url.parse().map_err(|error: UrlError| ("url", error.to_string()))?;
    let checked = schema.map(str::parse::<SchemaName>).transpose();
    checked.map_err(|error: SchemaNameError| ("schema", error.to_string()))?;
    // As the backend names it where nobody does.
    let default = if kind == ServerKind::PostgresLedger { "sequent_ledger" } else { "sequent_store" };
    let identity = identity("postgres", url.host(), url.port(), url.database());
    Ok(Parts {
        address: url.to_string(),
        identity: format!("{identity} schema {}", schema.unwrap_or(default)),
        has_password: url.has_password(),
    })
}

#[cfg(feature = "redis")]
fn redis(url: &str) -> Result<Parts, Wrong> {
    use sequent_backend::redis::{Password, RedisOptions};

    let options = RedisOptions::from_url(url).map_err(|error| ("url", error.context().to_owned()))?;
    Ok(Parts {
        address: options.address(),
        identity: identity("redis", &options.host, options.port, &options.database.to_string()),
        has_password: options.password != Password::None,
    })
}

#[cfg(feature = "memcached")]
fn memcached(url: &str) -> Result<Parts, Wrong> {
    use sequent_backend::memcached::{MemcachedOptions, Password};

    let options = MemcachedOptions::from_url(url).map_err(|error| ("url", error.context().to_owned()))?;
    Ok(Parts {
        address: options.address(),
        identity: identity("memcached", &options.host, options.port, ""),
        has_password: options.password != Password::None,
    })
}

#[cfg(not(feature = "etcd"))]
fn etcd(_: &str) -> Result<Parts, Wrong> {
    Err(("url", "this build holds no driver for it: its feature etcd is off".to_owned()))
}

#[cfg(not(feature = "redis"))]
fn redis(_: &str) -> Result<Parts, Wrong> {
    Err(("url", "this build holds no driver for it: its feature redis is off".to_owned()))
}

#[cfg(not(feature = "memcached"))]
fn memcached(_: &str) -> Result<Parts, Wrong> {
    Err(("url", "this build holds no driver for it: its feature memcached is off".to_owned()))
}

#[cfg(not(feature = "mongodb"))]
fn mongodb(_: &str) -> Result<Parts, Wrong> {
    Err(("url", "this build holds no driver for it: its feature mongodb is off".to_owned()))
}

#[cfg(not(feature = "mysql"))]
fn mysql(_: &str) -> Result<Parts, Wrong> {
    Err(("url", "this build holds no driver for it: its feature mysql is off".to_owned()))
}

#[cfg(not(feature = "postgres"))]
fn postgres(_: ServerKind, _: &str, _: Option<&str>) -> Result<Parts, Wrong> {
    Err(("url", "this build holds no driver for it: its feature postgres is off".to_owned()))
}

/// One machine's names for itself are one; what else leads to one server is seen by the stamp that its tables bear.
#[cfg(any(
    feature = "etcd",
    feature = "mongodb",
    feature = "mysql",
    feature = "postgres",
    feature = "redis",
    feature = "memcached"
))]
fn identity(scheme: &str, host: &str, port: u16, database: &str) -> String {
    let lower = host.to_ascii_lowercase();
    let host = lower.trim_end_matches('.');
    let loops = host.parse::<std::net::IpAddr>().map_or(host == "localhost", |address| address.is_loopback());
    format!("{scheme} {}:{port}/{database}", if loops { "localhost" } else { host })
}
