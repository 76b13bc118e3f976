//! The way back after a loss that an operator named.

use sequent_core::{
    BoxFuture, Incarnation, SourceError,
    ledger::{Loss, Recovery},
};
use sqlx::query;

use super::{SqliteLedger, capped};
use crate::sqlite::{
    create::token,
    fault::Fault,
    link::Link,
    work::{Frame, Work},
};

impl Recovery for SqliteLedger {
    fn recover(&self, loss: Loss, version_floor: u64) -> BoxFuture<'_, Result<Incarnation, SourceError>> {
        Box::pin(self.database.perform(Recover { loss, version_floor, token: token(self.entropy()) }))
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
        if let Loss::Bump(most) = self.loss {
            // `seen` too: what was given was taken, otherwise the next open would judge the named loss a leap.
            let sql = "UPDATE counters SET \
                ceiling = ceiling + min(?1, 9223372036854775807 - ceiling), \
                seen = seen + min(?1, 9223372036854775807 - seen)";
            link.run(query(sql).bind(capped(most))).await?;
            let sql = "UPDATE dense SET v = v + min(?1, 9223372036854775807 - v)";
            link.run(query(sql).bind(capped(most))).await?;
            // Counters that began after the copy was made have no row: they may have given as much.
            let sql = "UPDATE meta SET floor = floor + min(?1, 9223372036854775807 - floor)";
            link.run(query(sql).bind(capped(most))).await?;
        }
        let incarnation = link.as_token(&self.token);
        let sql = "UPDATE meta SET version = max(version, ?1) + 1, token = ?2, accepted = ?3";
        let query_meta = query(sql).bind(capped(self.version_floor)).bind(self.token.as_str());
        link.run(query_meta.bind(incarnation.as_str())).await?;
        link.run(query("DELETE FROM slots")).await?;
        Ok(incarnation)
    }
}
