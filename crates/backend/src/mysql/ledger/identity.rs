//! Who speaks, who calls, and what is on record.

use sequent_core::{
    BoxFuture, ErrorKind, ExamineLedger, Incarnation, LedgerId, SlotIndex, SourceError,
    ledger::{Identity, Known, LedgerInspection, ServerId, apart},
};

use super::{
    MysqlLedger, capped, kept,
    masters::other_master,
    pass::{Hold, as_token, hold, sign},
};
use crate::mysql::{
    fault::Fault,
    link::Link,
    work::{Frame, Work},
};

/// How long the row of a server that no longer calls is kept in any case: a day.
const SERVER_KEPT_MS: u64 = 24 * 60 * 60 * 1000;

/// So many rows stay however old they are: whoever was suspended for days is still known when it wakes. Where there are more, the
/// longest silent go; one of those that wakes all the same takes the ledger for one that went back, and every counter begins a
/// new life: that repeats nothing, and costs what ceilings were ahead.
const SERVERS_KEPT: i64 = 1024;

/// How many such rows one enlisting removes at most: many more than the one that it adds, and a moment's work.
const SERVERS_PURGED_MAX: i64 = 256;

impl Identity for MysqlLedger {
    fn examiner(&self) -> Option<&dyn ExamineLedger> {
        Some(self)
    }

    fn inspect(&self) -> BoxFuture<'_, Result<LedgerInspection, SourceError>> {
        Box::pin(self.pool.perform(Inspect))
    }

    fn enlist<'a>(
        &'a self,
        under: &'a Incarnation,
        server: ServerId,
        nonce: u64,
    ) -> BoxFuture<'a, Result<(), SourceError>> {
        Box::pin(async move {
            self.pool.perform(Enlist { under, server, nonce }).await?;
            *self.enlisted() = Some(server);
            Ok(())
        })
    }

    fn rebear<'a>(&'a self, was: &'a Incarnation) -> BoxFuture<'a, Result<Incarnation, SourceError>> {
        Box::pin(self.pool.perform(Rebear { was, token: self.token() }))
    }

    fn known(&self) -> BoxFuture<'_, Result<Known, SourceError>> {
        Box::pin(self.pool.perform(ReadKnown))
    }

    fn record<'a>(
        &'a self,
        under: &'a Incarnation,
        slot: Option<SlotIndex>,
        incarnation: &'a Incarnation,
    ) -> BoxFuture<'a, Result<(), SourceError>> {
        Box::pin(self.pool.perform(Record { under, slot, incarnation }))
    }
}

pub(super) struct Inspect;

impl Work for Inspect {
    type Out = LedgerInspection;
    const VERB: &'static str = "inspect";
    const FRAME: Frame = Frame::Bare;
    const LOOKS_AGAIN: bool = true;

    async fn run(&self, link: &mut Link) -> Result<LedgerInspection, Fault> {
        let sql = "SELECT id, token, version, CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS UNSIGNED) \
            FROM sequent_meta WHERE one = 1";
        let (id, token, version, clock_ms): (String, String, i64, u64) = link.only(sql, ()).await?;
        let id: LedgerId = id.parse().map_err(|error: std::num::ParseIntError| {
            SourceError::new(ErrorKind::Refused, format!("ledger id is {id:?}")).because(error)
        })?;
        Ok(LedgerInspection {
            incarnation: as_token(link, &token),
            id,
            version: kept(version),
            durability: link.settings().durability(),
            clock_ms,
            engine: link.settings().engine(),
            other_master: other_master(link).await?,
        })
    }
}

struct Enlist<'a> {
    under: &'a Incarnation,
    server: ServerId,
    nonce: u64,
}

impl Work for Enlist<'_> {
    type Out = ();
    const VERB: &'static str = "enlist with";
    const FRAME: Frame = Frame::Write;

    async fn run(&self, link: &mut Link) -> Result<(), Fault> {
        let meta = hold(link, Hold::Write).await?;
        meta.check(self.under)?;
        let oldest = capped(meta.clock_ms.saturating_sub(SERVER_KEPT_MS));
        let (rows,): (i64,) = link.only("SELECT COUNT(*) FROM sequent_servers", ()).await?;
        let most = (rows - SERVERS_KEPT).clamp(0, SERVERS_PURGED_MAX);
        if most > 0 {
            let sql = "DELETE FROM sequent_servers WHERE seen_ms <= ? ORDER BY seen_ms LIMIT ?";
            link.exec(sql, (oldest, most)).await?;
        }
        sign(link, self.server, self.nonce, meta.clock_ms).await
    }
}

/// A server's row goes with the server.
pub(super) struct Delist {
    pub(super) server: ServerId,
}

impl Work for Delist {
    type Out = ();
    const VERB: &'static str = "delist from";
    const FRAME: Frame = Frame::Bare;

    async fn run(&self, link: &mut Link) -> Result<(), Fault> {
        let sql = "DELETE FROM sequent_servers WHERE server = ?";
        link.exec(sql, (self.server.0.cast_signed(),)).await?;
        Ok(())
    }
}

struct Rebear<'a> {
    was: &'a Incarnation,
    token: String,
}

impl Work for Rebear<'_> {
    type Out = Incarnation;
    const VERB: &'static str = "rebear";
    const FRAME: Frame = Frame::Write;

    async fn run(&self, link: &mut Link) -> Result<Incarnation, Fault> {
        let meta = hold(link, Hold::Write).await?;
        if meta.speaks != *self.was {
            return Ok(meta.speaks);
        }
        link.exec("UPDATE sequent_meta SET token = ? WHERE one = 1", (self.token.as_str(),)).await?;
        Ok(as_token(link, &self.token))
    }
}

struct ReadKnown;

impl Work for ReadKnown {
    type Out = Known;
    const VERB: &'static str = "read what is known from";
    const FRAME: Frame = Frame::Write;

    async fn run(&self, link: &mut Link) -> Result<Known, Fault> {
        hold(link, Hold::Read).await?;
        let (ledger,): (Option<String>,) =
            link.only("SELECT accepted FROM sequent_meta WHERE one = 1", ()).await?;
        let sql = "SELECT slot, incarnation FROM sequent_slots ORDER BY slot";
        let slots: Vec<(SlotIndex, String)> = link.rows(sql, ()).await?;
        let stores = slots.into_iter().map(|(slot, text)| (slot, Incarnation::new(text))).collect();
        Ok(Known { ledger: ledger.map(Incarnation::new), stores })
    }
}

struct Record<'a> {
    under: &'a Incarnation,
    slot: Option<SlotIndex>,
    incarnation: &'a Incarnation,
}

impl Work for Record<'_> {
    type Out = ();
    const VERB: &'static str = "record in";
    const FRAME: Frame = Frame::Write;

    async fn run(&self, link: &mut Link) -> Result<(), Fault> {
        hold(link, Hold::Write).await?.check(self.under)?;
        let text = self.incarnation.as_str();
        match self.slot {
            None => {
                // Its assignments go from left to right: the run on record is compared before it is replaced.
                let sql = "UPDATE sequent_meta SET version = version + IF(accepted <> ?, ?, 0), accepted = ? \
                    WHERE one = 1";
                link.exec(sql, (text, capped(apart(self.incarnation)), text)).await?
            }
            Some(slot) => {
                let sql = "REPLACE INTO sequent_slots (slot, incarnation) VALUES (?, ?)";
                link.exec(sql, (slot, text)).await?
            }
        };
        Ok(())
    }
}
