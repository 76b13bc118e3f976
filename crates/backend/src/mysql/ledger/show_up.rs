//! The periodic call.

use sequent_core::{
    BoxFuture, SourceError,
    ledger::{Answer, Pass, Presence, Raise, ShowUp},
};

use super::{MysqlLedger, lives::raise_all, words::in_force};
use crate::mysql::{
    fault::Fault,
    link::Link,
    work::{Frame, Work},
};

impl ShowUp for MysqlLedger {
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

impl Work for Appear<'_> {
    type Out = Answer<Presence>;
    const VERB: &'static str = "show up at";
    const FRAME: Frame = Frame::Write;

    async fn run(&self, link: &mut Link) -> Result<Answer<Presence>, Fault> {
        let (Answer { value: raised, version }, meta) = raise_all(link, &self.pass, self.raises).await?;
        let words = in_force(link).await?;
        let value = Presence { raised, words, catalog_version: meta.catalog, clock_ms: meta.clock_ms };
        Ok(Answer { value, version })
    }
}
