//! What every call that writes shows, checked in its own transaction.

use sequent_core::{
    ErrorKind, Incarnation, SourceError,
    ledger::{Pass, ServerId},
};

use super::{capped, kept};
use crate::mysql::{
    fault::Fault,
    link::{Link, reborn},
};

/// How the one row of `sequent_meta` is held until the transaction ends.
#[derive(Debug, Clone, Copy)]
pub(super) enum Hold {
    /// Against all others: they follow one after the other.
    Write,
    /// Against writers, so that all that is read is of one moment.
    Read,
}

/// The one row of `sequent_meta`, and the server's clock.
pub(super) struct Meta {
    pub(super) speaks: Incarnation,
    pub(super) version: u64,
    pub(super) catalog: u64,
    pub(super) floor: u64,
    pub(super) clock_ms: u64,
}

/// Reads the row, and holds it.
pub(super) async fn hold(link: &mut Link, how: Hold) -> Result<Meta, Fault> {
    let sql = match how {
        Hold::Write => {
            "SELECT token, version, catalog, floor, CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS UNSIGNED) \
            FROM sequent_meta WHERE one = 1 FOR UPDATE"
        }
        Hold::Read => {
            "SELECT token, version, catalog, floor, CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS UNSIGNED) \
            FROM sequent_meta WHERE one = 1 LOCK IN SHARE MODE"
        }
    };
    let (token, version, catalog, floor, clock_ms): (String, i64, i64, i64, u64) = link.only(sql, ()).await?;
    let speaks = as_token(link, &token);
    Ok(Meta { speaks, version: kept(version), catalog: kept(catalog), floor: kept(floor), clock_ms })
}

/// Who speaks here if the ledger's token is `token`.
pub(super) fn as_token(link: &Link, token: &str) -> Incarnation {
    Incarnation::new(format!("{} ledger {token}", link.incarnation()))
}

/// The ledger's token where it speaks as `incarnation` here; `None` where another must speak.
pub(super) fn token_of<'a>(link: &Link, incarnation: &'a Incarnation) -> Option<&'a str> {
    incarnation.as_str().strip_prefix(link.incarnation().as_str())?.strip_prefix(" ledger ")
}

impl Meta {
    /// `Reborn` unless the ledger speaks as `under`.
    pub(super) fn check(&self, under: &Incarnation) -> Result<(), Fault> {
        if self.speaks == *under { Ok(()) } else { Err(reborn(under, &self.speaks).into()) }
    }

    /// The ledger's version, one more if `changed`.
    pub(super) async fn version(&self, link: &mut Link, changed: bool) -> Result<u64, Fault> {
        if !changed {
            return Ok(self.version);
        }
        link.exec("UPDATE sequent_meta SET version = version + 1 WHERE one = 1", ()).await?;
        Ok(self.version + 1)
    }
}

/// Holds the ledger, checks a pass, and leaves its next nonce.
pub(super) async fn admit(link: &mut Link, pass: &Pass<'_>) -> Result<Meta, Fault> {
    let meta = hold(link, Hold::Write).await?;
    meta.check(pass.under)?;
    let sql = "SELECT (SELECT nonce FROM sequent_servers WHERE server = ?), (SELECT epoch FROM sequent_layout), \
        (SELECT accepted FROM sequent_meta WHERE one = 1)";
    let (nonce, epoch, record): (Option<i64>, Option<i64>, Option<String>) =
        link.only(sql, (pass.server.0.cast_signed(),)).await?;
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
    sign(link, pass.server, pass.next, meta.clock_ms).await?;
    Ok(meta)
}

/// Leaves a server's nonce.
pub(super) async fn sign(link: &mut Link, server: ServerId, nonce: u64, now_ms: u64) -> Result<(), Fault> {
    let sql = "INSERT INTO sequent_servers (server, nonce, seen_ms) VALUES (?, ?, ?) \
        ON DUPLICATE KEY UPDATE nonce = VALUES(nonce), seen_ms = VALUES(seen_ms)";
    link.exec(sql, (server.0.cast_signed(), nonce.cast_signed(), capped(now_ms))).await?;
    Ok(())
}
