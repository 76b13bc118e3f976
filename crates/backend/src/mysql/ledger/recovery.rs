//! The way back after a loss that an operator named.

use sequent_core::{
    BoxFuture, Incarnation, SourceError,
    ledger::{Loss, Recovery},
};

use super::{
    MysqlLedger, capped,
    pass::{Hold, as_token, hold},
};
use crate::mysql::{
    fault::Fault,
    link::Link,
    work::{Frame, Work},
};

impl Recovery for MysqlLedger {
    fn recover(&self, loss: Loss, version_floor: u64) -> BoxFuture<'_, Result<Incarnation, SourceError>> {
        Box::pin(self.pool.perform(Recover { loss, version_floor, token: self.token() }))
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
        hold(link, Hold::Write).await?;
        if let Loss::Bump(most) = self.loss {
            let most = capped(most);
            // `seen` too: what was given was taken, otherwise the next open would judge the named loss a leap.
            let sql = "UPDATE sequent_counters SET \
                ceiling = ceiling + LEAST(?, 9223372036854775807 - ceiling), \
                seen = seen + LEAST(?, 9223372036854775807 - seen)";
            link.exec(sql, (most, most)).await?;
            let sql = "UPDATE sequent_dense SET v = v + LEAST(?, 9223372036854775807 - v)";
            link.exec(sql, (most,)).await?;
            // Counters that began after the copy was made have no row: they may have given as much.
            let sql =
                "UPDATE sequent_meta SET floor = floor + LEAST(?, 9223372036854775807 - floor) WHERE one = 1";
            link.exec(sql, (most,)).await?;
        }
        let incarnation = as_token(link, &self.token);
        let sql = "UPDATE sequent_meta SET version = GREATEST(version, ?) + 1, token = ?, accepted = ? WHERE one = 1";
        link.exec(sql, (capped(self.version_floor), self.token.as_str(), incarnation.as_str())).await?;
        link.exec("DELETE FROM sequent_slots", ()).await?;
        Ok(incarnation)
    }
}
