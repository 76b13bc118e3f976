//! Who speaks, who calls, and what is on record.

use sequent_core::{
    BoxFuture, ErrorKind, ExamineLedger, Incarnation, LedgerId, SlotIndex, SourceError,
    ledger::{Identity, Known, LedgerInspection, ServerId, apart},
};
use sqlx::{query, query_as};

use super::{
    PostgresLedger, capped, kept,
    pass::{lock, look, sign},
    schema::KIND,
    small,
};
use crate::postgres::{
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

impl Identity for PostgresLedger {
    fn examiner(&self) -> Option<&dyn ExamineLedger> {
        Some(self)
    }

    fn inspect(&self) -> BoxFuture<'_, Result<LedgerInspection, SourceError>> {
        Box::pin(self.database.perform(Inspect))
    }

    fn enlist<'a>(
        &'a self,
        under: &'a Incarnation,
        server: ServerId,
        nonce: u64,
    ) -> BoxFuture<'a, Result<(), SourceError>> {
        Box::pin(async move {
            self.database.perform(Enlist { under, server, nonce }).await?;
            *self.enlisted() = Some(server);
            Ok(())
        })
    }

    fn rebear<'a>(&'a self, was: &'a Incarnation) -> BoxFuture<'a, Result<Incarnation, SourceError>> {
        Box::pin(self.database.perform(Rebear { was, token: self.token() }))
    }

    fn known(&self) -> BoxFuture<'_, Result<Known, SourceError>> {
        Box::pin(self.database.perform(ReadKnown))
    }

    fn record<'a>(
        &'a self,
        under: &'a Incarnation,
        slot: Option<SlotIndex>,
        incarnation: &'a Incarnation,
    ) -> BoxFuture<'a, Result<(), SourceError>> {
        Box::pin(self.database.perform(Record { under, slot, incarnation }))
    }
}

pub(super) struct Inspect;

impl Work for Inspect {
    type Out = LedgerInspection;
    const VERB: &'static str = "inspect";
    const FRAME: Frame = Frame::Read;

    async fn run(&self, link: &mut Link) -> Result<LedgerInspection, Fault> {
        let speaker = look(link).await?;
        // Everybody may read which tables a subscription of this database writes to.
        let sql = "SELECT id, version, current_setting('server_version'), \
            (SELECT string_agg(srrelid::regclass::text, ', ') FROM pg_subscription_rel \
            WHERE srrelid IN ('meta'::regclass, 'dense'::regclass, 'counters'::regclass)) FROM meta";
        let (id, version, engine, subscribed): (String, i64, String, Option<String>) =
            link.session().only(query_as(sql)).await?;
        let id: LedgerId = id.parse().map_err(|error: std::num::ParseIntError| {
            SourceError::new(ErrorKind::Refused, format!("ledger id is {id:?}")).because(error)
        })?;
        Ok(LedgerInspection {
            incarnation: speaker.incarnation,
            id,
            version: kept(version),
            durability: link.attest(&KIND).await?,
            clock_ms: speaker.now_ms,
            engine: format!("PostgreSQL {engine}"),
            other_master: subscribed.map(|tables| format!("tables of a logical subscription: {tables}")),
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
        let now_ms = lock(link).await?.check(self.under)?.now_ms;
        let oldest = capped(now_ms.saturating_sub(SERVER_KEPT_MS));
        let sql = "DELETE FROM servers WHERE server IN \
            (SELECT server FROM servers WHERE seen_ms <= $1 ORDER BY seen_ms \
            LIMIT LEAST($2, GREATEST(0, (SELECT count(*) FROM servers) - $3)))";
        let purge = query(sql).bind(oldest).bind(SERVERS_PURGED_MAX).bind(SERVERS_KEPT);
        link.session().run(purge).await?;
        sign(link, self.server, self.nonce, now_ms).await
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
        let sql = "DELETE FROM servers WHERE server = $1";
        link.session().run(query(sql).bind(self.server.0.cast_signed())).await?;
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
        let now = lock(link).await?.incarnation;
        if now != *self.was {
            return Ok(now);
        }
        link.session().run(query("UPDATE meta SET token = $1").bind(self.token.as_str())).await?;
        Ok(link.as_token(&self.token))
    }
}

struct ReadKnown;

impl Work for ReadKnown {
    type Out = Known;
    const VERB: &'static str = "read what is known from";
    const FRAME: Frame = Frame::Read;

    async fn run(&self, link: &mut Link) -> Result<Known, Fault> {
        let (ledger,): (Option<String>,) = link.session().only(query_as("SELECT accepted FROM meta")).await?;
        let slots: Vec<(i32, String)> =
            link.session().rows(query_as("SELECT slot, incarnation FROM slots ORDER BY slot")).await?;
        let store = |(slot, text)| Ok((small("slot", slot)?, Incarnation::new(text)));
        let stores = slots.into_iter().map(store).collect::<Result<_, SourceError>>()?;
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
        lock(link).await?.check(self.under)?;
        let text = self.incarnation.as_str();
        let query = match self.slot {
            None => query(
                "UPDATE meta SET accepted = $1, \
                    version = version + CASE WHEN accepted <> $1 THEN $2 ELSE 0 END",
            )
            .bind(text)
            .bind(capped(apart(self.incarnation))),
            Some(slot) => query(
                "INSERT INTO slots (incarnation, slot) VALUES ($1, $2) \
                    ON CONFLICT (slot) DO UPDATE SET incarnation = excluded.incarnation",
            )
            .bind(text)
            .bind(i32::from(slot)),
        };
        link.session().run(query).await?;
        Ok(())
    }
}
