//! The periodic call.

use sequent_core::{
    BoxFuture, SourceError,
    ledger::{Answer, Pass, Presence, Raise, ShowUp},
};

use super::{PostgresLedger, catalog, lives::raise_all, pass::admit, words::in_force};
use crate::postgres::{
    fault::Fault,
    link::Link,
    work::{Frame, Work},
};

impl ShowUp for PostgresLedger {
    fn show_up<'a>(
        &'a self,
        pass: Pass<'a>,
        raises: &'a [Raise],
    ) -> BoxFuture<'a, Result<Answer<Presence>, SourceError>> {
        Box::pin(self.database.perform(Appear { pass, raises }))
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
        let clock_ms = admit(link, &self.pass).await?;
        let Answer { value: raised, version } = raise_all(link, self.raises).await?;
        let words = in_force(link).await?;
        let catalog_version = catalog::version(link).await?;
        Ok(Answer { value: Presence { raised, words, catalog_version, clock_ms }, version })
    }
}
