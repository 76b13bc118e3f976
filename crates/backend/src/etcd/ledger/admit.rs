//! What every call that writes shows, checked against what its own transaction has read and rests on.

use sequent_core::{
    ErrorKind, Incarnation, SourceError,
    ledger::{Pass, ServerId},
};

use super::{
    kept::{Losses, Seat},
    layout_book::KeptPage,
};
use crate::etcd::{
    gateway::{Kv, Op, Span, Unchanged},
    link::Voice,
    names::Names,
    run::Run,
    value::{self, Answers, or_default},
};

/// What a caller shows of its own row.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shown<'a> {
    /// Nonces, one of which it may hold.
    Nonces(&'a [u64]),
    /// The revision that wrote it: that of the same call's last transaction.
    Revision(u64),
}

/// The ledger as a transaction has found it, before its rows.
pub(super) struct Head {
    pub(super) version: u64,
    pub(super) losses: Losses,
    pub(super) clock_ms: u64,
    speaks: Incarnation,
    epoch: Option<u64>,
    seat: Option<(Seat, u64)>,
    /// The run on record.
    record: Option<String>,
    /// What of it a transaction rests on.
    pub(super) unchanged: Vec<Unchanged>,
}

impl Head {
    /// What is read first.
    pub(super) fn reads(names: &Names, server: ServerId) -> Vec<Op> {
        let only = ["run", "layout", "version", "losses", "accepted"].map(|what| names.only(what));
        only.into_iter().chain([names.server(server)]).map(Span::one).map(Op::Read).collect()
    }

    pub(super) fn of(
        voice: Voice,
        names: &Names,
        server: ServerId,
        answers: &mut Answers,
    ) -> Result<Self, SourceError> {
        let (run, layout, version) = (answers.one(), answers.one(), answers.one());
        let (losses, accepted, seat) = (answers.one(), answers.one(), answers.one());
        let epoch = layout.as_ref().map(|kv| value::of::<KeptPage>("layout", kv)).transpose()?;
        let held = seat.as_ref().map(|kv| Ok::<_, SourceError>((value::of("server", kv)?, kv.mod_revision)));
        let revision = |kv: &Option<Kv>| kv.as_ref().map_or(0, |kv| kv.mod_revision);
        let unchanged = vec![
            (names.only("run"), revision(&run)),
            (names.only("layout"), revision(&layout)),
            (names.only("version"), revision(&version)),
            (names.only("losses"), revision(&losses)),
            (names.only("accepted"), revision(&accepted)),
            (names.server(server), revision(&seat)),
        ];
        Ok(Self {
            version: or_default("version", version.as_ref())?.0,
            losses: or_default("losses", losses.as_ref())?.0,
            clock_ms: answers.clock_ms,
            speaks: speaker(voice, run.as_ref())?,
            epoch: epoch.map(|layout| layout.epoch),
            seat: held.transpose()?,
            record: or_default("incarnation", accepted.as_ref())?.0,
            unchanged,
        })
    }

    /// Checks a pass as `sequent_core::ledger` says.
    pub(super) fn admit(&self, pass: &Pass<'_>, shown: Shown<'_>) -> Result<(), SourceError> {
        reborn_unless(&self.speaks, pass.under)?;
        let known = match (shown, &self.seat) {
            (_, None) => false,
            (Shown::Nonces(nonces), Some((seat, _))) => nonces.contains(&seat.nonce),
            (Shown::Revision(shown), Some((_, revision))) => shown == *revision,
        };
        if !known {
            let found = if self.seat.is_some() { "an older nonce" } else { "no row" };
            let context = format!("server {:?}: found {found}, so the ledger went back", pass.server);
            return Err(SourceError::new(ErrorKind::Reborn, context));
        }
        if self.epoch != Some(pass.epoch) {
            let found = self.epoch.map_or("none".to_owned(), |epoch| epoch.to_string());
            let context = format!("layout epoch: found {found}, expected {}", pass.epoch);
            return Err(SourceError::new(ErrorKind::Refused, context));
        }
        pass.check_record(self.record.as_deref())
    }

    /// Leaves the caller's next nonce.
    pub(super) fn sign(&self, names: &Names, pass: &Pass<'_>) -> Op {
        let seat = Seat { nonce: pass.next, seen_ms: self.clock_ms };
        Op::Put(names.server(pass.server), value::text(&seat))
    }
}

/// Who speaks, as the run says.
pub(super) fn speaker(voice: Voice, run: Option<&Kv>) -> Result<Incarnation, SourceError> {
    let gone = || SourceError::new(ErrorKind::Refused, "the ledger's run is gone: restore it from a copy");
    let run: Run = value::of("run", run.ok_or_else(gone)?)?;
    Ok(voice.as_token(&run.token))
}

/// `Reborn` where `under` is not who speaks.
pub(super) fn reborn_unless(speaks: &Incarnation, under: &Incarnation) -> Result<(), SourceError> {
    if speaks == under {
        return Ok(());
    }
    Err(SourceError::new(ErrorKind::Reborn, format!("expected {under}, found {speaks}")))
}
