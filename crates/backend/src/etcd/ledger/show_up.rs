//! The periodic call.

use sequent_core::{
    BoxFuture, SourceError,
    ledger::{Answer, Pass, Presence, Raise, ShowUp},
};

use super::{EtcdLedger, lives::raise_all, transact::look, words::in_force};
use crate::{
    etcd::{
        gateway::{Op, Span},
        link::Link,
        value::or_default,
    },
    wire::{Fault, Work},
};

impl ShowUp for EtcdLedger {
    fn show_up<'a>(
        &'a self,
        pass: Pass<'a>,
        raises: &'a [Raise],
    ) -> BoxFuture<'a, Result<Answer<Presence>, SourceError>> {
        Box::pin(self.pool.perform(Appear { pass, raises }))
    }
}

struct Appear<'a> {
    pass: Pass<'a>,
    raises: &'a [Raise],
}

impl Work<Link> for Appear<'_> {
    type Out = Answer<Presence>;
    const VERB: &'static str = "show up at";

    async fn run(&self, link: &mut Link) -> Result<Answer<Presence>, Fault> {
        let (Answer { value: raised, version }, _) = raise_all(link, &self.pass, self.raises).await?;
        let names = link.names();
        let reads = vec![Op::Read(Span::one(names.only("catalog"))), Op::Read(Span::under(names.words()))];
        let mut answers = look(link, reads).await?;
        let (catalog_version, _) = or_default("catalog", answers.one().as_ref())?;
        let words = in_force(&mut answers)?;
        let value = Presence { raised, words, catalog_version, clock_ms: answers.clock_ms };
        Ok(Answer { value, version })
    }
}
