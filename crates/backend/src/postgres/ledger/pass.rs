//! What every call that writes shows, checked in its own transaction.

use sequent_core::{
    ErrorKind, Incarnation, SourceError,
    ledger::{Pass, ServerId},
};
use sqlx::{postgres::types::Oid, query, query_as};

use super::{capped, kept};
use crate::postgres::{
    fault::Fault,
    link::{Link, reborn},
};

/// Who speaks, and the server's clock, as a transaction found them.
pub(super) struct Speaker {
    pub(super) incarnation: Incarnation,
    pub(super) now_ms: u64,
}

/// Looks who speaks: another process may have made the ledger speak anew.
pub(super) async fn look(link: &mut Link) -> Result<Speaker, Fault> {
    speaker(
        link,
        "SELECT token, pg_relation_filenode('counters'::regclass), pg_backend_pid(), \
            (extract(epoch FROM clock_timestamp()) * 1000)::bigint FROM meta",
    )
    .await
}

/// The same, and makes other writers wait until this transaction has ended. The first statement of each that writes.
pub(super) async fn lock(link: &mut Link) -> Result<Speaker, Fault> {
    // The clock is read once the lock is held.
    speaker(
        link,
        "SELECT token, pg_relation_filenode('counters'::regclass), pg_backend_pid(), \
            (extract(epoch FROM clock_timestamp()) * 1000)::bigint \
            FROM (SELECT token FROM meta FOR UPDATE) AS held",
    )
    .await
}

async fn speaker(link: &mut Link, sql: &'static str) -> Result<Speaker, Fault> {
    let (token, file, pid, now): (String, Option<Oid>, i32, i64) = link.session().only(query_as(sql)).await?;
    link.session().same(pid)?;
    link.anchored(file)?;
    Ok(Speaker { incarnation: link.as_token(&token), now_ms: kept(now) })
}

impl Speaker {
    /// `Reborn` unless the ledger speaks as `under`.
    pub(super) fn check(self, under: &Incarnation) -> Result<Self, Fault> {
        if self.incarnation == *under { Ok(self) } else { Err(reborn(under, &self.incarnation).into()) }
    }
}

/// Locks the ledger, checks a pass, and leaves its next nonce. Returns the server's clock.
pub(super) async fn admit(link: &mut Link, pass: &Pass<'_>) -> Result<u64, Fault> {
    let Speaker { now_ms, .. } = lock(link).await?.check(pass.under)?;
    let sql = "SELECT (SELECT nonce FROM servers WHERE server = $1), (SELECT epoch FROM layout), \
        (SELECT accepted FROM meta)";
    let (nonce, epoch, record): (Option<i64>, Option<i64>, Option<String>) =
        link.session().only(query_as(sql).bind(pass.server.0.cast_signed())).await?;
    let nonce = nonce.map(i64::cast_unsigned);
    if !nonce.is_some_and(|nonce| pass.nonces.contains(&nonce)) {
        let found = if nonce.is_some() { "an older nonce" } else { "no row" };
        let context = format!("server {:?}: found {found}, so the ledger went back", pass.server);
        return Err(SourceError::new(ErrorKind::Reborn, context).into());
    }
    if epoch != Some(capped(pass.epoch)) {
        let found = epoch.map_or("none".to_owned(), |epoch| epoch.to_string());
        let context = format!("layout epoch: found {found}, expected {}", pass.epoch);
        return Err(SourceError::new(ErrorKind::Refused, context).into());
    }
    // The next connection may lead to the server that has the run on record.
    pass.check_record(record.as_deref())
        .map_err(|error| Fault::broken(ErrorKind::Refused, error.context().to_owned()))?;
    sign(link, pass.server, pass.next, now_ms).await?;
    Ok(now_ms)
}

/// Leaves a server's nonce.
pub(super) async fn sign(link: &mut Link, server: ServerId, nonce: u64, now_ms: u64) -> Result<(), Fault> {
    let sql = "INSERT INTO servers (server, nonce, seen_ms) VALUES ($1, $2, $3) \
        ON CONFLICT (server) DO UPDATE SET nonce = excluded.nonce, seen_ms = excluded.seen_ms";
    let signed = query(sql).bind(server.0.cast_signed()).bind(nonce.cast_signed()).bind(capped(now_ms));
    link.session().run(signed).await?;
    Ok(())
}

/// The ledger's version, one more if `changed`.
pub(super) async fn version(link: &mut Link, changed: bool) -> Result<u64, Fault> {
    let sql = if changed {
        "UPDATE meta SET version = version + 1 RETURNING version"
    } else {
        "SELECT version FROM meta"
    };
    let (version,): (i64,) = link.session().only(query_as(sql)).await?;
    Ok(kept(version))
}
