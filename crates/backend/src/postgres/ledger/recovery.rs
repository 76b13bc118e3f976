//! The way back after a loss that an operator named.

use sequent_core::{
    BoxFuture, Incarnation, SourceError,
    ledger::{Loss, Recovery},
};
use sqlx::query;

use super::{PostgresLedger, capped, pass::lock};
use crate::postgres::{
    fault::Fault,
    link::Link,
    work::{Frame, Work},
};

impl Recovery for PostgresLedger {
    fn recover(&self, loss: Loss, version_floor: u64) -> BoxFuture<'_, Result<Incarnation, SourceError>> {
        Box::pin(self.database.perform(Recover { loss, version_floor, token: self.token() }))
    }
}

struct Recover {
    loss: Loss,
    version_floor: u64,
    token: String,
}

impl Work for Recover {
    type Out = Incarnation;
    const VERB: &'static str = "recover";
    const FRAME: Frame = Frame::Write;

    async fn run(&self, link: &mut Link) -> Result<Incarnation, Fault> {
        lock(link).await?;
        if let Loss::Bump(most) = self.loss {
            // `seen` too: what was given was taken, otherwise the next open would judge the named loss a leap.
            let sql = "UPDATE counters SET \
                ceiling = ceiling + LEAST($1, 9223372036854775807 - ceiling), \
                seen = seen + LEAST($1, 9223372036854775807 - seen)";
            link.session().run(query(sql).bind(capped(most))).await?;
            let sql = "UPDATE dense SET v = v + LEAST($1, 9223372036854775807 - v)";
            link.session().run(query(sql).bind(capped(most))).await?;
            // Counters that began after the copy was made have no row: they may have given as much.
            let sql = "UPDATE meta SET floor = floor + LEAST($1, 9223372036854775807 - floor)";
            link.session().run(query(sql).bind(capped(most))).await?;
        }
        let incarnation = link.as_token(&self.token);
        let sql = "UPDATE meta SET version = GREATEST(version, $1) + 1, token = $2, accepted = $3";
        let query_meta = query(sql).bind(capped(self.version_floor)).bind(self.token.as_str());
        link.session().run(query_meta.bind(incarnation.as_str())).await?;
        link.session().run(query("DELETE FROM slots")).await?;
        Ok(incarnation)
    }
}
