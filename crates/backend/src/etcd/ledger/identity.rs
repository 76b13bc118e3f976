//! Who speaks, who calls, and what is on record.

use sequent_core::{
    BoxFuture, Durability, DurabilityClass, ExamineLedger, Incarnation, LedgerId, SlotIndex, SourceError,
    ledger::{Identity, Known, LedgerInspection, ServerId, apart},
};

use super::{
    EtcdLedger,
    admit::{reborn_unless, speaker},
    kept::Seat,
    transact::{Change, Step, look, transact},
};
use crate::{
    etcd::{
        gateway::{Kv, Op, Span},
        link::Link,
        names::{Names, slot_of},
        opening::{About, token},
        run::{Run, metric},
        value::{self, or_default, unreadable},
    },
    wire::{Fault, Work},
};

/// How long the row of a server that no longer calls is kept in any case: a day.
const SERVER_KEPT_MS: u64 = 24 * 60 * 60 * 1000;

/// So many rows stay however old they are: whoever was suspended for days is still known when it wakes.
const SERVERS_KEPT: usize = 1024;

/// How many rows of servers one enlisting looks at, and how many of them it removes at most.
const SERVERS_SEEN_MAX: u64 = 2048;
const SERVERS_PURGED_MAX: usize = 50;

impl Identity for EtcdLedger {
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
        Box::pin(self.pool.perform(Rebear { was }))
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

impl Work<Link> for Inspect {
    type Out = LedgerInspection;
    const VERB: &'static str = "inspect";

    async fn run(&self, link: &mut Link) -> Result<LedgerInspection, Fault> {
        let names = link.names();
        let parts = ["about", "run", "version"];
        let reads = parts.map(|what| Op::Read(Span::one(names.only(what)))).into();
        let mut answers = look(link, reads).await?;
        let about: About = value::of("ledger", &answers.one().ok_or_else(|| unreadable("what is"))?)?;
        let id: LedgerId = about
            .id
            .parse()
            .map_err(|error: std::num::ParseIntError| Fault::from(unreadable("id").because(error)))?;
        let incarnation = speaker(link.voice(), answers.one().as_ref())?;
        let (version, _) = or_default("version", answers.one().as_ref())?;
        let durability = attest(link.metrics().await?.as_deref());
        let (clock_ms, engine) = (answers.clock_ms, link.engine());
        Ok(LedgerInspection { incarnation, id, version, durability, clock_ms, engine, other_master: None })
    }
}

/// What a member syncs it counts: one that has agreed on anything since it began, as every one that answers has, and has
/// synced nothing, was told not to.
fn attest(page: Option<&str>) -> Durability {
    let synced = page.and_then(|page| metric(page, "etcd_disk_wal_fsync_duration_seconds_count"));
    let (class, fsync) = match synced {
        Some("0") => (DurabilityClass::Lossy, "off"),
        Some(_) => (DurabilityClass::Durable, "on"),
        None => (DurabilityClass::Durable, "not told"),
    };
    Durability { class, settings: vec![("fsync".to_owned(), fsync.to_owned())] }
}

struct Enlist<'a> {
    under: &'a Incarnation,
    server: ServerId,
    nonce: u64,
}

impl Work<Link> for Enlist<'_> {
    type Out = ();
    const VERB: &'static str = "enlist with";

    async fn run(&self, link: &mut Link) -> Result<(), Fault> {
        let (voice, names) = (link.voice(), link.names());
        let servers = Span::under(names.servers()).most(SERVERS_SEEN_MAX);
        let reads = [Op::Read(Span::one(names.only("run"))), Op::Read(servers)];
        let enlisted = transact(link, &reads, |mut answers| {
            let run = answers.one();
            reborn_unless(&speaker(voice, run.as_ref())?, self.under)?;
            let own = names.server(self.server);
            let now_ms = answers.clock_ms;
            let mut change = Change { unchanged: vec![unchanged(&names, run.as_ref())], ops: Vec::new() };
            for (name, revision) in silent(&answers.all().kvs, now_ms)? {
                if name != own {
                    change.ops.push(Op::Delete(Span::one(name.clone())));
                    change.unchanged.push((name, revision));
                }
            }
            let seat = Seat { nonce: self.nonce, seen_ms: now_ms };
            change.ops.push(Op::Put(own, value::text(&seat)));
            Ok(Step::Write(change, ()))
        });
        enlisted.await.map(|((), _)| ())
    }
}

