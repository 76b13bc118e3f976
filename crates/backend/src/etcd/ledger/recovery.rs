//! The way back after a loss that an operator named: one transaction, however many rows there are.

use sequent_core::{
    BoxFuture, Incarnation, SourceError,
    ledger::{Loss, Recovery},
};

use super::{
    EtcdLedger,
    identity::spoken_anew,
    kept::Losses,
    transact::{Change, Step, transact},
};
use crate::{
    etcd::{
        gateway::{Op, Span},
        link::Link,
        opening::token,
        value::{self, or_default},
    },
    wire::{Fault, Work},
};

impl Recovery for EtcdLedger {
    fn recover(&self, loss: Loss, version_floor: u64) -> BoxFuture<'_, Result<Incarnation, SourceError>> {
        Box::pin(self.pool.perform(Recover { loss, version_floor }))
    }
}

struct Recover {
    loss: Loss,
    version_floor: u64,
}

impl Work<Link> for Recover {
    type Out = Incarnation;
    const VERB: &'static str = "recover";

    async fn run(&self, link: &mut Link) -> Result<Incarnation, Fault> {
        let (voice, names, token) = (link.voice(), link.names(), token(link));
        let parts = ["run", "version", "losses"].map(|what| names.only(what));
        let reads: Vec<Op> = parts.iter().cloned().map(Span::one).map(Op::Read).collect();
        let (incarnation, _) = transact(link, &reads, |mut answers| {
            let held = [answers.one(), answers.one(), answers.one()];
            let (version, _): (u64, _) = or_default("version", held[1].as_ref())?;
            let (losses, _): (Losses, _) = or_default("losses", held[2].as_ref())?;
            let lost = if let Loss::Bump(most) = self.loss { most } else { 0 };
            let incarnation = voice.as_token(&token);
            let ops = vec![
                spoken_anew(&names, held[0].as_ref(), &token)?,
                Op::Put(
                    names.only("version"),
                    (version.max(self.version_floor).saturating_add(1)).to_string(),
                ),
                Op::Put(names.only("losses"), value::text(&losses.and(lost))),
                Op::Put(names.only("accepted"), value::text(&incarnation.as_str())),
                Op::Delete(Span::under(names.stores())),
            ];
            let revisions = held.iter().map(|kv| kv.as_ref().map_or(0, |kv| kv.mod_revision));
            let unchanged = parts.iter().cloned().zip(revisions).collect();
            Ok(Step::Write(Change { unchanged, ops }, incarnation))
        })
        .await?;
        Ok(incarnation)
    }
}
