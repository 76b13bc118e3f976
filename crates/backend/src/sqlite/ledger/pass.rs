//! What every call that writes shows, checked in its own transaction.

use sequent_core::{
    ErrorKind, Incarnation, SourceError,
    ledger::{Pass, ServerId},
};
use sqlx::{query, query_as};

use crate::sqlite::{
    fault::Fault,
    link::{Link, reborn},
};

use super::capped;

/// Who speaks, as the file says within this transaction: another process may have made it speak anew.
pub(super) async fn speaker(link: &mut Link) -> Result<Incarnation, Fault> {
    let (token,): (String,) = link.only(query_as("SELECT token FROM meta")).await?;
    Ok(link.as_token(&token))
}

/// `Reborn` unless the ledger speaks as `under`.
pub(super) async fn check(link: &mut Link, under: &Incarnation) -> Result<(), Fault> {
    let now = speaker(link).await?;
    if now == *under { Ok(()) } else { Err(reborn(under, &now).into()) }
}

/// Checks a pass, and leaves its next nonce.
pub(super) async fn admit(link: &mut Link, pass: &Pass<'_>) -> Result<(), Fault> {
    check(link, pass.under).await?;
    let sql = "SELECT (SELECT nonce FROM servers WHERE server = ?1), (SELECT epoch FROM layout), \
        (SELECT accepted FROM meta)";
    let (nonce, epoch, record): (Option<i64>, Option<i64>, Option<String>) =
        link.only(query_as(sql).bind(pass.server.0.cast_signed())).await?;
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
    pass.check_record(record.as_deref())?;
    sign(link, pass.server, pass.next).await
}

/// Leaves a server's nonce.
pub(super) async fn sign(link: &mut Link, server: ServerId, nonce: u64) -> Result<(), Fault> {
    let sql = "INSERT INTO servers (server, nonce, seen_ms) VALUES (?1, ?2, ?3) \
        ON CONFLICT (server) DO UPDATE SET nonce = excluded.nonce, seen_ms = excluded.seen_ms";
    let now_ms = capped(link.wall_ms());
    link.run(query(sql).bind(server.0.cast_signed()).bind(nonce.cast_signed()).bind(now_ms)).await?;
    Ok(())
}

/// The ledger's version, one more if `changed`.
pub(super) async fn version(link: &mut Link, changed: bool) -> Result<u64, Fault> {
    if changed {
        link.run(query("UPDATE meta SET version = version + 1")).await?;
    }
    let (version,): (i64,) = link.only(query_as("SELECT version FROM meta")).await?;
    Ok(super::kept(version))
}