/// Of many servers' rows those that have been silent for longest, and for a day: each with the revision that wrote it.
fn silent(servers: &[Kv], now_ms: u64) -> Result<Vec<(String, u64)>, SourceError> {
    let mut old = Vec::new();
    for kv in servers {
        let seat: Seat = value::of("server", kv)?;
        if now_ms.saturating_sub(seat.seen_ms) >= SERVER_KEPT_MS {
            old.push((seat.seen_ms, kv.name()?.to_owned(), kv.mod_revision));
        }
    }
    old.sort_unstable();
    old.truncate(servers.len().saturating_sub(SERVERS_KEPT).min(SERVERS_PURGED_MAX));
    Ok(old.into_iter().map(|(_, name, revision)| (name, revision)).collect())
}

/// A server's row goes with the server.
pub(super) struct Delist {
    pub(super) server: ServerId,
}

impl Work<Link> for Delist {
    type Out = ();
    const VERB: &'static str = "delist from";

    async fn run(&self, link: &mut Link) -> Result<(), Fault> {
        let name = link.names().server(self.server);
        look(link, vec![Op::Delete(Span::one(name))]).await.map(drop)
    }
}

struct Rebear<'a> {
    was: &'a Incarnation,
}

impl Work<Link> for Rebear<'_> {
    type Out = Incarnation;
    const VERB: &'static str = "rebear";

    async fn run(&self, link: &mut Link) -> Result<Incarnation, Fault> {
        let (voice, names, token) = (link.voice(), link.names(), token(link));
        let reads = [Op::Read(Span::one(names.only("run")))];
        let (now, _) = transact(link, &reads, |mut answers| {
            let run = answers.one();
            let speaks = speaker(voice, run.as_ref())?;
            if speaks != *self.was {
                return Ok(Step::Done(speaks));
            }
            let ops = vec![spoken_anew(&names, run.as_ref(), &token)?];
            let change = Change { unchanged: vec![unchanged(&names, run.as_ref())], ops };
            Ok(Step::Write(change, voice.as_token(&token)))
        })
        .await?;
        Ok(now)
    }
}

/// Leaves another token for the same run of the cluster.
pub(super) fn spoken_anew(names: &Names, run: Option<&Kv>, token: &str) -> Result<Op, SourceError> {
    let run: Run = value::of("run", run.ok_or_else(|| unreadable("run"))?)?;
    Ok(Op::Put(names.only("run"), value::text(&Run { token: token.to_owned(), ..run })))
}

fn unchanged(names: &Names, run: Option<&Kv>) -> (String, u64) {
    (names.only("run"), run.map_or(0, |kv| kv.mod_revision))
}

struct ReadKnown;

impl Work<Link> for ReadKnown {
    type Out = Known;
    const VERB: &'static str = "read what is known from";

    async fn run(&self, link: &mut Link) -> Result<Known, Fault> {
        let names = link.names();
        let reads = vec![Op::Read(Span::one(names.only("accepted"))), Op::Read(Span::under(names.stores()))];
        let mut answers = look(link, reads).await?;
        let said = |kv: &Kv| Ok::<_, SourceError>(Incarnation::new(value::of::<String>("incarnation", kv)?));
        let ledger = answers.one().map(|kv| said(&kv)).transpose()?;
        let store = |kv: &Kv| Ok((slot_of(kv.name()?).ok_or_else(|| unreadable("slot"))?, said(kv)?));
        let stores = answers.all().kvs.iter().map(store).collect::<Result<_, SourceError>>()?;
        Ok(Known { ledger, stores })
    }
}

struct Record<'a> {
    under: &'a Incarnation,
    slot: Option<SlotIndex>,
    incarnation: &'a Incarnation,
}

impl Work<Link> for Record<'_> {
    type Out = ();
    const VERB: &'static str = "record in";

    async fn run(&self, link: &mut Link) -> Result<(), Fault> {
        let (voice, names) = (link.voice(), link.names());
        let reads = ["run", "accepted", "version"].map(|what| Op::Read(Span::one(names.only(what))));
        let recorded = transact(link, &reads, |mut answers| {
            let (run, accepted, version) = (answers.one(), answers.one(), answers.one());
            reborn_unless(&speaker(voice, run.as_ref())?, self.under)?;
            let mut unchanged = vec![unchanged(&names, run.as_ref())];
            let name = self.slot.map_or_else(|| names.only("accepted"), |slot| names.store(slot));
            let mut ops = vec![Op::Put(name, value::text(&self.incarnation.as_str()))];
            let (known, known_at): (Option<String>, _) = or_default("incarnation", accepted.as_ref())?;
            if self.slot.is_none() && known.is_some_and(|known| known != self.incarnation.as_str()) {
                let (version, version_at): (u64, _) = or_default("version", version.as_ref())?;
                let next = version.saturating_add(apart(self.incarnation));
                ops.push(Op::Put(names.only("version"), next.to_string()));
                unchanged.extend([(names.only("accepted"), known_at), (names.only("version"), version_at)]);
            }
            Ok(Step::Write(Change { unchanged, ops }, ()))
        });
        recorded.await.map(|((), _)| ())
    }
}
